//! What opens a connection: `open`, and `connect` of samplers that open one for themselves.

use std::time::Duration;

use crate::compile::compiler::Compiler;
use crate::compile::sampler::Place;
use crate::compile::scope::{Connecting, ConnectingSettings, connecting_settings, replace};
use crate::plan::{self, At, Path, Problem, TextOr};
use crate::program::{
    Backoff, BadValue, ByteSize, Fragments, FromText, IfOpen, InboxLimits, Open, Pings,
    SamplerKind, Setting, WhenFull,
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
const MAX_MESSAGE_SIZE: ByteSize = ByteSize(16 << 20);
const INBOX_MESSAGES: u32 = 1_000;
const INBOX_BYTES: ByteSize = ByteSize(1 << 20);
const BACKOFF_FIRST: Duration = Duration::from_secs(1);
const BACKOFF_MAX: Duration = Duration::from_secs(30);

/// `connect`: which connection a sampler uses.
#[derive(Debug, Clone)]
pub(super) enum Connect {
    /// The one that is open.
    Reuse,
    /// One of its own, with the settings that hold where the sampler stands.
    New,
    /// One of its own, with these settings.
    With(Box<Connecting>),
}

/// Something is wrong, and that has been noted.
#[derive(Debug)]
pub(super) struct Noted;

/// The words of `connect`.
enum Word {
    Reuse,
    New,
}

impl FromText for Word {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        match text {
            "reuse" => Ok(Self::Reuse),
            "new" => Ok(Self::New),
            _ => Err(BadValue::new(format!("`{text}` is none of `reuse`, `new`"))
                .with_help("or give the settings of an `open`: `connect: { path: /chat }`")),
        }
    }
}

