use quick_xml::Reader;
use quick_xml::events::BytesStart as Start;

use super::*;
use crate::sample::{Code, Note, Sample};
use crate::stats::Stats;
use crate::verdict::{Condition, Operator, Statistic, Threshold, Verdict};

/// Each element with its attributes, and the text in it.
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    text: String,
}

impl Element {
    fn get(&self, name: &str) -> &str {
        let found = self.attributes.iter().find(|(key, _)| key == name);
        found.map_or("", |(_, value)| value.as_str())
    }
}

/// What a parser finds in the file, in order.
fn parsed(bytes: &[u8]) -> Vec<Element> {
    let text = std::str::from_utf8(bytes).unwrap();
    let mut reader = Reader::from_str(text);
    let mut elements: Vec<Element> = Vec::new();
    let element = |start: &Start<'_>| Element {
        name: start.name().as_ref().to_owned(),
        attributes: start
            .attributes()
            .map(|attribute| {
                let attribute = attribute.unwrap();
                let value = quick_xml::escape::unescape(&attribute.value).unwrap();
                (attribute.key.as_ref().to_owned(), value.into_owned())
            })
            .collect(),
        text: String::new(),
    };
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) | Event::Empty(start) => elements.push(element(&start)),
            Event::Text(text) => {
                elements.last_mut().into_iter().for_each(|last| last.text += &text);
            }
            Event::GeneralRef(reference) => {
                let text = format!("&{};", &*reference);
                let text = quick_xml::escape::unescape(&text).unwrap();
                elements.last_mut().unwrap().text += &text;
            }
            Event::Eof => return elements,
            _ => {}
        }
    }
}

fn threshold(label: &str, holds: bool) -> Judged {
    let condition = Condition {
        statistic: Statistic::Failures,
        operator: Operator::Equal,
        bound: 0.0,
        text: "failures == 0".to_owned(),
    };
    let threshold = Threshold { label: label.to_owned(), condition, abort: None };
    Judged { threshold, measured: Some(1.0), holds }
}

fn judgement(conclusion: Conclusion, thresholds: Vec<Judged>) -> Judgement {
    Judgement { verdict: Verdict::new(conclusion, "the reason"), thresholds }
}

fn failed(label: &'static str, cause: &'static str) -> Sample<'static> {
    let code = Code::ReadTimeout;
    Sample { label, success: false, code, cause, failure_message: cause, ..Sample::plain() }
}

fn case<'a>(elements: &'a [Element], name: &str) -> (&'a Element, Option<&'a Element>) {
    let at = elements
        .iter()
        .position(|one| one.name == "testcase" && one.get("name") == name)
        .unwrap_or_else(|| panic!("no test case `{name}`"));
    let inner = elements.get(at + 1).filter(|one| !one.name.starts_with("test"));
    (&elements[at], inner)
}

#[test]
fn each_threshold_and_each_unbounded_label_is_a_test_case() {
    let mut stats = Stats::default();
    stats.sample(&Sample { label: "open", ..Sample::plain() });
    stats.sample(&failed("say", "no reply"));
    stats.sample(&failed("push", "no message"));
    stats.note(&Note::Skipped { label: "close", cause: Code::ReadTimeout });
    let judgement = judgement(Conclusion::Failed, vec![threshold("say", false)]);
    let page = Page { host: Some("here"), ..Page::of("chat v1.2", &stats) };
    let elements = parsed(&render(&judgement, &page).unwrap());
    let root = &elements[0];
    assert_eq!((root.name.as_str(), root.get("name")), ("testsuites", "chat v1.2"));
    let counts = ["tests", "failures", "errors", "skipped"].map(|name| root.get(name));
    assert_eq!(counts, ["5", "3", "0", "1"]);
    assert_eq!(case(&elements, "verdict").1.unwrap().get("message"), "the reason");
    let (say, inner) = case(&elements, "say: failures == 0");
    assert_eq!(say.get("classname"), "chat v1_2.thresholds");
    let inner = inner.unwrap();
    assert_eq!((inner.name.as_str(), inner.get("message")), ("failure", "measured: 1"));
    assert_eq!(inner.text.trim(), "1 x say READ_TIMEOUT: no reply");
    let push = case(&elements, "push").1.unwrap();
    assert_eq!(push.name, "failure");
    assert!(push.get("message").starts_with("1 of 1 samples failed: "), "{}", push.get("message"));
    assert!(push.text.contains("no message"), "{}", push.text);
    let (open, inner) = case(&elements, "open");
    assert_eq!((open.get("time"), inner.unwrap().name.as_str()), ("0.002500", "system-out"));
    let skipped = case(&elements, "close").1.unwrap();
    let message = skipped.get("message");
    assert_eq!(
        (skipped.name.as_str(), message),
        ("skipped", "1 samples could not run, because of READ_TIMEOUT")
    );
    assert!(!elements.iter().any(|one| one.get("name") == "say"), "a threshold bounds it");
}

#[test]
fn a_run_that_did_not_come_to_its_end_is_an_error_and_one_that_passed_is_all_green() {
    let mut stats = Stats::default();
    stats.sample(&Sample::plain());
    let outcome = |conclusion| {
        let elements = parsed(
            &render(&judgement(conclusion, vec![threshold("say", true)]), &Page::of("p", &stats))
                .unwrap(),
        );
        let [failures, errors] =
            ["failures", "errors"].map(|name| elements[0].get(name).to_owned());
        (failures, errors)
    };
    let counts = |failures: &str, errors: &str| (failures.to_owned(), errors.to_owned());
    assert_eq!(outcome(Conclusion::Passed), counts("0", "0"));
    assert_eq!(outcome(Conclusion::Failed), counts("1", "0"));
    assert_eq!(outcome(Conclusion::BrokeOff), counts("0", "1"));
    assert_eq!(outcome(Conclusion::Interrupted), counts("0", "1"));
}

#[test]
fn whatever_a_label_or_a_message_holds_the_file_can_be_parsed() {
    let evil = "<&>\"' ]]> \u{0} \u{1b}[2J \u{fffe} \u{ffff} \u{85} 😀 <!-- & -- >";
    let mut stats = Stats::default();
    stats.sample(&failed(evil, evil));
    let judgement = judgement(Conclusion::Failed, vec![threshold(evil, false)]);
    let bytes = render(&judgement, &Page::of(evil, &stats)).unwrap();
    let text = std::str::from_utf8(&bytes).unwrap();
    assert!(!text.contains(['\u{0}', '\u{1b}', '\u{fffe}', '\u{ffff}']));
    let elements = parsed(&bytes);
    let title = elements[0].get("name");
    assert_eq!(title, "<&>\"' ]]> \\u{0} \\u{1b}[2J \u{fffd} \u{fffd} \\u{85} 😀 <!-- & -- >");
    assert!(elements.iter().any(|one| one.text.contains("😀 <!-- & -- >")));
}
