//! What the types of a plan do not say about a key: its default, examples, and the words it takes.

/// One key's facts.
pub(super) struct Fact {
    /// `key`, or `Type.key` where types differ in what the key means; the latter counts first.
    pub(super) key: &'static str,
    /// As a plan would write it; empty if there is none.
    pub(super) default: &'static str,
    /// As a plan would write it; empty for the usual example of the value's kind.
    pub(super) example: &'static str,
    /// The only words that it takes.
    pub(super) words: &'static [&'static str],
}

const fn fact(key: &'static str, default: &'static str, example: &'static str) -> Fact {
    Fact { key, default, example, words: &[] }
}

const fn words(key: &'static str, default: &'static str, words: &'static [&'static str]) -> Fact {
    Fact { key, default, example: "", words }
}

/// All facts. A test of the schema keeps out keys that no type has.
pub(super) const FACTS: &[Fact] = &[
    fact("Plan.name", "the file's name", "chat room, evening peak"),
    fact("ThreadGroup.name", "Thread Group", "Chatters"),
    fact("name", "the kind of the step", "say hello"),
    fact("variables", "", "{\"room\": \"lobby\"}"),
    fact("threads", "1", "200"),
    fact("ramp_up", "0", "30s"),
    fact("delay", "0", "5s"),
    fact("loops", "1, or `forever` with a `duration`", "5"),
    fact("duration", "", "10m"),
    fact("Check.duration", "", "200ms"),
    fact("url", "", "ws://127.0.0.1:9000"),
    fact("path", "", "/rooms/${room}"),
    fact("JsonCheck.path", "", "$.user.name"),
    fact("connect_timeout", "20s", "5s"),
    fact("headers", "", "{\"X-Client\": \"wsmeter\"}"),
    fact("max_message_size", "16MiB", "64KiB"),
    fact("inbox", "", "{\"messages\": 100}"),
    fact("messages", "1000", "100"),
    fact("bytes", "1MiB", "64KiB"),
    words("when_full", "drop_oldest", &["drop_oldest", "wait", "fail"]),
    fact("connection", "main", "second"),
    fact("read_timeout", "6s", "500ms"),
    fact("write_timeout", "that of `read_timeout`", "500ms"),
    words(
        "on_error",
        "continue",
        &[
            "continue",
            "next_iteration",
            "start_next_loop",
            "stop_thread",
            "stop_test",
            "stop_test_now",
        ],
    ),
    fact("send", "", "hello ${room}"),
    fact("send_json", "", "{\"text\": \"hello\"}"),
    fact("send_hex", "", "ca fe"),
    words("RequestResponse.expect", "same", &["same", "text", "binary", "any"]),
    words("SingleRead.expect", "any", &["text", "binary", "any"]),
    words("expect", "", &["same", "text", "binary", "any"]),
    fact("optional", "false", "true"),
    fact("payload", "a unique one", "are you there"),
    words("kind", "ping_pong", &["ping_pong", "pong"]),
    fact("Close.status", "1000", "1001"),
    fact("Defaults.status", "1000", "1001"),
    fact("Check.status", "", "101"),
    fact("close_status", "", "1000"),
    fact("reason", "", "done"),
    fact("expect_status", "1000, 1001, the one sent, or none", "[1000, 1001]"),
    fact("contains", "", "ok"),
    fact("not", "", "{\"contains\": \"error\"}"),
    fact("Check.equals", "", "pong"),
    fact("equals", "", "lobby"),
    fact("regex", "", "^id=[0-9]+$"),
    fact("less_than", "", "100"),
    fact("greater_than", "", "0"),
    fact("count", "", "3"),
    fact("exists", "", "true"),
    fact("constant", "", "500ms"),
    fact("uniform", "", "[\"500ms\", \"1500ms\"]"),
    fact("times", "", "20"),
    fact("condition", "", "iteration < 3 and last_ok"),
    fact("in", "", "[\"red\", \"green\"]"),
    fact("ForEach.as", "", "colour"),
    fact("RunFor.duration", "", "30s"),
    fact("then", "", "[\"stop_thread\"]"),
    fact("else", "", "[\"ping_pong\"]"),
    fact("percent", "", "10"),
    fact("Transaction.name", "", "checkout"),
    fact("include_pauses", "false", "true"),
    fact("set", "", "{\"room\": \"lobby\"}"),
    fact("log", "", "in ${room} now"),
    fact("steps", "", "[\"open\", {\"request_response\": \"hello\"}, \"close\"]"),
    fact("thread_groups", "", "[{\"threads\": 10, \"steps\": [\"open\", \"close\"]}]"),
    fact("thresholds", "", "{\"all\": \"error_rate < 1%\", \"say\": [\"p95 < 50ms\"]}"),
    fact("extract", "", "[{\"json\": {\"path\": \"$.seq\", \"as\": \"seq\"}}]"),
    fact("as", "", "seq"),
    fact("match", "1", "all"),
    fact("default", "", "none"),
    fact("pattern", "", "id=([0-9]+)"),
    fact("group", "1, or 0 if the pattern has no groups", "2"),
    fact("template", "", "$1$-$2$"),
    fact("left", "", "id="),
    fact("right", "", "&"),
    fact("HeaderExtractor.name", "", "X-Session"),
    fact("defaults", "", "{\"read_timeout\": \"2s\"}"),
    fact("assert", "", "[{\"contains\": \"ok\"}]"),
    fact("filters", "", "[{\"starts_with\": \"{\\\"type\\\":\\\"presence\\\"\"}]"),
    fact("enabled", "true", "false"),
    fact("starts_with", "", "hello"),
    fact("HexCheck.starts_with", "", "ca fe"),
    fact("HexCheck.equals", "", "ca fe"),
    fact("HexCheck.contains", "", "ca fe"),
    fact("ends_with", "", "done"),
    fact("full_match", "", "id=[0-9]+"),
    fact("hex", "", "{\"starts_with\": \"ca fe\"}"),
    fact("at", "", "2"),
    words("type", "", &["text", "binary", "ping", "pong", "close"]),
    fact("size", "", "{\"at_most\": \"4KiB\"}"),
    fact("SizeCheck.equals", "", "512B"),
    fact("at_most", "", "4KiB"),
    fact("at_least", "", "1B"),
    fact("header", "", "{\"name\": \"Server\", \"contains\": \"nginx\"}"),
    fact("HeaderCheck.name", "", "Server"),
    fact("subprotocol", "", "chat.v2"),
    fact("any_of", "", "[{\"contains\": \"ok\"}, {\"contains\": \"done\"}]"),
    fact("all_of", "", "[{\"starts_with\": \"{\"}, {\"ends_with\": \"}\"}]"),
    words("which", "all", &["all", "ping", "pong"]),
    fact("reply", "true", "true"),
];

/// The facts of `key` of the type `owner`.
pub(super) fn of(owner: &str, key: &str) -> Option<&'static Fact> {
    let own = format!("{owner}.{key}");
    FACTS.iter().find(|fact| fact.key == own).or_else(|| FACTS.iter().find(|fact| fact.key == key))
}
