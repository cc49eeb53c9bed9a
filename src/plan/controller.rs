//! Controllers, as written: steps that hold other steps and give them settings in common.

use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};

use crate::plan::scoped::scopes;
use crate::plan::setting::{
    Count, Entries, Flag, List, Number, Passes, SETTINGS_OR, Setting, Text, Time, given,
};

scopes! {
    /// `loop`
    Loop {
        /// The number of passes, or `forever`.
        times: Setting<Passes>,
    }
    steps:
        /// What each pass does.
        steps;

    /// `while`
    While {
        /// Asked before each pass: the first one that does not find it true ends the loop.
        condition: Setting<Text>,
    }
    steps:
        /// What each pass does.
        steps;

    /// `for_each`
    ForEach {
        /// A list of texts; or whole numbers, `{ from: 1, to: 100 }`; or a name `x` for the variables
        /// `x_1`, `x_2` and so on, up to the first that has no value.
        r#in: Values,
        /// The variable that holds the value of the pass.
        r#as: Setting<Text>,
    }
    steps:
        /// What the pass for each value does.
        steps;

    /// `run_for`
    RunFor {
        /// The time after which no new step in it starts; a pause in it ends then, a sampler at work
        /// goes on to its own end.
        duration: Setting<Time>,
    }
    steps:
        /// What each pass does.
        steps;

    /// `if`
    If {
        /// Asked once, when the thread reaches it.
        condition: Setting<Text>,
    }
    steps:
        /// Done where the condition is true.
        then,
        /// Done where it is false.
        r#else;

    /// `once`
    Once {}
    steps:
        /// What the thread does once.
        steps;

    /// `random`
    Random {}
    steps:
        /// One of them is done each time; a `block` makes one of several.
        steps;

    /// `interleave`
    Interleave {}
    steps:
        /// The first of them is done the first time, the next one the next time, after the last the
        /// first again; a `block` makes one of several.
        steps;

    /// `chance`
    Chance {
        /// In how many of 100 times the steps are done, over all threads of the group. Which times
        /// is not left to chance: they are spread evenly, as by JMeter's Throughput Controller.
        percent: Setting<Number>,
    }
    steps:
        /// What is done then.
        steps;

    /// `transaction`
    Transaction {
        /// The label of its row.
        name: Setting<Text>,
        /// Whether the time of pauses within it counts.
        include_pauses: Setting<Flag>,
    }
    steps:
        /// What is summed up.
        steps;

    /// `block`
    Block {}
    steps:
        /// What it does.
        steps;

    /// `include`
    Include {
        /// A file with a list of steps, or with `parameters:` and `steps:`. Its path begins in the
        /// folder of the file that includes it.
        file: Setting<Text>,
        /// Texts by name: what `${name}` stands for in the steps of the file, which lists its
        /// parameters.
        with: Entries<Setting<Text>>,
    }
    steps: ;
}

/// `in` of `for_each`.
#[derive(Debug)]
pub enum Values {
    /// The name of numbered variables, without `_1`.
    Named(Setting<Text>),
    /// The values themselves.
    Listed(List<Setting<Text>>),
    /// Whole numbers.
    Range(Range),
}

/// Whole numbers, one after the other.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// The first of them.
    #[serde(default, deserialize_with = "given")]
    pub from: Option<Setting<Count>>,
    /// The last of them; there is none if it is below `from`.
    #[serde(default, deserialize_with = "given")]
    pub to: Option<Setting<Count>>,
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(SETTINGS_OR, RangeOrVisitor)
    }
}

struct RangeOrVisitor;

impl<'de> Visitor<'de> for RangeOrVisitor {
    type Value = Values;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ValuesVisitor.expecting(f)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, range: D) -> Result<Values, D::Error> {
        Range::deserialize(range).map(Values::Range)
    }

    fn visit_some<D: Deserializer<'de>>(self, values: D) -> Result<Values, D::Error> {
        values.deserialize_any(ValuesVisitor)
    }
}

struct ValuesVisitor;

impl<'de> Visitor<'de> for ValuesVisitor {
    type Value = Values;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list, a range, or the name of numbered variables")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Values, E> {
        Ok(Values::Named(Setting::new(text)))
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Values, E> {
        self.visit_str(if flag { "true" } else { "false" })
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, number: D) -> Result<Values, D::Error> {
        Setting::deserialize(number).map(Values::Named)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Values, A::Error> {
        List::from_elements(list).map(Values::Listed)
    }
}
