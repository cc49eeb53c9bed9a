//! The schema of plans: it is the committed file, and it accepts what the reader of plans accepts.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use wsmeter::compile::{Properties, compile};
use wsmeter::plan::load;

use crate::gallery::plans;
use crate::support::env::Env;

const COMMITTED: &str = "schemas/plan.schema.json";
/// The schema of files that plans include.
const COMMITTED_STEPS: &str = "schemas/steps.schema.json";
/// That of summaries.
pub(crate) const COMMITTED_SUMMARY: &str = "schemas/summary.schema.json";
/// A plan with most keys there are.
const RICH: &str = "tests/fixtures/schema/rich.yaml";
const QUICKSTART: &str = "plans/quickstart.yaml";
/// Mutations of each plan.
const MUTATIONS: usize = 1_000;

/// What the compiler says of a value of the wrong type; all else it says is about sense.
const TYPE_ERRORS: &[&str] = &[
    "has no unit",
    "is neither `true` nor `false`",
    "is none of",
    "is not a duration",
    "is not a number",
    "is not a rate",
    "is not a size",
    "is not a whole number",
    "`send_json` takes a map or a list",
    "`uniform` takes two durations",
];

#[test]
fn the_committed_schemas_are_what_the_types_say() {
    let env = Env::new();
    for (command, file) in [
        (&["schema"][..], COMMITTED),
        (&["schema", "--steps"][..], COMMITTED_STEPS),
        (&["schema", "--summary"][..], COMMITTED_SUMMARY),
    ] {
        let printed = env.wsmeter(command).finish();
        printed.expect_exit(0);
        let committed = fs_err::read_to_string(file).expect("the schema is committed");
        assert!(printed.stdout == committed, "run `wsmeter {} -o {file}`", command.join(" "));
        env.wsmeter(&[command, &["-o", "written.json"]].concat()).finish().expect_exit(0);
        let written = fs_err::read_to_string(env.path("written.json")).expect("written");
        assert_eq!(written, printed.stdout);
    }
    env.wsmeter(&["schema", "-o", "missing/plan.schema.json"]).finish().expect_exit(3);
}

#[test]
fn every_key_has_a_whole_sentence_and_an_example_that_the_schema_accepts() {
    let (schema, steps) = (committed(), read(COMMITTED_STEPS));
    let definitions = schema["definitions"].as_object().expect("definitions");
    let mut keys = 0;
    let tops = [("Plan".to_owned(), &schema), ("Steps".to_owned(), &steps["definitions"]["Steps"])];
    let tops = tops.iter().map(|(name, top)| (name, *top));
    for (owner, definition) in definitions.iter().chain(tops) {
        for (key, property) in definition["properties"].as_object().into_iter().flatten() {
            let name = format!("{owner}.{key}");
            let description = property["description"].as_str().unwrap_or_default();
            let first = description.chars().next().unwrap_or(' ');
            assert!(first.is_uppercase() || first == '`', "{name}: {description}");
            assert!(description.ends_with('.') && description.len() > 10, "{name}: {description}");
            assert!(!description.contains("See ["), "{name}: {description}");
            let mut alone = property.clone();
            alone["definitions"] = schema["definitions"].clone();
            let judge = validator(&alone);
            let examples = examples(property);
            assert!(!examples.is_empty(), "{name}");
            for example in examples {
                assert!(judge.is_valid(&example), "{name}: {example}");
            }
            keys += 1;
        }
    }
    assert!(keys > 80, "only {keys} keys");
}

/// The examples of a key: those for editors, or the one that its description gives.
fn examples(property: &Value) -> Vec<Value> {
    if let Some(examples) = property["examples"].as_array() {
        return examples.clone();
    }
    let description = property["description"].as_str().unwrap_or_default();
    let told = description.split_once("For example `").map(|(_, told)| told);
    let told = told.and_then(|told| told.rsplit_once('`')).map(|(told, _)| told);
    told.and_then(|told| serde_yaml::from_str(told).ok()).into_iter().collect()
}

