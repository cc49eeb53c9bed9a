//! Whole plans through the compiler.

use std::path::Path;
use std::time::Duration;

use crate::compile::{Compiled, Properties, compile};
use crate::plan::parse;
use crate::program::{
    Check, Controller, CounterId, CounterScope, Function, JsonPart, JsonTest, OnError, Part,
    Pattern, Pause, Payload, Sampler, SamplerKind, Schedule, Setting, Step, Template, Times,
    VariableId, WhenFull,
};

fn compiled_with(source: &str, properties: &[(&str, &str)]) -> Compiled {
    let properties: Properties = properties.iter().copied().collect();
    let loaded = parse(Path::new("plan.yaml"), source.to_owned()).unwrap();
    compile(&loaded, &properties).unwrap()
}

fn compiled(source: &str) -> Compiled {
    compiled_with(source, &[])
}

/// A plan whose one group opens a connection and then does these steps.
fn with_steps(steps: &str) -> String {
    let steps = steps.replace('\n', "\n      ");
    format!("thread_groups:\n  - steps:\n      - open: {{ url: 'ws://h' }}\n      {steps}\n")
}

/// The samplers of the only group, those within loops too.
fn samplers(compiled: &Compiled) -> Vec<&Sampler> {
    fn collect<'p>(steps: &'p [Step], found: &mut Vec<&'p Sampler>) {
        for step in steps {
            match step {
                Step::Sampler(sampler) => found.push(sampler),
                Step::Controller(inner) => {
                    inner.parts().into_iter().for_each(|part| collect(part, found));
                }
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    collect(&compiled.program.groups[0].steps, &mut found);
    found
}

/// The payload of the first sampler after the `open`.
fn payload(compiled: &Compiled) -> &Payload {
    match &samplers(compiled)[1].kind {
        SamplerKind::RequestResponse(own) => &own.payload,
        SamplerKind::SingleWrite(own) => &own.payload,
        other => panic!("{other:?} sends nothing"),
    }
}

/// What is sent if it is constant text.
fn sent(steps: &str) -> String {
    match payload(&compiled(&with_steps(steps))) {
        Payload::FixedText(text) => text.clone(),
        other => panic!("{other:?}"),
    }
}

/// The titles of all errors.
fn errors(source: &str) -> Vec<String> {
    let loaded = match parse(Path::new("plan.yaml"), source.to_owned()) {
        Ok(loaded) => loaded,
        Err(errors) => return errors.into_iter().map(|error| error.title).collect(),
    };
    let errors = compile(&loaded, &Properties::default()).map(drop).unwrap_err();
    errors.into_iter().map(|error| error.title).collect()
}

#[test]
fn the_quick_start_has_1100_rows() {
    let source = fs_err::read_to_string("plans/quickstart.yaml").unwrap();
    let compiled = compiled_with(&source, &[("target", "ws://127.0.0.1:4000")]);
    assert_eq!(compiled.warnings, []);
    let group = &compiled.program.groups[0];
    assert_eq!((group.threads, group.loops), (10, Times::Count(5)));
    let [Step::Sampler(open), Step::Controller(inner), Step::Sampler(close)] =
        group.steps.as_slice()
    else {
        panic!("{:?}", group.steps);
    };
    let Controller::Loop(inner) = &**inner else { panic!("{inner:?}") };
    assert_eq!(inner.times, Setting::Fixed(Times::Count(20)));
    assert_eq!(inner.steps.len(), 1);
    let SamplerKind::Open(open) = &open.kind else { panic!("{open:?}") };
    assert_eq!(open.url.as_constant(), Some("ws://127.0.0.1:4000"));
    assert_eq!(open.path.as_ref().and_then(Template::as_constant), Some("/echo"));
    assert_eq!(close.name.as_constant(), Some("close"));
    assert!(matches!(payload(&compiled), Payload::Json(parts) if parts.len() == 3));
}

#[test]
fn defaults_are_those_of_the_specification() {
    let compiled = compiled(&with_steps("- close"));
    let group = &compiled.program.groups[0];
    assert_eq!(compiled.program.name, "plan");
    assert_eq!(group.name, "Thread Group");
    assert_eq!((group.threads, group.loops, group.duration), (1, Times::Count(1), None));
    let open = samplers(&compiled)[0];
    assert_eq!(open.name.as_constant(), Some("open"));
    assert_eq!(open.connection.as_constant(), Some("main"));
    assert_eq!(open.read_timeout, Setting::Fixed(Duration::from_secs(6)));
    assert_eq!(open.write_timeout, None);
    assert_eq!(open.on_error, OnError::Continue);
    let SamplerKind::Open(open) = &open.kind else { panic!("{open:?}") };
    assert_eq!(open.connect_timeout, Setting::Fixed(Duration::from_secs(20)));
    assert_eq!(open.inbox.messages, Setting::Fixed(1_000));
    assert_eq!(open.inbox.when_full, Setting::Fixed(WhenFull::DropOldest));
}

#[test]
fn a_group_with_a_duration_loops_until_it_is_over() {
    let plan =
        |keys: &str| with_steps("- close").replace("  - steps", &format!("  - {keys}\n    steps"));
    let group = |keys: &str| compiled(&plan(keys)).program.groups[0].loops;
    assert_eq!(group("duration: 10s"), Times::Forever);
    assert_eq!(group("duration: 10s\n    loops: 3"), Times::Count(3));
}

#[test]
fn texts_are_sent_as_they_are_written() {
    for (written, text) in [
        ("007", "007"),
        ("1.10", "1.10"),
        ("0x1F", "0x1F"),
        ("true", "true"),
        ("null", "null"),
        ("~", "~"),
        ("'007'", "007"),
        ("2024-01-01", "2024-01-01"),
        ("1_000", "1_000"),
        ("\"\"", ""),
        (r"'C:\new\${x}'", r"C:\new${x}"),
    ] {
        assert_eq!(sent(&format!("- request_response: {written}")), text, "{written}");
        assert_eq!(sent(&format!("- single_write: {{ send: {written} }}")), text, "{written}");
    }
}

#[test]
fn json_keeps_order_digits_and_types() {
    let written = r"- single_write:
    send_json:
      z: 1.10
      a: [1e400, 12345678901234567890123, -0, 0x1F, .5]
      flag: true
      nothing: null
      text: '007'
      quoted: '1e400'
      'quote\': |-
        a
        b
      empty: {}";
    let expected = r#"{"z":1.10,"a":[1e400,12345678901234567890123,-0,31,0.5],"flag":true,"#
        .to_owned()
        + r#""nothing":null,"text":"007","quoted":"1e400","quote\\":"a\nb","empty":{}}"#;
    assert_eq!(sent(written), expected);
}

#[test]
fn json_with_variables_has_values_and_strings() {
    let source = with_steps(
        "- single_write:\n    send_json: { id: '${n}', text: 'hello ${n}', '${n}': [1, 2], p: '${__P(p, 7)}' }",
    );
    let compiled = compiled(&format!("variables: {{ n: 5 }}\n{source}"));
    let Payload::Json(parts) = payload(&compiled) else { panic!("{:?}", payload(&compiled)) };
    let n = || Part::Variable(VariableId(0));
    let template = |source: &str, parts| Template { source: source.to_owned(), parts };
    assert_eq!(
        parts,
        &[
            JsonPart::Raw(r#"{"id":"#.to_owned()),
            JsonPart::Value(template("${n}", vec![n()])),
            JsonPart::Raw(r#","text":"#.to_owned()),
            JsonPart::String(template("hello ${n}", vec![Part::Text("hello ".to_owned()), n()])),
            JsonPart::Raw(",".to_owned()),
            JsonPart::String(template("${n}", vec![n()])),
            JsonPart::Raw(r#":[1,2],"p":7}"#.to_owned()),
        ]
    );
}

#[test]
fn constant_hex_is_bytes() {
    let compiled = compiled(&with_steps("- single_write: { send_hex: 0xca fe }"));
    assert!(matches!(payload(&compiled), Payload::FixedBinary(bytes) if bytes == &[0xca, 0xfe]));
}

#[test]
fn properties_fold_into_constants() {
    let source = with_steps("- request_response: '${__P(a)}-${__property(b, ${__P(c, x)})}!'");
    let compiled = compiled_with(&source, &[("a", "${not} a template")]);
    assert!(
        matches!(payload(&compiled), Payload::FixedText(text) if text == "${not} a template-x!")
    );
}

#[test]
fn a_property_can_be_any_field() {
    let source = "thread_groups:\n  - threads: ${__P(n, 1)}\n    ramp_up: ${__P(r, 1s)}\n    steps:\n      - open: { url: 'ws://h', read_timeout: '${__P(t, 2)}s' }\n";
    let compiled = compiled_with(source, &[("n", "20")]);
    let group = &compiled.program.groups[0];
    let ramp = Schedule::Ramp(Duration::from_secs(1));
    assert_eq!((group.threads, &group.schedule), (20, &ramp));
    let timeout = Setting::Fixed(Duration::from_secs(2));
    assert_eq!(samplers(&compiled)[0].read_timeout, timeout);
}

#[test]
fn a_stored_variable_is_known_to_later_steps() {
    let compiled = compiled(&with_steps(
        "- request_response: '${__counter(true, id)} ${__Random(1, 9, r)}'\n- request_response: '${id} ${r}'",
    ));
    assert_eq!(compiled.program.variable_names, ["id", "r"]);
    assert_eq!(compiled.program.counters, 1);
    let Payload::Text(template) = payload(&compiled) else { panic!() };
    let counter = Function::Counter {
        id: CounterId(0),
        scope: CounterScope::Thread,
        store: Some(VariableId(0)),
    };
    assert_eq!(template.parts[0], Part::Call(Box::new(counter)));
}

#[test]
fn a_counter_in_defaults_is_one_counter_for_all_samplers() {
    let compiled = compiled(
        "defaults: { url: 'ws://h/${__counter(FALSE)}' }\nthread_groups:\n  - steps: [open, open]\n",
    );
    assert_eq!(compiled.program.counters, 1);
}

#[test]
fn the_nearest_scope_wins_and_maps_merge() {
    let compiled = compiled(
        "defaults:
  url: ws://h/plan
  path: /outer
  read_timeout: 1s
  on_error: stop_thread
  headers: { X-A: plan, X-B: plan, X-C: plan }
  inbox: { messages: 5, bytes: 1KiB }
thread_groups:
  - on_error: stop_test
    defaults:
      headers: { x-b: group, X-C: null, X-D: group }
      inbox: { bytes: null, when_full: wait }
    steps:
      - open
      - loop:
          times: 2
          on_error: next_iteration
          defaults: { read_timeout: 2s }
          steps:
            - open: { url: 'ws://other', read_timeout: 3s, on_error: continue }
            - block:
                defaults: { connection: second }
                steps: [open: /inner]
",
    );
    let samplers = samplers(&compiled);
    let open = |index: usize| match &samplers[index].kind {
        SamplerKind::Open(open) => open,
        other => panic!("{other:?}"),
    };
    let seconds = |n| Setting::Fixed(Duration::from_secs(n));
    let path = |index: usize| open(index).path.as_ref().and_then(Template::as_constant);
    let headers: Vec<_> = open(0)
        .head
        .headers
        .iter()
        .map(|header| (header.name.as_str(), header.value.as_constant().unwrap()))
        .collect();
    assert_eq!(headers, [("X-A", "plan"), ("x-b", "group"), ("X-D", "group")]);
    assert_eq!(open(0).inbox.messages, Setting::Fixed(5));
    assert_eq!(open(0).inbox.bytes, Setting::Fixed(crate::program::ByteSize(1 << 20)));
    assert_eq!(open(0).inbox.when_full, Setting::Fixed(WhenFull::Wait));
    assert_eq!((samplers[0].on_error, path(0)), (OnError::StopTest, Some("/outer")));
    assert_eq!(samplers[0].read_timeout, seconds(1));
    // A `url` of its own replaces the inherited `path`.
    assert_eq!((samplers[1].on_error, path(1)), (OnError::Continue, None));
    assert_eq!(samplers[1].read_timeout, seconds(3));
    assert_eq!((samplers[2].on_error, path(2)), (OnError::NextIteration, Some("/inner")));
    assert_eq!(samplers[2].read_timeout, seconds(2));
    assert_eq!(samplers[2].connection.as_constant(), Some("second"));
}

#[test]
fn inherited_assertions_reach_the_samplers_that_they_can_apply_to() {
    let compiled = compiled(
        "defaults:
  url: ws://h
  assert: [contains: ok, status: 101, close_status: 1000, not: { duration: 1s }]
thread_groups:
  - steps: [open, request_response: { send: x, assert: { equals: y } }, ping_pong, close]
",
    );
    let sources: Vec<Vec<&str>> = samplers(&compiled)
        .iter()
        .map(|sampler| sampler.assertions.iter().map(|check| check.source.as_str()).collect())
        .collect();
    assert_eq!(
        sources,
        [
            vec!["status: 101", "not duration: 1s"],
            vec!["contains: ok", "not duration: 1s", "equals: y"],
            vec!["not duration: 1s"],
            vec!["close_status: 1000", "not duration: 1s"],
        ]
    );
}

#[test]
fn constant_patterns_are_compiled() {
    let compiled = compiled(&with_steps(
        r"- request_response:
    send: x
    assert:
      - regex: '\d+'
      - json: { path: '$.a[?@.n > 1]', equals: { b: [1.0, '${__UUID()}'] } }
      - json: { path: $.n, less_than: 5 }",
    ));
    let checks: Vec<&Check> =
        samplers(&compiled)[1].assertions.iter().map(|assertion| &assertion.check).collect();
    assert!(matches!(checks[0], Check::Regex(Pattern::Fixed(regex)) if regex.is_match("a7")));
    let Check::Json { path, test: JsonTest::Equals(parts) } = checks[1] else { panic!() };
    assert_eq!(path.text, "$.a[?@.n > 1]");
    assert_eq!(parts[0], JsonPart::Raw(r#"{"b":[1.0,"#.to_owned()));
    let Check::Json { test: JsonTest::LessThan(limit), .. } = checks[2] else { panic!() };
    assert_eq!(*limit, Setting::Fixed(5.0));
}

#[test]
fn pauses_are_constant_or_uniform() {
    let source = with_steps("- pause: 1s\n- pause: { uniform: [1s, '${__P(x, 2s)}'] }");
    let compiled = compiled(&source);
    let pauses: Vec<&Pause> = compiled.program.groups[0]
        .steps
        .iter()
        .filter_map(|step| match step {
            Step::Pause(pause) => Some(pause),
            _ => None,
        })
        .collect();
    let seconds = |n| Setting::Fixed(Duration::from_secs(n));
    assert_eq!(pauses, [&Pause::Constant(seconds(1)), &Pause::Uniform(seconds(1), seconds(2))]);
}

#[test]
fn one_group_does_not_know_what_another_stores() {
    let plan = "thread_groups:
  - steps: [open: { url: 'ws://h/${__counter(TRUE, id)}' }]
  - steps: [open: { url: 'ws://h/${id}' }]
";
    assert_eq!(errors(plan), ["undefined variable `id`"]);
    let plan = plan.replace("thread_groups", "defaults: { connection: '${id}' }\nthread_groups");
    assert_eq!(errors(&plan), ["undefined variable `id`"]);
}

#[test]
fn a_connection_with_a_name_of_the_run_may_be_any() {
    compiled(
        "variables: { n: a }
thread_groups:
  - steps:
      - open: { url: 'ws://h', connection: '${n}' }
      - close: { connection: b }
",
    );
}

#[test]
fn a_newline_that_is_written_out_is_no_surprise() {
    let warnings = |send: &str| {
        let steps = format!("- request_response:\n    send: {send}");
        compiled(&with_steps(&steps)).warnings.len()
    };
    assert_eq!(warnings(r#""a\n""#), 0);
    assert_eq!(warnings("|-\n      a"), 0);
    assert_eq!(warnings("|\n      a"), 1);
}
