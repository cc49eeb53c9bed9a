//! The files of a plan as they may be shown: as they are written, with some values in other words.

use std::collections::BTreeSet;

use crate::plan::Loaded;
use crate::plan::document::{Node, Value};
use crate::plan::file::File;

/// What stands for a value whose text is not in the file as it reads: one with escapes, or of several
/// lines.
struct Hole {
    from: usize,
    to: usize,
    text: String,
}

impl Loaded {
    /// The files that the plan is made of, its own first: name and text. `rewrite` is asked about every
    /// scalar, told the key that it stands under, and gives another text for it or `None`.
    pub fn shown(
        &self,
        rewrite: &mut dyn FnMut(&str, &str) -> Option<String>,
    ) -> Vec<(String, String)> {
        let mut shown = Vec::new();
        self.each_file(|file| {
            shown.push((file.path.display().to_string(), file.rewritten(rewrite)));
        });
        shown
    }
}

impl File {
    fn rewritten(&self, rewrite: &mut dyn FnMut(&str, &str) -> Option<String>) -> String {
        let mut starts = BTreeSet::new();
        known_starts(&self.root, &mut starts);
        let mut holes = Vec::new();
        let mut walk = Walk { file: self, starts: &starts, at: 0, holes: &mut holes };
        walk.node("", &self.root, rewrite);
        holes.sort_by_key(|hole| hole.from);
        let mut text = String::with_capacity(self.source.len());
        let mut at = 0;
        for hole in holes {
            // An alias stands for text that is there but once.
            if let Some(before) = self.source.get(at..hole.from) {
                text.push_str(before);
                text.push_str(&hole.text);
                at = hole.to;
            }
        }
        text.push_str(self.source.get(at..).unwrap_or_default());
        text
    }
}

/// Where keys and values begin, as far as that is known.
fn known_starts(node: &Node, starts: &mut BTreeSet<usize>) {
    starts.extend(node.start);
    match &node.value {
        Value::Scalar { .. } => {}
        Value::List(nodes) => nodes.iter().for_each(|node| known_starts(node, starts)),
        Value::Map(entries) => {
            for (key, node) in entries {
                starts.extend(key.start);
                known_starts(node, starts);
            }
        }
    }
}

struct Walk<'a> {
    file: &'a File,
    starts: &'a BTreeSet<usize>,
    /// The end of the last key or value whose place is known.
    at: usize,
    holes: &'a mut Vec<Hole>,
}

impl Walk<'_> {
    fn node(
        &mut self,
        key: &str,
        node: &Node,
        rewrite: &mut dyn FnMut(&str, &str) -> Option<String>,
    ) {
        match &node.value {
            Value::Scalar { text, .. } => {
                let other = rewrite(key, text);
                match (node.start, other) {
                    (Some(from), other) => {
                        self.at = from + text.len();
                        let to = self.at;
                        self.holes.extend(other.map(|text| Hole { from, to, text }));
                    }
                    (None, Some(text)) => self.unplaced(&text),
                    (None, None) => {}
                }
            }
            Value::List(nodes) => nodes.iter().for_each(|node| self.node(key, node, rewrite)),
            Value::Map(entries) => {
                for (key, node) in entries {
                    if let Some(start) = key.start {
                        self.at = start + key.text.len();
                    }
                    self.node(&key.text, node, rewrite);
                }
            }
        }
    }

    /// Replaces everything from the last known place to the next one.
    fn unplaced(&mut self, text: &str) {
        let from = self.at;
        let end = self.file.source.len();
        let to = self.starts.range(from..).next().copied().unwrap_or(end);
        let between = self.file.source.get(from..to).unwrap_or_default();
        // What leads to the next key or value stays: a line's indentation and dash.
        let tail = match between.rfind('\n') {
            Some(line) if to < end => &between[line..],
            Some(_) => "\n",
            None if to < end => ", ",
            None => "",
        };
        // The last line of a text that goes on to the end of a line above is no indentation.
        let tail = if tail.trim_matches(['\n', ' ', '-', '"', '\'', '{', '[']).is_empty() {
            tail
        } else {
            "\n"
        };
        self.holes.push(Hole { from, to, text: format!(": {text}{tail}") });
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::plan::load::parse;

    fn shown(source: &str) -> String {
        let loaded = parse(Path::new("p.yaml"), source.to_owned()).unwrap();
        let mut hide = |key: &str, _: &str| (key == "token").then(|| "***".to_owned());
        loaded.shown(&mut hide).remove(0).1
    }

    #[test]
    fn values_are_replaced_and_all_else_stays_as_it_is_written() {
        let source = "# a plan\nvariables:\n  token: hunter2   # why\n  room: 'lobby'\n\
            thread_groups:\n  - steps: [open: { headers: { token: \"hunter2\", a: b } }]\n";
        assert_eq!(shown(source), source.replace("hunter2", "***"));
    }

    #[test]
    fn what_does_not_stand_there_as_it_reads_is_hidden_whole() {
        for secret in [
            "\"hun\\u0074er2\"",
            "'hunter''2'",
            "|\n    hunter2\n    hunter3",
            ">-\n    hunter2\n\n    hunter3",
            "\"hunter2\n    hunter3\"",
        ] {
            for after in ["", "  room: lobby\n", "# the end\n"] {
                let text = shown(&format!("variables:\n  token: {secret}\n{after}"));
                assert!(!text.contains("hun") && text.contains("token: ***"), "{text}");
                assert_eq!(text.contains("\n  room: lobby"), after.contains("room"), "{text}");
            }
        }
        let flow = shown("variables: { token: 'hunter''2', room: lobby }\n");
        assert!(!flow.contains("hunter") && flow.contains("room: lobby"), "{flow}");
        let list = shown("variables:\n  token: a\nsecrets:\n- 'to''ken'\n- b\n");
        assert!(list.ends_with("token: ***\nsecrets:\n- 'to''ken'\n- b\n"), "{list}");
    }

    #[test]
    fn an_alias_is_hidden_where_its_text_stands() {
        let text = shown("variables:\n  token: &t hunter2\n  other: x\n  more: *t\n");
        assert_eq!(text, "variables:\n  token: &t ***\n  other: x\n  more: *t\n");
    }
}
