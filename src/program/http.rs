//! `http`, resolved.

use std::time::Duration;

use crate::program::{BadValue, ByteSize, FromText, Payload, RequestHead, Setting, Template, Tls};

/// `http`: one request.
#[derive(Debug)]
pub struct Http {
    /// `http://host[:port][/path][?query]`, or with the scheme of a WebSocket's address.
    pub url: Template,
    /// Replaces path and query of `url`.
    pub path: Option<Template>,
    /// What it asks for.
    pub method: Setting<Method>,
    /// How secure connections are made; `None` where the URL is known to need none.
    pub tls: Option<Box<Tls>>,
    /// Headers and what becomes headers.
    pub head: RequestHead,
    /// What is sent.
    pub body: Option<Body>,
    /// Deadline for name lookup, TCP and TLS together; never zero.
    pub connect_timeout: Setting<Duration>,
    /// A larger body of the answer fails the sample.
    pub max_message_size: Setting<ByteSize>,
}

/// The body of a request, and the `Content-Type` that goes with it unless the plan has one.
#[derive(Debug)]
pub enum Body {
    /// `text/plain`
    Text(Payload),
    /// `application/json`
    Json(Payload),
    /// `application/x-www-form-urlencoded`
    Form(Vec<(String, Template)>),
    /// `application/octet-stream`
    File(Payload),
}

impl Body {
    /// The media type of the body.
    pub fn content_type(&self) -> &'static str {
        match self {
            Self::Text(_) => "text/plain; charset=utf-8",
            Self::Json(_) => "application/json",
            Self::Form(_) => "application/x-www-form-urlencoded",
            Self::File(_) => "application/octet-stream",
        }
    }
}

/// `method`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// `GET`
    Get,
    /// `HEAD`
    Head,
    /// `POST`
    Post,
    /// `PUT`
    Put,
    /// `PATCH`
    Patch,
    /// `DELETE`
    Delete,
    /// `OPTIONS`
    Options,
}

impl Method {
    const ALL: [Self; 7] =
        [Self::Get, Self::Head, Self::Post, Self::Put, Self::Patch, Self::Delete, Self::Options];

    /// As it is sent.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
            Self::Options => "OPTIONS",
        }
    }
}

impl FromText for Method {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        let found = Self::ALL.into_iter().find(|method| method.name() == text);
        found.ok_or_else(|| {
            let names = Self::ALL.map(|method| format!("`{}`", method.name())).join(", ");
            let bad = BadValue::new(format!("`{text}` is none of {names}"));
            let upper = text.to_ascii_uppercase();
            if Self::ALL.into_iter().any(|method| method.name() == upper) {
                return bad.with_help(format!("write `{upper}`: methods differ by case"));
            }
            bad
        })
    }
}
