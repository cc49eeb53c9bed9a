//! Filters that discard just what a sampler waits for, as far as that can be seen before the run.

use crate::program::{
    Assertion, Check, Expect, Filter, MessageType, Pattern, SamplerKind, Setting,
};

/// The filter that discards every message that the sampler could pass with; `None` if none is known
/// to do so.
pub(super) fn swallowing<'f>(
    filters: &'f [Filter],
    kind: &SamplerKind,
    assertions: &[Assertion],
) -> Option<&'f Filter> {
    let expected = expected_type(kind);
    let wanted = assertions.iter().find_map(|assertion| match &assertion.check {
        Check::Equals(text) => text.as_constant(),
        _ => None,
    });
    filters.iter().find(|filter| {
        expected.is_some_and(|expected| takes_all(&filter.check, expected))
            || wanted.is_some_and(|wanted| takes_text(&filter.check, wanted) == Some(true))
    })
}

/// The type of message that the sampler waits for, if only one will do.
fn expected_type(kind: &SamplerKind) -> Option<MessageType> {
    let (expect, sent) = match kind {
        SamplerKind::RequestResponse(request) => (&request.expect, Some(&request.payload)),
        SamplerKind::SingleRead(read) => (&read.expect, None),
        SamplerKind::Read(read) => (&read.expect, None),
        _ => return None,
    };
    match (expect, sent) {
        (Setting::Fixed(Expect::Text), _) => Some(MessageType::Text),
        (Setting::Fixed(Expect::Binary), _) => Some(MessageType::Binary),
        (Setting::Fixed(Expect::Ping), _) => Some(MessageType::Ping),
        (Setting::Fixed(Expect::Pong), _) => Some(MessageType::Pong),
        (Setting::Fixed(Expect::Same), Some(payload)) => {
            Some(if payload.is_text() { MessageType::Text } else { MessageType::Binary })
        }
        _ => None,
    }
}

/// Whether the check holds for every message of the type.
fn takes_all(check: &Check, kind: MessageType) -> bool {
    match check {
        Check::Type(Setting::Fixed(taken)) => *taken == kind,
        Check::AnyOf(checks) => checks.iter().any(|check| takes_all(check, kind)),
        Check::AllOf(checks) => checks.iter().all(|check| takes_all(check, kind)),
        _ => false,
    }
}

/// Whether the check holds for the text message `text`; `None` where only the run can tell.
fn takes_text(check: &Check, text: &str) -> Option<bool> {
    Some(match check {
        Check::Contains(part) => text.contains(part.as_constant()?),
        Check::Equals(whole) => text == whole.as_constant()?,
        Check::StartsWith(start) => text.starts_with(start.as_constant()?),
        Check::EndsWith(end) => text.ends_with(end.as_constant()?),
        Check::Regex(Pattern::Fixed(regex)) | Check::FullMatch(Pattern::Fixed(regex)) => {
            regex.is_match(text)
        }
        Check::Type(Setting::Fixed(kind)) => *kind == MessageType::Text,
        Check::Hex(..) => false,
        Check::Not(inner) => !takes_text(inner, text)?,
        Check::AnyOf(checks) => {
            let taken: Option<Vec<bool>> =
                checks.iter().map(|check| takes_text(check, text)).collect();
            taken?.contains(&true)
        }
        Check::AllOf(checks) => {
            let taken: Option<Vec<bool>> =
                checks.iter().map(|check| takes_text(check, text)).collect();
            !taken?.contains(&false)
        }
        _ => return None,
    })
}
