//! Extractors, compiled, and the names that they give to what they find: JMeter's.

use std::collections::HashMap;

use crate::program::{JsonPath, Pattern, Template, VariableId};

/// One entry of `extract`.
#[derive(Debug, Clone)]
pub struct Extractor {
    /// Where it looks.
    pub kind: ExtractorKind,
    /// `as`: the variable that gets the value.
    pub variable: VariableId,
    /// Which of several values.
    pub which: Which,
    /// The value where nothing is found.
    pub default: Option<Template>,
    /// Whether it is fine to find nothing.
    pub optional: bool,
    /// The extractor as written, on one line: what groups equal causes.
    pub source: String,
}

/// Where an extractor looks.
#[derive(Debug, Clone)]
pub enum ExtractorKind {
    /// A JSON message.
    Json(JsonPath),
    /// The message as text.
    Regex {
        /// What to find.
        pattern: Pattern,
        /// How to put the value together; `None` for group 1, or the whole match without groups.
        template: Option<Vec<Piece>>,
    },
    /// The message as text.
    Between {
        /// What stands before the value.
        left: Template,
        /// What stands after it.
        right: Template,
    },
    /// The header of this name in the answer to the upgrade request.
    Header(String),
}

/// A part of the text that a regular expression gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Literal text.
    Text(String),
    /// What this group matched; 0 for the whole match.
    Group(usize),
}

/// Which of several values an extractor takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// This one, from 1.
    Nth(usize),
    /// All of them: `x_1`, `x_2`, …
    All,
    /// One of them.
    Random,
}

/// What a variable derived from an extractor's holds, told by what follows the name and `_`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Member {
    /// `x_matchNr`: how many values were found.
    Count,
    /// `x_1`: one of all values, from 1.
    Match(usize),
    /// `x_g`: how many groups the pattern has.
    Groups,
    /// `x_g1`: what a group matched.
    Group(usize),
    /// `x_1_g`: the same for one of all values.
    MatchGroups(usize),
    /// `x_1_g1`: the same for one of all values.
    MatchGroup(usize, usize),
    /// All values in a row, for `for_each`; its suffix is [`Member::EVERY`].
    Every,
}

/// The variables derived from an extractor's that some text of the plan names.
pub type Families = HashMap<VariableId, Vec<(VariableId, Member)>>;

impl Member {
    /// What follows the name and `_` where all values are meant: no plan can write that.
    pub const EVERY: &str = "*";

    /// Reads what follows the name and `_`.
    pub fn parse(suffix: &str) -> Option<Self> {
        if suffix == "matchNr" {
            return Some(Self::Count);
        }
        if suffix == Self::EVERY {
            return Some(Self::Every);
        }
        let group = |text: &str| -> Option<Option<usize>> {
            let digits = text.strip_prefix('g')?;
            if digits.is_empty() { Some(None) } else { number(digits).map(Some) }
        };
        if let Some(group) = group(suffix) {
            return Some(group.map_or(Self::Groups, Self::Group));
        }
        let (index, rest) = suffix.split_once('_').unwrap_or((suffix, ""));
        let index = number(index).filter(|index| *index > 0)?;
        if !suffix.contains('_') {
            return Some(Self::Match(index));
        }
        let group = group(rest)?;
        Some(group.map_or(Self::MatchGroups(index), |group| Self::MatchGroup(index, group)))
    }

    /// Whether an extractor can give it a value.
    pub fn is_given_by(self, which: Which, regex: bool) -> bool {
        match self {
            Self::Count => true,
            Self::Match(_) | Self::Every => which == Which::All,
            Self::Groups | Self::Group(_) => regex && which != Which::All,
            Self::MatchGroups(_) | Self::MatchGroup(..) => regex && which == Which::All,
        }
    }
}

/// Digits as they are written by a program: no sign, no leading zero.
fn number(digits: &str) -> Option<usize> {
    let plain = digits == "0" || !digits.starts_with('0');
    (plain && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jmeters_names_are_understood_and_no_others() {
        for (suffix, member) in [
            ("matchNr", Member::Count),
            ("1", Member::Match(1)),
            ("12", Member::Match(12)),
            ("g", Member::Groups),
            ("g0", Member::Group(0)),
            ("2_g", Member::MatchGroups(2)),
            ("2_g1", Member::MatchGroup(2, 1)),
        ] {
            assert_eq!(Member::parse(suffix), Some(member), "{suffix}");
        }
        for suffix in ["", "0", "01", "x", "g01", "1_", "1_x", "1_g1_", "-1", "+1", "matchnr"] {
            assert_eq!(Member::parse(suffix), None, "{suffix}");
        }
    }
}
