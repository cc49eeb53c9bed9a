//! Hexadecimal notation of binary payloads.

use crate::program::BadValue;

/// Reads `ca fe`, `cafe` or `0xca 0xfe`: pairs of digits, blanks anywhere between them.
pub fn hex_bytes(text: &str) -> Result<Vec<u8>, BadValue> {
    let mut bytes = Vec::with_capacity(text.len() / 2);
    for word in text.split_ascii_whitespace() {
        let digits = word.strip_prefix("0x").unwrap_or(word);
        if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(bad(format!("`{word}` is not hexadecimal")));
        }
        if digits.len() % 2 != 0 {
            return Err(bad(format!("`{word}` has an odd number of digits")));
        }
        for pair in digits.as_bytes().chunks(2) {
            let value = pair.iter().fold(0, |value, digit| value * 16 + nibble(*digit));
            bytes.push(value);
        }
    }
    Ok(bytes)
}

fn bad(what: String) -> BadValue {
    BadValue::new(what).with_help("write two digits for each byte: `ca fe`, or `0xca 0xfe`")
}

fn nibble(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        _ => digit - b'A' + 10,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn all_notations_read_alike() {
        for text in ["ca fe", "cafe", "0xca 0xFE", " CA\tfe\n", "0xcafe"] {
            assert_eq!(hex_bytes(text), Ok(vec![0xca, 0xfe]), "{text}");
        }
        assert_eq!(hex_bytes(""), Ok(Vec::new()));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["abc", "0x", "zz", "-1", "+f", "c a", "é0"] {
            assert!(hex_bytes(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn bytes_survive_every_notation(
            words in prop::collection::vec(
                (prop::collection::vec(any::<u8>(), 1..5), any::<bool>(), any::<bool>(), "[ \t\n]{1,3}"),
                0..10,
            ),
        ) {
            let mut text = String::new();
            for (bytes, prefixed, upper, blanks) in &words {
                let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                let digits = digits.concat();
                text.push_str(if *prefixed { "0x" } else { "" });
                text.push_str(&if *upper { digits.to_uppercase() } else { digits });
                text.push_str(blanks);
            }
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.0.clone()).collect();
            prop_assert_eq!(hex_bytes(&text), Ok(bytes));
        }

        #[test]
        fn any_text_is_bytes_or_refused(text in prop_oneof![".*", "[0-9a-fA-FxX é]{0,12}"]) {
            if let Ok(bytes) = hex_bytes(&text) {
                let digits = text.replace("0x", "").split_ascii_whitespace().collect::<String>();
                prop_assert_eq!(bytes.len() * 2, digits.len(), "{:?}", text);
            }
        }
    }
}
