//! What a request says beside its address, resolved: for upgrades and for `http`.

use http::{HeaderName, HeaderValue};

use crate::program::{BadValue, Setting, Template};

/// The most redirects that one request may follow.
pub const MAX_REDIRECTS: u32 = 50;

/// Headers and what becomes headers.
#[derive(Debug, Clone)]
pub struct RequestHead {
    /// In order; names may occur more than once.
    pub headers: Vec<Header>,
    /// Names and values, beside those of the thread's jar.
    pub cookies: Vec<(String, Template)>,
    /// `Origin`
    pub origin: Option<Template>,
    /// `Authorization`
    pub basic_auth: Option<BasicAuth>,
    /// How many redirects are followed, at most [`MAX_REDIRECTS`].
    pub follow_redirects: Setting<u32>,
}

impl Default for RequestHead {
    fn default() -> Self {
        Self {
            headers: Vec::new(),
            cookies: Vec::new(),
            origin: None,
            basic_auth: None,
            follow_redirects: Setting::Fixed(0),
        }
    }
}

/// One header of a request.
#[derive(Debug, Clone)]
pub struct Header {
    /// A valid header name (RFC 9110 5.1), none of those that are set anyway.
    pub name: String,
    /// Its value.
    pub value: Template,
}

/// Credentials (RFC 7617).
#[derive(Debug, Clone)]
pub struct BasicAuth {
    /// Without a colon.
    pub user: Template,
    /// Which no output shows.
    pub password: Template,
}

/// Whether the text can be the value of a header.
pub fn header_value(text: &str) -> Result<(), BadValue> {
    if HeaderValue::from_bytes(text.as_bytes()).is_ok() {
        return Ok(());
    }
    let what = "a header's value cannot hold line breaks or other control characters";
    Err(BadValue::new(what)
        .with_help("for a value over several lines write `>-`, which joins them"))
}

/// Whether the text can be the name of a cookie: a token, as header names are (RFC 6265 4.1.1).
pub fn cookie_name(name: &str) -> Result<(), BadValue> {
    if HeaderName::from_bytes(name.as_bytes()).is_ok() {
        return Ok(());
    }
    Err(BadValue::new(format!("`{name}` is not a name of a cookie"))
        .with_help("use letters, digits, `-` and `_`"))
}

/// Whether the text can be the value of a cookie: more than RFC 6265 4.1.1 allows, as servers do,
/// but nothing that would end the value.
pub fn cookie_value(text: &str) -> Result<(), BadValue> {
    if !text.contains(|c: char| c == ';' || c.is_control()) {
        return Ok(());
    }
    let what = "a cookie's value cannot hold `;`, line breaks or other control characters";
    Err(BadValue::new(what).with_help("encode it, as with `${__urlencode(…)}`"))
}

/// Whether the text can be the user of [`BasicAuth`]: the first colon begins the password.
pub fn user_name(text: &str) -> Result<(), BadValue> {
    if text.contains(':') {
        return Err(BadValue::new("a `user` cannot hold a `:` (RFC 7617 2)"));
    }
    Ok(())
}

/// Whether so many redirects can be followed.
pub fn redirects(count: u32) -> Result<(), BadValue> {
    if count <= MAX_REDIRECTS {
        return Ok(());
    }
    Err(BadValue::new(format!("`follow_redirects` is at most {MAX_REDIRECTS}, not {count}")))
}
