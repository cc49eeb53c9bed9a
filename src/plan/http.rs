//! `http`: one HTTP request, as written.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::plan::assertion::Check;
use crate::plan::extractor::Extractor;
use crate::plan::json::Json;
use crate::plan::nested::{BasicAuth, SendFile};
use crate::plan::sampler::Common;
use crate::plan::setting::{
    Count, Entries, Flag, List, Removable, Setting, Size, Text, TextOr, Time, Word, given,
};
use crate::plan::timer::Pause;
use crate::plan::tls::Tls;

/// Sends an HTTP request, over a connection of its own, and waits for the whole answer. It shares
/// cookies with the upgrades of its thread.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Http {
    /// The row's label; the kind of the step where there is none.
    #[serde(default, deserialize_with = "given")]
    pub name: Option<Setting<Text>>,
    /// The method; where there is none, `POST` with a body and `GET` without.
    #[serde(default, deserialize_with = "given")]
    pub method: Option<Setting<Word>>,
    /// The address: `http://host[:port][/path][?query]`. Where there is none, that of the connections,
    /// with `http` for `ws` and `https` for `wss`, and with the `path` given here.
    #[serde(default, deserialize_with = "given")]
    pub url: Option<Setting<Text>>,
    /// Path and query of the address; they replace those of `url`.
    #[serde(default, deserialize_with = "given")]
    pub path: Option<Setting<Text>>,
    /// Further headers of the request, in order; a list of values is a header for each. They merge
    /// with those of `defaults`.
    #[serde(default, deserialize_with = "given")]
    pub headers: Option<Entries<Removable<List<Setting<Text>>>>>,
    /// Cookies to send beside those that servers have set for the thread; of the same name, these.
    #[serde(default, deserialize_with = "given")]
    pub cookies: Option<Entries<Removable<Setting<Text>>>>,
    /// The header `Origin`.
    #[serde(default, deserialize_with = "given")]
    pub origin: Option<Setting<Text>>,
    /// The user and the password of the header `Authorization` (RFC 7617).
    #[serde(default, deserialize_with = "given")]
    pub basic_auth: Option<BasicAuth>,
    /// How many redirects are followed, in the same row.
    #[serde(default, deserialize_with = "given")]
    pub follow_redirects: Option<Setting<Count>>,
    /// What is sent: a text, or settings.
    #[serde(default, deserialize_with = "given")]
    pub body: Option<TextOr<Body>>,
    /// How long name lookup, TCP and TLS may take together, at each place that redirects lead to.
    #[serde(default, deserialize_with = "given")]
    pub connect_timeout: Option<Setting<Time>>,
    /// How `https://` servers are reached: which are trusted, what they are shown.
    #[serde(default, deserialize_with = "given")]
    pub tls: Option<Tls>,
    /// How long the whole answer may take, from the moment the request is written.
    #[serde(default, deserialize_with = "given")]
    pub read_timeout: Option<Setting<Time>>,
    /// How long the kernel may take to accept the request.
    #[serde(default, deserialize_with = "given")]
    pub write_timeout: Option<Setting<Time>>,
    /// A larger body of the answer fails the sample.
    #[serde(default, deserialize_with = "given")]
    pub max_message_size: Option<Setting<Size>>,
    /// What must hold for the sample to pass. A status outside 200 to 399 fails it, unless one of these
    /// is about the `status`.
    #[serde(default)]
    pub assert: List<Check>,
    /// What a passed sample gives to variables.
    #[serde(default)]
    pub extract: List<Extractor>,
    /// Pauses before it, after those of the scopes around; one after the other, outside its time.
    #[serde(default)]
    pub timers: List<TextOr<Pause>>,
    /// `false` leaves the step out.
    #[serde(default, deserialize_with = "given")]
    pub enabled: Option<Setting<Flag>>,
    /// What a failure does.
    #[serde(default, deserialize_with = "given")]
    pub on_error: Option<Setting<Word>>,
}

impl Http {
    /// The settings that all samplers share.
    pub fn common(&self) -> Common<'_> {
        Common {
            name: self.name.as_ref(),
            connection: None,
            read_timeout: self.read_timeout.as_ref(),
            write_timeout: self.write_timeout.as_ref(),
            on_error: self.on_error.as_ref(),
            assert: &self.assert.0,
            extract: &self.extract.0,
            filters: &[],
            timers: &self.timers.0,
            enabled: self.enabled.as_ref(),
        }
    }
}

/// `body`: exactly one of these. Each sets a `Content-Type`, unless `headers` has one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// A text, as `text/plain`.
    #[serde(default, deserialize_with = "given")]
    pub text: Option<Setting<Text>>,
    /// A map or list, which is sent as JSON.
    #[serde(default, deserialize_with = "given")]
    pub json: Option<Json>,
    /// Names and values, which are sent as a form is.
    #[serde(default, deserialize_with = "given")]
    pub form: Option<Entries<Setting<Text>>>,
    /// The file to send, relative to the file in which this stands; read once, before the run.
    #[serde(default, deserialize_with = "given")]
    pub file: Option<TextOr<SendFile>>,
}
