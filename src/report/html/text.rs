//! Texts as a page shows them.

use std::fmt::Write as _;

use serde::Serialize;

/// A text without what would steer the page or hide something: control characters, and the marks that
/// turn the direction of what follows, are written as `\u{202e}`.
pub(super) fn shown(text: &str) -> String {
    visible(text, |_| false)
}

/// The same for a text of several lines.
pub(super) fn shown_lines(text: &str) -> String {
    visible(text, |character| matches!(character, '\n' | '\t'))
}

fn visible(text: &str, stays: fn(char) -> bool) -> String {
    let mut visible = String::with_capacity(text.len());
    for character in text.chars() {
        if !stays(character) && (character.is_control() || is_invisible_mark(character)) {
            // Writing to a text does not fail.
            write!(visible, "{}", character.escape_unicode()).ok();
        } else {
            visible.push(character);
        }
    }
    visible
}

/// Marks of direction, separators of lines, and what has no width; not those that join letters or
/// emoji.
fn is_invisible_mark(character: char) -> bool {
    matches!(
        character,
        '\u{61c}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
    )
}

/// The first characters of a text, with an ellipsis if there are more.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// As JSON that can stand in a `script` element: nothing in it ends the element or begins a comment.
pub(super) fn in_script(value: &impl Serialize) -> String {
    // Plain structs of numbers and texts always serialize.
    let json = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
    let mut safe = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                write!(safe, "\\u{:04x}", u32::from(character)).ok();
            }
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_turns_or_hides_text_is_written_out() {
        assert_eq!(shown("a\u{202e}b\u{0}c\n\u{feff}"), r"a\u{202e}b\u{0}c\u{a}\u{feff}");
        assert_eq!(shown_lines("a\n\tb\u{1b}[2J"), "a\n\tb\\u{1b}[2J");
        assert_eq!(shown("שלום 👩‍🚀 é"), "שלום 👩‍🚀 é");
    }

    #[test]
    fn json_does_not_end_its_element() {
        let text = "</script><!--&\u{2028}";
        let json = in_script(&text);
        assert!(!json.contains(['<', '>', '&', '\u{2028}']), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(cut("äöü", 2), "äö…");
        assert_eq!(cut("äöü", 3), "äöü");
    }
}
