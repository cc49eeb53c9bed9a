//! What is sent.

use std::borrow::Cow;

use crate::exec::evaluate::{Scope, bad_value};
use crate::exec::outcome::Failure;
use crate::program::{Payload, hex_bytes};
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
        Payload::Hex(template) => {
            let text = scope.text(template)?;
            let bytes = hex_bytes(&text).map_err(|bad| bad_value(&bad.what, &template.source))?;
            (MessageKind::Binary, Cow::Owned(bytes))
        }
    })
}