#[test]
fn included_steps_conform_to_their_schema_and_a_plan_does_not() {
    let judge = validator(&read(COMMITTED_STEPS));
    for (steps, wanted) in [
        ("- open\n- include: { file: a.yaml, with: { room: lobby } }\n", true),
        ("{ parameters: { room: lobby, user: , n: 5 }, steps: [open] }", true),
        ("{ parameters: { room: [lobby] }, steps: [open] }", false),
        ("{ parameter: { room: lobby }, steps: [open] }", false),
        ("- fly\n", false),
        ("[]", false),
        ("{ thread_groups: [{ steps: [open] }] }", false),
    ] {
        assert_eq!(conforms(&judge, steps), wanted, "{steps}");
    }
    let steps = fs_err::read_to_string("tests/fixtures/schema/steps.yaml").expect("steps");
    assert!(conforms(&judge, &steps));
}

#[test]
fn the_example_plans_name_the_schema_and_conform_to_it() {
    let judge = validator(&committed());
    for path in plans() {
        let source = fs_err::read_to_string(&path).expect("a plan");
        let first = source.lines().next().unwrap_or_default();
        assert_eq!(first, "# yaml-language-server: $schema=../schemas/plan.schema.json");
        let plan: Value = serde_yaml::from_str(&source).expect("YAML");
        let errors: Vec<String> = judge.iter_errors(&plan).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{}: {errors:?}", path.display());
    }
}

#[test]
fn schema_and_reader_agree_on_the_keys_and_types_of_mutated_plans() {
    let judge = validator(&committed());
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("plan.yaml");
    let (mut accepted, mut refused, mut differences) = (0, 0, Vec::new());
    for plan in [RICH, QUICKSTART] {
        let source = fs_err::read_to_string(plan).expect("a plan");
        let plan: Value = serde_yaml::from_str(&source).expect("YAML");
        let mut flow = String::new();
        write_flow(&plan, "", None, &mut flow);
        assert!(conforms(&judge, &flow), "{flow}");
        let mut random = Random(0x5eed);
        for _ in 0..MUTATIONS {
            let (mutated, what) = mutate(&plan, &mut random);
            let conforms = conforms(&judge, &mutated);
            fs_err::write(&file, &mutated).expect("written");
            let complaint = complaint(&file);
            *(if conforms { &mut accepted } else { &mut refused }) += 1;
            if conforms != complaint.is_none() {
                differences.push(format!("{what}: schema {conforms}, reader {complaint:?}"));
            }
        }
    }
    differences.sort();
    differences.dedup();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    // Else the mutations would test little.
    assert!(accepted > 500 && refused > 500, "{accepted} accepted, {refused} refused");
}

#[test]
fn schema_and_reader_agree_on_mutated_files_of_steps() {
    let judge = validator(&read(COMMITTED_STEPS));
    let folder = tempfile::tempdir().expect("a folder");
    let plan = folder.path().join("plan.yaml");
    fs_err::write(&plan, "thread_groups: { steps: [open, include: steps.yaml] }").expect("written");
    let source = fs_err::read_to_string("tests/fixtures/schema/steps.yaml").expect("steps");
    let steps: Value = serde_yaml::from_str(&source).expect("YAML");
    let (mut random, mut refused, mut differences) = (Random(0x5eed), 0, Vec::new());
    for _ in 0..MUTATIONS / 2 {
        let (mutated, what) = mutate(&steps, &mut random);
        fs_err::write(folder.path().join("steps.yaml"), &mutated).expect("written");
        let (conforms, complaint) = (conforms(&judge, &mutated), complaint(&plan));
        refused += usize::from(!conforms);
        if conforms != complaint.is_none() {
            differences.push(format!("{what}: schema {conforms}, reader {complaint:?}"));
        }
    }
    differences.sort();
    differences.dedup();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!((50..MUTATIONS / 2 - 50).contains(&refused), "{refused} refused");
}

fn committed() -> Value {
    read(COMMITTED)
}

fn read(schema: &str) -> Value {
    let text = fs_err::read_to_string(schema).expect("the schema is committed");
    serde_json::from_str(&text).expect("the schema is JSON")
}

fn validator(schema: &Value) -> jsonschema::Validator {
    jsonschema::draft7::new(schema).expect("the schema is one")
}

