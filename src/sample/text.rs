//! Texts as every result keeps them: one line, of bounded length.

use std::borrow::Cow;

/// Characters that a label, a message or any other text of a result keeps.
pub const TEXT_CHARS: usize = 500;

/// The text on one line of at most [`TEXT_CHARS`] characters: line breaks and NUL become the two
/// characters `\n`, `\r` and `\0`, other control characters `\u{1b}` and the like, tabs stay, and a
/// longer text ends in `…`. Scripts cut a JTL by its lines, a server's words must not command the
/// tester's terminal, and a label is the same in all results. Borrowed, and cheap, where nothing has
/// to change.
pub fn one_line(text: &str) -> Cow<'_, str> {
    // A text of no more bytes cannot have more characters.
    let fits = text.len() <= TEXT_CHARS || text.chars().nth(TEXT_CHARS).is_none();
    if fits && !text.bytes().fold(false, |found, byte| found | may_be_control(byte)) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len().min(TEXT_CHARS * 4));
    let (mut left, mut escaped) = (TEXT_CHARS, String::new());
    for character in text.chars() {
        escaped.clear();
        match character {
            '\0' => escaped.push_str("\\0"),
            '\t' => escaped.push('\t'),
            control if control.is_control() => escaped.extend(control.escape_default()),
            other => escaped.push(other),
        }
        let width = escaped.chars().count();
        if width > left {
            line.pop();
            line.push('…');
            break;
        }
        left -= width;
        line.push_str(&escaped);
    }
    Cow::Owned(line)
}

/// Whether a control character other than a tab may begin with this byte of UTF-8: those above ASCII,
/// U+0080 to U+009F, share theirs with harmless ones.
pub(crate) fn may_be_control(byte: u8) -> bool {
    (byte < 0x20 && byte != b'\t') || byte == 0x7f || byte == 0xc2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_line_is_borrowed_as_it_is() {
        assert!(matches!(one_line("say, \"hello\" ä"), Cow::Borrowed("say, \"hello\" ä")));
    }

    #[test]
    fn line_breaks_become_two_characters() {
        assert_eq!(one_line("a\r\nb\0\n"), "a\\r\\nb\\0\\n");
    }

    #[test]
    fn control_characters_are_shown_and_not_obeyed() {
        assert_eq!(one_line("\u{1b}[2J\u{9b}m\u{7f}"), "\\u{1b}[2J\\u{9b}m\\u{7f}");
        // A tab and characters that begin like a control character stay.
        assert_eq!(one_line("a\tb 20 °C\u{7}"), "a\tb 20 °C\\u{7}");
    }

    #[test]
    fn a_long_text_keeps_its_first_characters_and_ends_in_an_ellipsis() {
        let whole = "ä".repeat(TEXT_CHARS);
        assert_eq!(one_line(&whole), whole);
        let cut = one_line(&"ä".repeat(TEXT_CHARS + 1)).into_owned();
        assert_eq!(cut, format!("{}…", "ä".repeat(TEXT_CHARS - 1)));
    }

    #[test]
    fn the_limit_counts_line_breaks_as_they_are_written() {
        let breaks = one_line(&"\n".repeat(TEXT_CHARS)).into_owned();
        assert_eq!(breaks.chars().count(), TEXT_CHARS);
        assert!(breaks.ends_with("\\n\\…"), "{breaks}");
    }
}
