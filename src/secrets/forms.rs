//! The forms of a value that no undoing of escapes leads back to it, and the value itself.

use data_encoding::{BASE64, HEXLOWER};

use crate::secrets::view::View;

/// Shorter values are not looked for in base64 and as digits: too much would look like them.
const ENCODED: usize = 6;

/// All forms, folded, without double ones. The first is the value as it is.
pub(super) fn forms(value: &str) -> Vec<Vec<u8>> {
    let mut forms: Vec<Vec<u8>> = Vec::with_capacity(8);
    let mut add = |form: Vec<u8>| {
        if !form.is_empty() && !forms.contains(&form) {
            forms.push(form);
        }
    };
    // What looks like an escape in the value may be undone where it is quoted.
    for level in View::levels(value.as_bytes()) {
        add(level.folded().bytes);
    }
    if value.len() >= ENCODED {
        let digits = HEXLOWER.encode(value.as_bytes());
        // As dumps show it.
        let pairs: Vec<&str> = (0..value.len()).map(|at| &digits[2 * at..2 * at + 2]).collect();
        add(pairs.join(" ").into_bytes());
        add(digits.into_bytes());
        for before in 0..3 {
            let base64 = within_base64(value.as_bytes(), before);
            add(folded(&base64.replace('+', "-").replace('/', "_")));
            add(folded(&base64));
        }
    }
    forms
}

/// The value as it is, folded.
pub(super) fn folded(value: &str) -> Vec<u8> {
    View::of(value.as_bytes()).folded().bytes
}

/// What is always the same of a base64 text that holds the value after so many bytes and some threes of
/// bytes.
fn within_base64(value: &[u8], before: usize) -> String {
    let padded = [&[0; 2][..before], value].concat();
    // A character has six bits: the first ones also depend on what is before, the last on what is after.
    let (from, until) = ((before * 8).div_ceil(6), padded.len() * 8 / 6);
    BASE64.encode(&padded)[from..until].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_its_forms_once() {
        assert_eq!(forms("Pin4"), [b"pin4"]);
        let forms = forms("Hunter2%20");
        for form in ["hunter2%20", "hunter2 ", "48756e74657232253230"] {
            assert!(forms.contains(&form.as_bytes().to_vec()), "{form}");
        }
        assert!(super::forms("").is_empty());
    }

    #[test]
    fn wherever_it_stands_in_base64_it_is_recognised() {
        let secret = "hunter2?hunter2>";
        for (before, after) in [("", ""), ("a", "bc"), ("ab", "c"), ("abc", "c"), ("user:", "!")] {
            let text = BASE64.encode(format!("{before}{secret}{after}").as_bytes());
            for text in [text.replace('+', "-").replace('/', "_"), text] {
                let text = String::from_utf8(folded(&text)).unwrap();
                let is_in = |form: &Vec<u8>| text.contains(str::from_utf8(form).unwrap());
                assert!(forms(secret).iter().any(is_in), "{text}");
            }
        }
    }
}