impl Compiler<'_> {
    pub(super) fn open(&mut self, open: &plan::Open, place: &Place<'_>) -> Option<SamplerKind> {
        let mut settings = place.scope.connecting.clone();
        let own = connecting_settings!(open);
        let before = self.problems.len();
        self.connecting(&mut settings, &own, &place.path);
        let mut if_open = place.scope.if_open.clone();
        if let Some(own) = &open.if_open {
            replace(&mut if_open, self.setting(own, &place.path.key("if_open")));
        }
        let is_fine = self.problems.len() == before;
        let mut open = self.resolve_open(settings, &own, is_fine, &place.path)?;
        open.if_open = if_open.unwrap_or(Setting::Fixed(IfOpen::Replace));
        Some(SamplerKind::Open(open))
    }

    /// What a sampler with `connect`, its own or inherited, opens first.
    pub(super) fn connect(
        &mut self,
        own: Option<&TextOr<plan::Connect>>,
        place: &Place<'_>,
    ) -> Result<Option<Box<Open>>, Noted> {
        let path = place.path.key("connect");
        let before = self.problems.len();
        let choice = match own {
            Some(own) => {
                let choice = self.connect_choice(own, &place.scope.connecting, &path);
                // One that is wrong might have opened something.
                place.connects.set(choice.is_none());
                choice.ok_or(Noted)?
            }
            None => place.scope.connect.clone().unwrap_or(Connect::Reuse),
        };
        let settings = match choice {
            Connect::Reuse => return Ok(None),
            Connect::New => place.scope.connecting.clone(),
            Connect::With(settings) => *settings,
        };
        place.connects.set(true);
        let is_fine = self.problems.len() == before;
        let (own, at) = match own {
            Some(TextOr::Settings(map)) => (connecting_settings!(map), &path),
            Some(TextOr::Text(_)) => (ConnectingSettings::default(), &path),
            None => (ConnectingSettings::default(), &place.path),
        };
        self.resolve_open(settings, &own, is_fine, at).map(Some).ok_or(Noted)
    }

    /// `connect` at `path`, where these settings of `open` hold.
    pub(super) fn connect_choice(
        &mut self,
        own: &TextOr<plan::Connect>,
        outer: &Connecting,
        path: &Path,
    ) -> Option<Connect> {
        match own {
            TextOr::Text(word) => Some(match self.fixed(word, path)? {
                Word::Reuse => Connect::Reuse,
                Word::New => Connect::New,
            }),
            TextOr::Settings(map) => {
                let mut settings = Box::new(outer.clone());
                self.connecting(&mut settings, &connecting_settings!(map), path);
                Some(Connect::With(settings))
            }
        }
    }

    /// Fills in the defaults of what is to be opened. `is_fine`: nothing is wrong with the settings
    /// at `path` themselves.
    fn resolve_open(
        &mut self,
        settings: Connecting,
        own: &ConnectingSettings<'_>,
        is_fine: bool,
        path: &Path,
    ) -> Option<Box<Open>> {
        let Some(url) = settings.url else {
            // Not if there is a `url` that is wrong, here or in an outer scope.
            if own.url.is_none() && is_fine && !self.url_failed() {
                let what = path.last_key().unwrap_or("open");
                let title = match what {
                    "open" | "connect" => format!("`{what}` has no `url`"),
                    _ => format!("`{what}` is to connect, and has no `url`"),
                };
                let problem = Problem::error(path, title).at(At::Key);
                self.note(
                    problem
                        .help("give it here or in `defaults`, such as `url: ws://127.0.0.1:9000`"),
                );
            }
            return None;
        };
        // One that is wrong is noted, and might have been the one that a reader needs.
        let otherwise = if own.pings.is_some() { Pings::Deliver } else { Pings::Answer };
        let pings = settings.pings.unwrap_or(Setting::Fixed(otherwise));
        if own.answer_pings.is_some()
            && let Setting::Fixed(Pings::Answer | Pings::Ignore) = pings
        {
            let path = path.key("answer_pings");
            let title = "`answer_pings` goes with `pings: deliver`";
            let problem = Problem::error(&path, title).at(At::Key);
            self.note(problem.help("write `pings: ignore` for a connection that answers none"));
        }
        let heartbeat = self.resolve_heartbeat(settings.heartbeat, path);
        let bytes = settings.bytes.unwrap_or(Setting::Fixed(INBOX_BYTES));
        Some(Box::new(Open {
            url,
            path: settings.path,
            connect_timeout: settings.connect_timeout.unwrap_or(Setting::Fixed(CONNECT_TIMEOUT)),
            headers: settings.headers,
            subprotocols: settings.subprotocols.unwrap_or_default(),
            max_message_size: settings.max_message_size.unwrap_or(Setting::Fixed(MAX_MESSAGE_SIZE)),
            inbox: InboxLimits {
                messages: settings.messages.unwrap_or(Setting::Fixed(INBOX_MESSAGES)),
                bytes,
                when_full: settings.when_full.unwrap_or(Setting::Fixed(WhenFull::DropOldest)),
            },
            pings,
            answer_pings: settings.answer_pings.unwrap_or(Setting::Fixed(true)),
            fragments: settings.fragments.unwrap_or(Setting::Fixed(Fragments::Join)),
            heartbeat,
            if_open: Setting::Fixed(IfOpen::Replace),
            backoff: settings.backoff,
        }))
    }

    /// `backoff` at `path`.
    pub(super) fn backoff(&mut self, own: &plan::Backoff, path: &Path) -> Option<Backoff> {
        let first = match &own.first {
            Some(first) => self.timeout(first, &path.key("first")),
            None => Some(Setting::Fixed(BACKOFF_FIRST)),
        };
        let max = match &own.max {
            Some(max) => self.timeout(max, &path.key("max")),
            None => Some(Setting::Fixed(BACKOFF_MAX)),
        };
        let (first, max) = (first?, max?);
        if let (Setting::Fixed(first), Setting::Fixed(max)) = (&first, &max)
            && first > max
        {
            let title = format!("the first wait, {first:?}, is longer than the longest, {max:?}");
            self.note(Problem::error(path, title).at(At::Key).help("give both `first` and `max`"));
            return None;
        }
        Some(Backoff { first, max })
    }

    /// Whether some `url` has been refused, so that its lack further in is no news.
    fn url_failed(&self) -> bool {
        self.problems.iter().any(|problem| problem.path.last_key() == Some("url"))
    }
}
