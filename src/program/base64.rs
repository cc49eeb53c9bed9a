//! Base64 notation of binary payloads.

use data_encoding::BASE64;

use crate::program::BadValue;

/// Reads Base64 with the standard alphabet and its padding (RFC 4648 4), blanks anywhere.
pub fn base64_bytes(text: &str) -> Result<Vec<u8>, BadValue> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    BASE64.decode(&digits).map_err(|_| {
        let bad = text.chars().find(|c| !is_digit(*c) && !c.is_ascii_whitespace());
        let what = match bad {
            Some('-' | '_') => "this is the Base64 of URLs".to_owned(),
            Some(other) => format!("`{}` is no Base64 digit", other.escape_debug()),
            None => "this Base64 is cut off".to_owned(),
        };
        let help = match bad {
            Some('-' | '_') => "write `+` for `-` and `/` for `_`",
            Some(_) => "the digits are `A` to `Z`, `a` to `z`, `0` to `9`, `+`, `/`",
            None => "every four digits are three bytes; `=` fills up the end: `yv4=`",
        };
        BadValue::new(what).with_help(help)
    })
}

fn is_digit(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_do_not_count_and_the_padding_is_wanted() {
        for text in ["yv4=", " yv\n4 =\n"] {
            assert_eq!(base64_bytes(text), Ok(vec![0xca, 0xfe]), "{text}");
        }
        assert_eq!(base64_bytes(""), Ok(Vec::new()));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, what) in [
            ("yv4", "this Base64 is cut off"),
            ("yv4==", "this Base64 is cut off"),
            ("yv5=", "this Base64 is cut off"),
            ("y-_=", "this is the Base64 of URLs"),
            ("y{4=", "`{` is no Base64 digit"),
            ("é", "`é` is no Base64 digit"),
        ] {
            assert_eq!(base64_bytes(text).unwrap_err().what, what, "{text}");
        }
    }
}
