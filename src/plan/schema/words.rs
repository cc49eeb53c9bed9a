//! What the words mean that a key takes: an editor shows it beside each.

/// Key, word, meaning.
const MEANINGS: &[(&str, &str, &str)] = &[
    ("when_full", "drop_oldest", "The oldest message is dropped, which is counted and warned of."),
    (
        "when_full",
        "wait",
        "Nothing more is read from the socket until a sampler reads, so that TCP slows the server down.",
    ),
    ("when_full", "fail", "The connection is lost, with the code `INBOX_FULL`."),
    (
        "on_error",
        "continue",
        "The thread goes on; what cannot run because of the failure is skipped.",
    ),
    ("on_error", "next_iteration", "The thread begins its next iteration."),
    ("on_error", "start_next_loop", "JMeter's word for `next_iteration`."),
    ("on_error", "stop_thread", "The thread ends."),
    ("on_error", "stop_test", "The run ends: no new step starts, samplers at work may finish."),
    ("on_error", "stop_test_now", "The run ends at once."),
    ("expect", "same", "The type that was sent."),
    ("expect", "text", "A text message."),
    ("expect", "binary", "A binary message."),
    ("expect", "any", "A text or a binary message."),
    ("expect", "close", "The peer's close; other messages are passed over."),
    ("expect", "ping", "A ping, where `pings: deliver` shows them."),
    ("expect", "pong", "A pong, where `pings: deliver` shows them."),
    ("pings", "answer", "Pings are answered at once and not seen by samplers."),
    ("pings", "ignore", "Pings are not answered and not seen by samplers."),
    ("pings", "deliver", "Pings and pongs are messages that samplers read."),
    ("fragments", "join", "The fragments of a message are one message."),
    ("fragments", "deliver", "Each fragment is a message, as in JMeter."),
    (
        "if_open",
        "replace",
        "The open connection is closed first, before the time of this one begins.",
    ),
    ("if_open", "keep", "A connection that is open and in step is left alone, without a row."),
    ("connect", "reuse", "The connection that an `open` made."),
    (
        "connect",
        "new",
        "A connection of its own, opened first: the row has code 101 and its time includes connecting.",
    ),
    ("kind", "ping_pong", "A ping, whose pong is waited for."),
    ("kind", "pong", "A pong that nobody asked for."),
    (
        "late_replies",
        "skip",
        "Samplers that could take it for their own are skipped until the connection is opened again.",
    ),
    (
        "late_replies",
        "discard",
        "As many messages are dropped as replies are owed: right only for a server that answers everything, in order.",
    ),
    ("late_replies", "accept", "It is taken for the reply to the next request, as in JMeter."),
    ("unmatched", "keep", "It stays for later samplers."),
    ("unmatched", "drop", "It is dropped and counted."),
    ("unit", "s", "Seconds since 1970."),
    ("unit", "ms", "Milliseconds since 1970."),
    ("unit", "us", "Microseconds since 1970."),
    ("unit", "ns", "Nanoseconds since 1970."),
    ("unit", "rfc3339", "Date and time, such as `2026-01-31T12:00:00.5Z`."),
];

/// What `word` means as a value of `key`.
pub(super) fn meaning(key: &str, word: &str) -> Option<&'static str> {
    let of = |(of_key, of_word, _): &&(&str, &str, &str)| *of_key == key && *of_word == word;
    MEANINGS.iter().find(of).map(|(_, _, meaning)| *meaning)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::schema::facts::FACTS;

    #[test]
    fn every_meaning_is_one_of_a_word_that_its_key_takes() {
        for (key, word, meaning) in MEANINGS {
            let takes = FACTS.iter().filter(|fact| fact.key.rsplit('.').next() == Some(key));
            assert!(takes.into_iter().any(|fact| fact.words.contains(word)), "{key}: {word}");
            assert!(meaning.ends_with('.'), "{meaning}");
        }
    }
}
