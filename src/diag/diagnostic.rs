//! One diagnostic.

use std::path::PathBuf;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The plan cannot be run.
    Error,
    /// The plan can be run; this is advice.
    Warning,
}

/// Where in a file it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file, as the user named it.
    pub file: PathBuf,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// How many characters to underline, at least 1.
    pub length: usize,
    /// The whole line, without its end.
    pub text: String,
    /// Where the file is included, outermost first; empty for a file that the user named.
    pub included_from: Vec<Inclusion>,
}

/// Where a file is included.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Inclusion {
    /// The file that includes it.
    pub file: PathBuf,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
}

/// One thing to tell the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong and with which value; lower case, no full stop, backticks round names.
    pub title: String,
    /// Where; `None` where the file as a whole or no file is meant.
    pub place: Option<Place>,
    /// What stands under the caret; may be empty.
    pub label: String,
    /// How to mend it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Replaces parts of all texts, such as secrets. What is underlined stays so; where the mark
    /// begins or ends within a part that is replaced, the whole line is underlined.
    pub fn rewrite(&mut self, replaced: impl Fn(&str) -> String) {
        self.title = replaced(&self.title);
        self.label = replaced(&self.label);
        self.help = self.help.as_deref().map(&replaced);
        if let Some(place) = &mut self.place {
            place.rewrite(replaced);
        }
    }
}

impl Place {
    fn rewrite(&mut self, replaced: impl Fn(&str) -> String) {
        let whole = replaced(&self.text);
        if whole == self.text {
            return;
        }
        let at = |index: usize| {
            self.text.char_indices().nth(index).map_or(self.text.len(), |(at, _)| at)
        };
        let (start, end) = (at(self.column - 1), at(self.column - 1 + self.length));
        let before = replaced(&self.text[..start]);
        let after = replaced(&self.text[end..]);
        let marked = whole.strip_prefix(&before).and_then(|marked| marked.strip_suffix(&after));
        (self.column, self.length) = match marked {
            Some(marked) => (before.chars().count() + 1, marked.chars().count().max(1)),
            None => (1, whole.chars().count().max(1)),
        };
        self.text = whole;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(column: usize, length: usize) -> (String, usize, usize) {
        let text = "a: hunter2 ä b".to_owned();
        let included_from = Vec::new();
        let mut place = Place { file: "p".into(), line: 1, column, length, text, included_from };
        place.rewrite(|text| text.replace("hunter2", "***"));
        (place.text, place.column, place.length)
    }

    #[test]
    fn what_is_underlined_stays_underlined_where_a_part_is_replaced() {
        let line = || "a: *** ä b".to_owned();
        assert_eq!(hidden(1, 1), (line(), 1, 1));
        assert_eq!(hidden(4, 7), (line(), 4, 3));
        assert_eq!(hidden(12, 1), (line(), 8, 1));
        assert_eq!(hidden(6, 2), (line(), 1, 10));
        assert_eq!(hidden(15, 1), (line(), 11, 1));
    }
}
