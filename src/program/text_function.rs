//! Functions that make a text of other texts alone: the compiler evaluates those of constants.

use std::borrow::Cow;
use std::fmt::Write as _;

use data_encoding::{BASE64, HEXLOWER, HEXUPPER};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

use crate::program::{BadValue, FromText, base64_bytes};

/// What such a function does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFunction {
    /// `__char`: the characters with these numbers.
    Char,
    /// `__urlencode`: one text as a form has it (a blank is `+`).
    UrlEncode,
    /// `__base64Encode`: one text.
    Base64Encode,
    /// `__base64Decode`: one text, which becomes UTF-8.
    Base64Decode,
    /// `__digest`: of all texts, one after the other.
    Digest {
        /// Which.
        algorithm: Algorithm,
        /// Whether the hexadecimal digits are `A` to `F`.
        upper: bool,
    },
}

/// The algorithm of `__digest`, as Java calls them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// `MD5`
    Md5,
    /// `SHA-1`
    Sha1,
    /// `SHA-224`
    Sha224,
    /// `SHA-256`
    Sha256,
    /// `SHA-384`
    Sha384,
    /// `SHA-512`
    Sha512,
}

impl FromText for Algorithm {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        Ok(match text.to_ascii_uppercase().as_str() {
            "MD5" => Self::Md5,
            "SHA-1" | "SHA1" | "SHA" => Self::Sha1,
            "SHA-224" => Self::Sha224,
            "SHA-256" => Self::Sha256,
            "SHA-384" => Self::Sha384,
            "SHA-512" => Self::Sha512,
            _ => {
                return Err(BadValue::new(format!("`{text}` is not an algorithm for `__digest`"))
                    .with_help("write MD5, SHA-1, SHA-224, SHA-256, SHA-384 or SHA-512"));
            }
        })
    }
}

impl TextFunction {
    /// Fails where an argument is not what the function works on.
    pub fn apply(self, arguments: &[Cow<'_, str>]) -> Result<String, BadValue> {
        let first = arguments.first().map(Cow::as_ref).unwrap_or_default();
        match self {
            Self::Char => arguments.iter().map(|code| character(code.trim())).collect(),
            Self::UrlEncode => Ok(url_encode(first)),
            Self::Base64Encode => Ok(BASE64.encode(first.as_bytes())),
            Self::Base64Decode => String::from_utf8(base64_bytes(first)?).map_err(|_| {
                BadValue::new("what this Base64 stands for is not UTF-8 text")
                    .with_help("send bytes with `send_base64`")
            }),
            Self::Digest { algorithm, upper } => {
                let bytes = digest(algorithm, arguments);
                Ok(if upper { HEXUPPER.encode(&bytes) } else { HEXLOWER.encode(&bytes) })
            }
        }
    }
}

fn digest(algorithm: Algorithm, texts: &[Cow<'_, str>]) -> Vec<u8> {
    fn of<D: Digest>(texts: &[Cow<'_, str>]) -> Vec<u8> {
        let mut digest = D::new();
        for text in texts {
            digest.update(text.as_bytes());
        }
        digest.finalize().to_vec()
    }
    match algorithm {
        Algorithm::Md5 => of::<Md5>(texts),
        Algorithm::Sha1 => of::<Sha1>(texts),
        Algorithm::Sha224 => of::<Sha224>(texts),
        Algorithm::Sha256 => of::<Sha256>(texts),
        Algorithm::Sha384 => of::<Sha384>(texts),
        Algorithm::Sha512 => of::<Sha512>(texts),
    }
}

/// Decimal, or hexadecimal as `0x41`.
fn character(code: &str) -> Result<char, BadValue> {
    let hex = code.strip_prefix("0x").or_else(|| code.strip_prefix("0X"));
    let number = match hex {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => code.parse(),
    };
    number.ok().and_then(char::from_u32).ok_or_else(|| {
        BadValue::new(format!("`{code}` is not the number of a Unicode character"))
            .with_help("write it decimal or hexadecimal: `65`, `0x41`")
    })
}

/// As Java's `URLEncoder` has it.
fn url_encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b' ' => out.push('+'),
            b'*' | b'-' | b'.' | b'_' => out.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            // Its result is that of the writer, and writing to a `String` does not fail.
            byte => {
                write!(out, "%{byte:02X}").ok();
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(function: TextFunction, arguments: &[&str]) -> Result<String, String> {
        let arguments: Vec<Cow<'_, str>> =
            arguments.iter().map(|text| Cow::Borrowed(*text)).collect();
        function.apply(&arguments).map_err(|bad| bad.what)
    }

    #[test]
    fn texts_are_made_as_java_makes_them() {
        let digest = |algorithm, upper| TextFunction::Digest { algorithm, upper };
        for (function, arguments, wanted) in [
            (TextFunction::Char, &["65", "0x42", "0X1F600"][..], "AB😀"),
            (TextFunction::UrlEncode, &["a b*-._é/~"], "a+b*-._%C3%A9%2F%7E"),
            (TextFunction::Base64Encode, &["é"], "w6k="),
            (TextFunction::Base64Decode, &["w6k="], "é"),
            (digest(Algorithm::Md5, true), &["hello"], "5D41402ABC4B2A76B9719D911017C592"),
            (digest(Algorithm::Md5, false), &["he", "llo"], "5d41402abc4b2a76b9719d911017c592"),
            (digest(Algorithm::Sha1, false), &["abc"], "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ] {
            assert_eq!(apply(function, arguments).as_deref(), Ok(wanted));
        }
        let sizes = [Algorithm::Sha224, Algorithm::Sha256, Algorithm::Sha384, Algorithm::Sha512]
            .map(|algorithm| apply(digest(algorithm, false), &[""]).unwrap().len() * 4);
        assert_eq!(sizes, [224, 256, 384, 512]);
    }

    #[test]
    fn what_cannot_be_made_is_named() {
        for (function, argument, what) in [
            (TextFunction::Char, "x", "`x` is not the number of a Unicode character"),
            (TextFunction::Char, "0xD800", "`0xD800` is not the number of a Unicode character"),
            (TextFunction::Base64Decode, "/w==", "what this Base64 stands for is not UTF-8 text"),
            (TextFunction::Base64Decode, "!", "`!` is no Base64 digit"),
        ] {
            assert_eq!(apply(function, &[argument]), Err(what.to_owned()));
        }
    }
}