/// Whether it is YAML, without a key twice, and conforms to the schema.
fn conforms(judge: &jsonschema::Validator, source: &str) -> bool {
    serde_yaml::from_str::<serde_yaml::Value>(source)
        .is_ok_and(|_| serde_yaml::from_str(source).is_ok_and(|plan: Value| judge.is_valid(&plan)))
}

/// The first error about a key or type.
fn complaint(file: &Path) -> Option<String> {
    let loaded = match load(file) {
        Ok(loaded) => loaded,
        Err(errors) => return Some(errors[0].title.clone()),
    };
    if let Some(mistake) = loaded.mistakes().first() {
        return Some(mistake.title.clone());
    }
    let errors = compile(&loaded, &Properties::default()).err()?;
    // Those of included files.
    if let Some(mistake) = loaded.mistakes().first() {
        return Some(mistake.title.clone());
    }
    let mut titles = errors.into_iter().map(|error| error.title);
    titles.find(|title| TYPE_ERRORS.iter().any(|error| title.contains(error)))
}

/// A small generator (xorshift), so that the mutations are the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).expect("it is below a usize")
    }
}

/// The plan with one change, as YAML, and what the change is.
fn mutate(plan: &Value, random: &mut Random) -> (String, String) {
    let mut paths = Vec::new();
    pointers(plan, "", &mut paths);
    let path = &paths[random.below(paths.len())];
    let (parent, last) = path.rsplit_once('/').expect("not the root");
    let mut mutated = plan.clone();
    let mut twice = None;
    let change = match (random.below(6), mutated.pointer_mut(parent).expect("a parent")) {
        (0, Value::Object(map)) => {
            map.shift_remove(last);
            "dropped".to_owned()
        }
        (1, Value::Object(map)) => {
            let value = map.shift_remove(last).expect("it is there");
            map.insert(format!("{last}x"), value);
            "renamed".to_owned()
        }
        (2, Value::Object(_)) => {
            twice = Some(path.as_str());
            "duplicated".to_owned()
        }
        (0, Value::Array(list)) => {
            list.remove(last.parse().expect("an index"));
            "dropped".to_owned()
        }
        (_, parent) => {
            let kinds = [
                json!("word"),
                json!(7),
                json!(-3),
                json!(1.5),
                json!(true),
                json!([]),
                json!({}),
                json!(["word"]),
                json!([[1]]),
                json!({ "word": "word" }),
                json!("${room}"),
                json!("250ms"),
                json!(null),
            ];
            // A list cannot hold nothing as a plan writes it.
            let most = if parent.is_array() { kinds.len() - 1 } else { kinds.len() };
            let value = &kinds[random.below(most)];
            let place = mutated.pointer_mut(path).expect("it is there");
            *place = value.clone();
            format!("now {value}")
        }
    };
    let mut text = String::new();
    write_flow(&mutated, "", twice, &mut text);
    (text, format!("{path} {change}"))
}

/// The paths of all values below the root.
fn pointers(value: &Value, path: &str, paths: &mut Vec<String>) {
    let mut child = |key: &str, value: &Value| {
        let path = format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
        pointers(value, &path, paths);
        paths.push(path);
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| child(key, value)),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(index, value)| child(&index.to_string(), value));
        }
        _ => {}
    }
}

/// YAML in flow style, where nothing is written as nothing; the key at `twice` comes twice.
fn write_flow(value: &Value, path: &str, twice: Option<&str>, out: &mut String) {
    match value {
        Value::Object(map) => {
            out.push_str("{ ");
            for (key, value) in map {
                let path = format!("{path}/{key}");
                for _ in 0..=usize::from(twice == Some(path.as_str())) {
                    write!(out, "{}: ", json!(key)).expect("a string takes all text");
                    write_flow(value, &path, twice, out);
                    out.push_str(", ");
                }
            }
            out.push('}');
        }
        Value::Array(list) => {
            out.push_str("[ ");
            for (index, value) in list.iter().enumerate() {
                write_flow(value, &format!("{path}/{index}"), twice, out);
                out.push_str(", ");
            }
            out.push(']');
        }
        Value::Null => {}
        scalar => write!(out, "{scalar}").expect("a string takes all text"),
    }
}
