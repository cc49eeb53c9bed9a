//! Requests of one connection whose replies have not come, and which message is one's late reply.
//!
//! Requests with the same matcher, or none, form a class. Across classes a late reply is known by
//! the matcher of its own request. Within a class nothing tells a late reply from a fresh one, so the
//! sampler's `late_replies` decides. In JMeter each sample after a time-out is judged by the reply to
//! an earlier one, and passes.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::exec::matcher::Matcher;
use crate::program::LateReplies;
use crate::ws::Message;

/// Unanswered requests that one connection remembers.
const MAX_REMEMBERED: usize = 64;

/// Classes that one connection remembers only for replies that may still come.
const MAX_CLASSES: usize = 64;

/// What the messages of a class have in common: the matcher's checks as text, empty for none.
pub(crate) type ClassKey = String;

/// The class of a matcher.
pub(crate) fn class_of(matcher: Option<&Rc<Matcher<'_>>>) -> ClassKey {
    matcher.map_or_else(String::new, |matcher| matcher.class())
}

/// The sampler that waits on the connection now.
#[derive(Debug)]
pub(crate) struct Waiting<'p> {
    pub(crate) class: ClassKey,
    pub(crate) matcher: Option<Rc<Matcher<'p>>>,
    pub(crate) late_replies: LateReplies,
}

/// Requests without a reply; nothing is kept for a connection that has none.
#[derive(Debug, Default)]
pub(crate) struct Attribution<'p> {
    classes: Vec<Class<'p>>,
    /// Set while a sampler waits; tells whose a message could be beside a late reply.
    pub(crate) waiting: Option<Waiting<'p>>,
}

#[derive(Debug)]
struct Class<'p> {
    key: ClassKey,
    matcher: Option<Rc<Matcher<'p>>>,
    /// Oldest first.
    requests: VecDeque<Request>,
    /// Requests before them that are no longer remembered; their replies may still come.
    forgotten: u64,
    /// What the newest of them wants to happen to late replies.
    late_replies: LateReplies,
    /// Whether later samplers are skipped until the connection is opened anew, even when all
    /// replies have come: only what names one request alone is in step again then.
    stuck: bool,
}

/// A request whose reply has not come.
#[derive(Debug)]
pub(crate) struct Request {
    /// The sampler's label, as it is shown.
    pub(crate) label: Rc<str>,
    /// When its first byte was written.
    pub(crate) sent: Instant,
}

/// A late reply.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Late {
    /// To this request, so long after it was sent.
    Of(Rc<str>, Duration),
    /// To a request that is no longer remembered, and has been counted as unanswered.
    OfForgotten,
}

/// Payloads of pings that went unanswered. A peer may answer only the newest of several pings (RFC
/// 6455 5.5.3), so pongs cannot be counted off: a ping with such a payload is out of sync.
#[derive(Debug, Default)]
pub(crate) struct UnansweredPings(Vec<Box<[u8]>>);

impl UnansweredPings {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn contains(&self, payload: &[u8]) -> bool {
        self.0.iter().any(|one| **one == *payload)
    }

    /// Remembers one more; the oldest goes if there are too many.
    pub(crate) fn remember(&mut self, payload: &[u8]) {
        if self.0.len() >= MAX_REMEMBERED {
            self.0.remove(0);
        }
        self.0.push(payload.into());
    }
}

impl<'p> Attribution<'p> {
    /// Whether a sampler of this class cannot tell late replies from its own.
    pub(crate) fn is_ambiguous(&self, key: &str) -> bool {
        self.classes.iter().any(|class| class.key == *key)
    }

    /// Whether samplers are skipped until the connection is opened anew.
    pub(crate) fn is_stuck(&self) -> bool {
        self.classes.iter().any(|class| class.stuck)
    }

