//! Keys that are not known where they stand: which advice helps.

use crate::diag::nearest;
use crate::plan::error::ShapeError;

/// Keys of plans, groups, steps, samplers and matchers that are specified but not built yet.
const LATER_KEYS: &[&str] = &["at_end", "compression", "failed_pause", "proxy"];

/// What other tools call a step, and its name here.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("assign", "set"),
    ("fetch", "http"),
    ("connect", "open"),
    ("continue", "next_pass"),
    ("delay", "pause"),
    ("disconnect", "close"),
    ("echo", "log"),
    ("foreach", "for_each"),
    ("group", "block"),
    ("once_only", "once"),
    ("percent", "chance"),
    ("ping", "ping_pong"),
    ("print", "log"),
    ("receive", "single_read"),
    ("repeat", "loop"),
    ("repeat_while", "while"),
    ("request", "request_response"),
    ("runtime", "run_for"),
    ("send", "single_write` or `request_response"),
    ("simple", "block"),
    ("sleep", "pause"),
    ("stop", "stop_thread` or `stop_test"),
    ("think", "pause"),
    ("think_time", "pause"),
    ("throughput", "chance"),
    ("until", "while"),
    ("variables", "set"),
    ("wait", "pause"),
    ("write", "single_write"),
];

/// Where keys belong that are often written at the top of a plan or of a group.
const HOMES: &[(&[&str], &str)] = &[
    (
        &[
            "threads",
            "ramp_up",
            "stages",
            "arrivals",
            "spacing",
            "max_threads",
            "delay",
            "loops",
            "duration",
            "steps",
        ],
        "belongs in a thread group, an entry of `thread_groups`",
    ),
    (
        &[
            "url",
            "path",
            "headers",
            "subprotocols",
            "cookies",
            "origin",
            "basic_auth",
            "follow_redirects",
            "connection",
            "connect_timeout",
            "tls",
            "read_timeout",
            "write_timeout",
            "max_message_size",
            "inbox",
            "on_error",
            "assert",
            "extract",
            "expect",
        ],
        "belongs in `defaults` or in a sampler",
    ),
    (&["pings", "answer_pings", "fragments", "heartbeat"], "belongs in `open`, or in `defaults`"),
    (&["times"], "belongs in `loop`"),
    (&["abort", "after"], "belongs beside the `condition` of a threshold"),
    (&["correlate"], "belongs in `request_response`; give a reader a `reply` to look for"),
    (
        &[
            "thread_groups",
            "setup",
            "teardown",
            "variables",
            "secrets",
            "sample_variables",
            "time_limit",
            "graceful_stop",
            "thresholds",
            "compare",
        ],
        "belongs at the top of the plan",
    ),
];

/// How keys are written that want settings; a list of steps in their place is a frequent mistake.
const EXAMPLES: &[(&str, &str)] = &[
    ("answer", "{ when: { equals: '2' }, send: '3' }"),
    ("basic_auth", "{ user: bob, password: '${password}' }"),
    ("block", "{ steps: [ … ] }"),
    ("chance", "{ percent: 10, steps: [ … ] }"),
    ("for_each", "{ in: [a, b], as: x, steps: [ … ] }"),
    ("gaussian", "{ mean: 1s, deviation: 200ms }"),
    ("heartbeat", "{ ping: { every: 30s } }"),
    ("body", "{ json: { user: bob } }"),
    ("http", "{ path: /login, body: { form: { user: bob } } }"),
    ("if", "{ condition: last_ok, then: [ … ] }"),
    ("include", "login.yaml"),
    ("interleave", "{ steps: [ … ] }"),
    ("loop", "{ times: 3, steps: [ … ] }"),
    ("once", "{ steps: [ … ] }"),
    ("pace", "{ rate: 10/m }"),
    ("pause", "{ uniform: [1s, 2s] }"),
    ("ping", "{ every: 30s }"),
    ("random", "{ steps: [ … ] }"),
    ("rendezvous", "{ threads: 10, timeout: 30s }"),
    ("run_for", "{ duration: 30s, steps: [ … ] }"),
    ("send", "{ every: 25s, text: '2' }"),
    ("set", "{ name: value }"),
    ("tls", "{ ca: ca.pem }"),
    ("transaction", "{ name: checkout, steps: [ … ] }"),
    ("while", "{ condition: last_ok, steps: [ … ] }"),
];

