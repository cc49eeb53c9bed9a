//! What is sent.

use std::borrow::Cow;

use rand::Rng;

use crate::exec::evaluate::{Scope, bad_value};
use crate::exec::outcome::Failure;
use crate::program::{
    BadValue, ByteSize, MAX_RANDOM, Payload, Setting, Template, base64_bytes, hex_bytes,
};
use crate::sample::Code;
use crate::ws::MessageKind;

/// The bytes to send and their type; constants are borrowed.
pub(crate) fn evaluate<'p>(
    scope: &mut Scope,
    payload: &'p Payload,
) -> Result<(MessageKind, Cow<'p, [u8]>), Failure> {
    let into_bytes = |text: Cow<'p, str>| match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    };
    Ok(match payload {
        Payload::FixedText(text) => (MessageKind::Text, Cow::Borrowed(text.as_bytes())),
        Payload::FixedBinary(bytes) => (MessageKind::Binary, Cow::Borrowed(bytes.as_slice())),
        Payload::Text(template) => (MessageKind::Text, into_bytes(scope.text(template)?)),
        Payload::Json(parts) => {
            let mut text = String::new();
            scope.json(parts, &mut text)?;
            (MessageKind::Text, Cow::Owned(text.into_bytes()))
        }
        Payload::Hex(template) => (MessageKind::Binary, decoded(scope, template, hex_bytes)?),
        Payload::Base64(template) => (MessageKind::Binary, decoded(scope, template, base64_bytes)?),
        Payload::Random(size) => (MessageKind::Binary, random(scope, size)?),
    })
}

fn decoded(
    scope: &mut Scope,
    template: &Template,
    decode: impl Fn(&str) -> Result<Vec<u8>, BadValue>,
) -> Result<Cow<'static, [u8]>, Failure> {
    let text = scope.text(template)?;
    decode(&text).map(Cow::Owned).map_err(|bad| bad_value(&bad.what, &template.source))
}

/// Random bytes, new ones each time.
fn random(scope: &mut Scope, size: &Setting<ByteSize>) -> Result<Cow<'static, [u8]>, Failure> {
    let size = scope.value(size)?;
    if size > MAX_RANDOM {
        return Err(Failure::plain(Code::BadValue, "`send_random` sends at most 64MiB"));
    }
    let mut bytes = vec![0; usize::try_from(size.0).unwrap_or_default()];
    rand::rng().fill_bytes(&mut bytes);
    Ok(Cow::Owned(bytes))
}