    /// Remembers a request without a reply. Gives the label of one that is forgotten for it.
    pub(crate) fn remember(
        &mut self,
        matcher: Option<Rc<Matcher<'p>>>,
        request: Request,
        late_replies: LateReplies,
    ) -> Option<Rc<str>> {
        let key = class_of(matcher.as_ref());
        let is_unique = matcher.as_ref().is_some_and(|matcher| matcher.is_unique());
        let stuck = late_replies == LateReplies::Skip && !is_unique;
        match self.classes.iter_mut().find(|class| class.key == key) {
            Some(class) => {
                class.requests.push_back(request);
                class.stuck |= stuck;
                class.late_replies = late_replies;
            }
            None => self.classes.push(Class {
                key,
                matcher,
                requests: [request].into(),
                forgotten: 0,
                late_replies,
                stuck,
            }),
        }
        self.forget_oldest()
    }

    /// Whether the message is a late reply, and whose.
    pub(crate) fn claim(&mut self, message: &Message) -> Option<Late> {
        let waiting = self.waiting.as_ref();
        let at = self.classes.iter().position(|class| class.claims(message, waiting))?;
        let class = &mut self.classes[at];
        let late = if class.forgotten > 0 {
            class.forgotten -= 1;
            Late::OfForgotten
        } else {
            let request = class.requests.pop_front()?;
            Late::Of(request.label, message.arrived.saturating_duration_since(request.sent))
        };
        if class.is_settled() {
            self.classes.remove(at);
        }
        Some(late)
    }

    /// The labels of the requests that will get no reply any more.
    pub(crate) fn labels(&self) -> impl Iterator<Item = &str> {
        self.classes.iter().flat_map(|class| class.requests.iter().map(|request| &*request.label))
    }

    fn forget_oldest(&mut self) -> Option<Rc<str>> {
        let remembered: usize = self.classes.iter().map(|class| class.requests.len()).sum();
        let mut forgotten = None;
        if remembered > MAX_REMEMBERED {
            let sent = |class: &Class<'p>| class.requests.front().map(|request| request.sent);
            let oldest = (0..self.classes.len())
                .filter(|at| !self.classes[*at].requests.is_empty())
                .min_by_key(|at| sent(&self.classes[*at]))?;
            let class = &mut self.classes[oldest];
            forgotten = class.requests.pop_front().map(|request| request.label);
            class.forgotten += 1;
            if class.requests.is_empty() && class.is_unique() {
                self.classes.remove(oldest);
            }
        }
        if self.classes.len() > MAX_CLASSES
            && let Some(at) = self.classes.iter().position(|class| class.requests.is_empty())
        {
            self.classes.remove(at);
        }
        forgotten
    }
}

impl Class<'_> {
    fn is_unique(&self) -> bool {
        self.matcher.as_ref().is_some_and(|matcher| matcher.is_unique())
    }

    fn is_settled(&self) -> bool {
        self.requests.is_empty() && self.forgotten == 0 && !self.stuck
    }

    /// Whether the message is a late reply to a request of this class.
    fn claims(&self, message: &Message, waiting: Option<&Waiting<'_>>) -> bool {
        let oldest = self.requests.front();
        let is_open =
            self.forgotten > 0 || oldest.is_some_and(|request| message.began >= request.sent);
        if !is_open {
            return false;
        }
        let same = waiting.filter(|waiting| waiting.class == self.key);
        if let Some(waiting) = same {
            return waiting.late_replies != LateReplies::Accept && self.fits(message);
        }
        if self.matcher.is_some() {
            return self.fits(message);
        }
        // Any message could be this class's: one that fits the sampler that waits is that one's.
        let is_wanted = waiting.is_some_and(|waiting| {
            waiting.matcher.as_ref().is_some_and(|matcher| matcher.fits(message))
        });
        !is_wanted && self.late_replies == LateReplies::Discard
    }

    fn fits(&self, message: &Message) -> bool {
        self.matcher.as_ref().is_none_or(|matcher| matcher.fits(message))
    }
}