/// What stands behind a key that wants settings.
pub(crate) fn example(kind: &str) -> Option<&'static str> {
    EXAMPLES.iter().find(|(known, _)| *known == kind).map(|(_, example)| *example)
}

/// The error for `key`, which is none of `known` in the settings called `place`; without advice if
/// there are none.
pub(crate) fn unknown_key(key: &str, place: &str, known: &[&str]) -> ShapeError {
    if LATER_KEYS.contains(&key) {
        return not_in_this_version(key);
    }
    let error = ShapeError::new(format!("unknown key `{key}` in {place}"));
    if known.is_empty() {
        return error;
    }
    if let Some(similar) = nearest(key, known.iter().copied()) {
        return error.help(format!("a similar key exists: `{similar}`"));
    }
    // `timeout` for `read_timeout`.
    let longer = known.iter().find(|known| known.split('_').any(|word| word == key));
    if let Some(longer) = longer {
        return error.help(format!("a similar key exists: `{longer}`"));
    }
    if let Some((_, home)) = HOMES.iter().find(|(keys, _)| keys.contains(&key)) {
        return error.help(format!("`{key}` {home}"));
    }
    if let Some(later) = nearest(key, LATER_KEYS.iter().copied()).filter(|_| key.len() > 4) {
        return error.help(format!("a similar key, `{later}`, is not in this version"));
    }
    error.help(format!("the keys here are {}", list(known)))
}

/// The error for a step or check called `name`, which is none of `known`.
pub(crate) fn unknown_kind(what: &str, name: &str, known: &[&str]) -> ShapeError {
    if LATER_KEYS.contains(&name) {
        return not_in_this_version(name);
    }
    let error = ShapeError::new(format!("unknown {what} `{name}`"));
    let here = OTHER_NAMES.iter().find(|(other, _)| what == "step" && *other == name);
    if let Some((_, here)) = here {
        return error.help(format!("use `{here}`"));
    }
    match nearest(name, known.iter().copied()) {
        Some(similar) => error.help(format!("a similar {what} exists: `{similar}`")),
        None if what == "check" => error.help(format!(
            "write `contains: {name}` if that is what a message must hold; the checks are {}",
            list(known)
        )),
        None => error.help(format!("the {what}s are {}", list(known))),
    }
}

fn not_in_this_version(name: &str) -> ShapeError {
    ShapeError::new(format!("`{name}` is not in this version"))
}

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_the_nearest_key_or_the_home_of_the_key_or_all_keys() {
        let known = ["name", "thread_groups"];
        for (key, expected) in [
            ("nme", "a similar key exists: `name`"),
            ("groups", "a similar key exists: `thread_groups`"),
            ("threads", "`threads` belongs in a thread group, an entry of `thread_groups`"),
            ("compresion", "a similar key, `compression`, is not in this version"),
            ("colour", "the keys here are `name`, `thread_groups`"),
        ] {
            assert_eq!(unknown_key(key, "the plan", &known).help.as_deref(), Some(expected));
        }
    }

    #[test]
    fn what_a_later_version_knows_is_said_to_be_missing() {
        let error = unknown_key("proxy", "`open`", &["url"]);
        assert_eq!(error.title, "`proxy` is not in this version");
        let error = unknown_kind("step", "proxy", &["loop"]);
        assert_eq!(error.title, "`proxy` is not in this version");
    }

    #[test]
    fn names_of_other_tools_lead_to_ours() {
        let help = unknown_kind("step", "sleep", &["pause"]).help;
        assert_eq!(help.as_deref(), Some("use `pause`"));
    }
}
