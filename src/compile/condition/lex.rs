//! The words of a condition, each with its place in the text.

use crate::compile::condition::{Wrong, without_braces};
use crate::program::Comparison;

/// A piece of a condition.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A name or a word of the language.
    Word(String),
    /// A number, as written.
    Number(String),
    /// A text in quotes, without them.
    Quoted(String),
    Comparison(Comparison),
    Open,
    Close,
    OpenList,
    CloseList,
    Comma,
}

/// A token and its bytes in the text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Placed {
    pub(super) token: Token,
    pub(super) start: usize,
    pub(super) length: usize,
}

const COMPARISONS: [(&str, Comparison); 6] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::Unequal),
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("<", Comparison::Below),
    (">", Comparison::Above),
];

/// What other languages write, and what is written here; longer ones first.
const FOREIGN: [(&str, &str); 9] = [
    ("&&", "`and`"),
    ("||", "`or`"),
    ("=~", "an `assert` with `regex`, or compare with `==`"),
    ("=<", "`<=`"),
    ("=>", "`>=`"),
    ("<>", "`!=`"),
    ("!", "`not`"),
    ("=", "`==`"),
    ("&", "`and`"),
];

/// Takes a condition apart.
pub(super) fn tokens(text: &str) -> Result<Vec<Placed>, Wrong> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (token, length) = token(text, at, first)?;
        tokens.push(Placed { token, start: at, length });
        at += length;
    }
    Ok(tokens)
}

/// The token at `at`, which begins with `first`, and its length.
fn token(text: &str, at: usize, first: char) -> Result<(Token, usize), Wrong> {
    let rest = &text[at..];
    let single = match first {
        '(' => Some(Token::Open),
        ')' => Some(Token::Close),
        '[' => Some(Token::OpenList),
        ']' => Some(Token::CloseList),
        ',' => Some(Token::Comma),
        _ => None,
    };
    if let Some(token) = single {
        return Ok((token, 1));
    }
    if matches!(first, '"' | '\'') {
        return quoted(text, at, first);
    }
    if rest.starts_with("${") {
        return Err(braces(text, at));
    }
    if let Some(word) = number_or_name(rest) {
        return word.map_err(|(length, title, help)| Wrong::new(at, length, title).help(help));
    }
    let foreign = FOREIGN.iter().find(|(sign, _)| rest.starts_with(sign));
    let known = COMPARISONS.iter().find(|(sign, _)| rest.starts_with(sign));
    match (known, foreign) {
        // `<>` and `=>` begin like operators that are known.
        (Some((sign, comparison)), other) if other.is_none_or(|(o, _)| o.len() <= sign.len()) => {
            Ok((Token::Comparison(*comparison), sign.len()))
        }
        (_, Some((sign, ours))) => {
            let wrong = Wrong::new(at, sign.len(), format!("`{sign}` is no operator"));
            Err(wrong.help(format!("write {ours}")))
        }
        _ => Err(stray(at, first)),
    }
}

fn stray(at: usize, found: char) -> Wrong {
    let wrong = Wrong::new(at, found.len_utf8(), format!("a condition cannot hold `{found}`"));
    if matches!(found, '+' | '-' | '*' | '/' | '%') {
        return wrong.help("conditions compare, they do not calculate");
    }
    wrong.help("put texts into quotes: `\"…\"`")
}

/// `${…}`, which is for texts.
fn braces(text: &str, at: usize) -> Wrong {
    let length = text[at..].find('}').map_or(2, |end| end + 1);
    let inside = text[at..at + length].trim_start_matches("${").trim_end_matches('}');
    if inside.starts_with("__") {
        let wrong = Wrong::new(at, length, "a condition cannot call functions");
        return wrong
            .help(format!("put it into a variable before: `- set: {{ x: '${{{inside}}}' }}`"));
    }
    let wrong = Wrong::new(at, length, "a condition names variables without `${`");
    wrong.help(format!("write `{}`", without_braces(text)))
}

/// What is wrong with a number or name: its length, the error and the advice.
type BadWord = (usize, String, &'static str);

/// A number or a name at the start of `rest`; `None` if neither begins there. Dots and dashes are
/// part of names.
fn number_or_name(rest: &str) -> Option<Result<(Token, usize), BadWord>> {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
    let first = rest.chars().next()?;
    let signed = rest.strip_prefix(['-', '+']);
    let digits = signed.unwrap_or(rest);
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit())
        || (digits.starts_with('.') && digits[1..].starts_with(|c: char| c.is_ascii_digit()));
    if !(is_number || first.is_alphabetic() || first == '_') {
        return None;
    }
    let sign = rest.len() - digits.len();
    let mut length = sign + digits.find(|c| !part(c)).unwrap_or(digits.len());
    if is_number && rest[..length].ends_with(['e', 'E']) && rest[length..].starts_with('+') {
        let exponent = &rest[length + 1..];
        length += 1 + exponent.find(|c| !part(c)).unwrap_or(exponent.len());
    }
    let word = rest[..length].to_owned();
    Some(if !is_number {
        Ok((Token::Word(word), length))
    } else if word.parse().is_ok_and(f64::is_finite) {
        Ok((Token::Number(word), length))
    } else {
        let title = format!("`{word}` is neither a number nor a name");
        Err((length, title, "put texts into quotes: `\"…\"`"))
    })
}

/// A text in quotes, which cannot hold the same quotes.
fn quoted(text: &str, at: usize, quote: char) -> Result<(Token, usize), Wrong> {
    let inside = &text[at + 1..];
    let Some(end) = inside.find(quote) else {
        let wrong = Wrong::new(at, 1, "the quotes are not closed");
        return Err(wrong.help(format!("add a `{quote}`")));
    };
    let inside = &inside[..end];
    if let Some(brace) = inside.find("${") {
        return Err(braces(text, at + 1 + brace));
    }
    Ok((Token::Quoted(inside.to_owned()), end + 2))
}
