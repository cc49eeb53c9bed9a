//! Takes the secrets out of what a trial run shows. Those of a message in several frames are looked for in all
//! of them together.

use std::collections::HashMap;
use std::ops::Range;
use std::time::Instant;

use crate::exec::evaluate::Scope;
use crate::sample::{Payload, Trace};
use crate::secrets::{MASK, replaced, tells};

/// Hides what is secret, unless secrets are shown.
pub(super) fn hide(events: &mut [(Instant, Trace)], scope: &Scope) {
    if scope.shared.program.show_secrets {
        return;
    }
    for frames in messages(events) {
        hide_message(events, &frames, scope);
    }
    for (_, trace) in events {
        hide_texts(trace, scope);
    }
}

fn hide_texts(trace: &mut Trace, scope: &Scope) {
    let hide = |text: &mut String| *text = scope.shown_quote(std::mem::take(text));
    match trace {
        Trace::Step { label: text, .. }
        | Trace::Head { text, .. }
        | Trace::Frame { connection: text, .. }
        | Trace::Fate(text) => hide(text),
        Trace::Thread { .. } | Trace::Pause { .. } => {}
        Trace::Check { source, failure, found } => {
            if let Some(found) = found
                && tells(source)
            {
                MASK.clone_into(found);
            }
            failure.iter_mut().chain(found).for_each(hide);
            hide(source);
        }
        Trace::Variable { value, .. } => value.iter_mut().for_each(hide),
    }
}

/// The frames of each message, by their places among the events.
fn messages(events: &[(Instant, Trace)]) -> Vec<Vec<usize>> {
    let (mut whole, mut begun) = (Vec::new(), HashMap::<(&str, bool), Vec<usize>>::new());
    for (place, (_, trace)) in events.iter().enumerate() {
        let Trace::Frame { connection, sent, kind, last, .. } = trace else { continue };
        if matches!(*kind, "ping" | "pong" | "close") {
            whole.push(vec![place]);
            continue;
        }
        let frames = begun.entry((connection, *sent)).or_default();
        frames.push(place);
        if *last {
            whole.push(std::mem::take(frames));
        }
    }
    whole.extend(begun.into_values());
    whole
}

fn hide_message(events: &mut [(Instant, Trace)], frames: &[usize], scope: &Scope) {
    let (mut bytes, mut ends, mut goes_on) = (Vec::new(), Vec::new(), false);
    for frame in frames {
        if let Trace::Frame { payload, whole, last, .. } = &events[*frame].1 {
            match payload {
                Payload::Text(text) => bytes.extend_from_slice(text.as_bytes()),
                Payload::Binary(own) => bytes.extend_from_slice(own),
            }
            ends.push(bytes.len());
            goes_on = !(*whole && *last);
        }
    }
    let places = scope.places(&bytes, goes_on);
    if places.is_empty() {
        return;
    }
    let mut start = 0;
    for (frame, end) in frames.iter().zip(ends) {
        let within = |place: &Range<usize>| {
            let (from, until) = (place.start.max(start), place.end.min(end));
            (from < until).then(|| from - start..until - start)
        };
        let own: Vec<Range<usize>> = places.iter().filter_map(within).collect();
        if let Trace::Frame { payload, .. } = &mut events[*frame].1 {
            hide_places(payload, &own);
        }
        start = end;
    }
}

fn hide_places(payload: &mut Payload, places: &[Range<usize>]) {
    match payload {
        Payload::Text(text) => {
            *text = replaced(text, places, |_, masked| masked.push_str(MASK)).into_owned();
        }
        Payload::Binary(bytes) => {
            for place in places {
                bytes[place.clone()].fill(b'*');
            }
        }
    }
}
