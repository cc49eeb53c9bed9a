//! What functions there are: how to call each, and what it gives.

/// One function, as `wsmeter functions` shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionInfo {
    /// Its name, with the underscores.
    pub name: &'static str,
    /// The fewest arguments.
    pub(super) least: usize,
    /// The most arguments.
    pub(super) most: usize,
    /// How to call it; what is in `[ ]` may be left out.
    pub usage: &'static str,
    /// What it gives, in a few words.
    pub summary: &'static str,
    /// A call in a plan.
    pub example: &'static str,
    /// What the example may give.
    pub sample: &'static str,
}

/// Any number.
const MANY: usize = usize::MAX;

macro_rules! functions {
    ($($name:literal $least:literal..=$most:tt, $usage:literal, $summary:literal, $example:literal => $sample:literal;)*) => {
        &[$(FunctionInfo {
            name: $name,
            least: $least,
            most: $most,
            usage: $usage,
            summary: $summary,
            example: $example,
            sample: $sample,
        }),*]
    };
}

/// All functions: where a run gets its settings, who and when it is, chance, texts and files.
pub const FUNCTIONS: &[FunctionInfo] = functions! {
    "__P" 1..=2, "__P(name[, default])",
        "the property set with `-J name=value`", "${__P(users, 10)}" => "10";
    "__property" 1..=2, "__property(name[, default])",
        "the same as `__P`", "${__property(users, 10)}" => "10";
    "__env" 1..=2, "__env(name[, default])",
        "the environment variable", "${__env(STAGE, test)}" => "test";
    "__threadNum" 0..=0, "__threadNum()",
        "the number of the thread in its group, from 1", "${__threadNum()}" => "1";
    "__threadGroupName" 0..=0, "__threadGroupName()",
        "the name of the thread group", "${__threadGroupName()}" => "Thread Group";
    "__counter" 1..=2, "__counter(TRUE|FALSE[, variable])",
        "1, 2, 3: for each thread (TRUE) or for the run (FALSE)", "${__counter(FALSE)}" => "1";
    "__time" 0..=2, "__time([format[, variable]])",
        "now, in ms since 1970 or as the format says", "${__time(yyyy-MM-dd HH:mm:ss)}" => "2026-01-31 09:30:00";
    "__timeShift" 0..=5, "__timeShift([format[, date[, shift[, locale[, variable]]]]])",
        "the date, or now, moved by an ISO 8601 duration",
        "${__timeShift(yyyy-MM-dd, 2026-01-31, P1D)}" => "2026-02-01";
    "__UUID" 0..=0, "__UUID()",
        "a random UUID (version 4)", "${__UUID()}" => "1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b";
    "__Random" 2..=3, "__Random(min, max[, variable])",
        "a random whole number, both ends included", "${__Random(1, 6)}" => "4";
    "__RandomString" 1..=3, "__RandomString(length[, characters[, variable]])",
        "random characters, letters and digits if none are given", "${__RandomString(8, abc123)}" => "b1cca32a";
    "__char" 1..=MANY, "__char(code[, code…])",
        "the characters with these Unicode numbers", "${__char(0x48, 105)}" => "Hi";
    "__urlencode" 1..=1, "__urlencode(text)",
        "the text as a value in a query", "${__urlencode(a b&c)}" => "a+b%26c";
    "__base64Encode" 1..=2, "__base64Encode(text[, variable])",
        "the text in Base64", "${__base64Encode(user:pass)}" => "dXNlcjpwYXNz";
    "__base64Decode" 1..=2, "__base64Decode(text[, variable])",
        "the UTF-8 text that is given in Base64", "${__base64Decode(aGVsbG8=)}" => "hello";
    "__digest" 2..=5, "__digest(algorithm, text[, salt[, upper case[, variable]]])",
        "the digest of text and salt in hexadecimal: MD5, SHA-1, SHA-224, SHA-256, SHA-384, SHA-512",
        "${__digest(MD5, hello)}" => "5d41402abc4b2a76b9719d911017c592";
    "__FileToString" 1..=3, "__FileToString(file[, encoding[, variable]])",
        "what the file holds, read once before the run", "${__FileToString(message.json)}" => "{\"id\": 1}";
};
