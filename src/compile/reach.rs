//! To which samplers a check can apply.

use crate::plan::{Check, Path};

/// Which samplers a check can apply to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// All.
    All,
    /// Those that receive a message.
    Message,
    /// Those that open their connection, and `http`.
    Open,
    /// `close`
    Close,
}

/// What a sampler gives a check to look at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reached {
    /// What kind of sampler it is like.
    pub(super) kind: &'static str,
    /// Whether it opens its connection.
    pub(super) opens: bool,
}

impl Reach {
    /// Whether a check of this reach can apply to such a sampler.
    pub(super) fn includes(self, Reached { kind, opens }: Reached) -> bool {
        match self {
            Self::All => true,
            Self::Message => matches!(kind, "request_response" | "single_read" | "read"),
            Self::Open => opens || kind == "http",
            Self::Close => kind == "close",
        }
    }
}

/// A check that holds no other, with its name in the plan and its path.
pub(super) struct Leaf {
    pub(super) reach: Reach,
    pub(super) name: &'static str,
    pub(super) path: Path,
}

/// The checks of which one is made up, in the order of the plan; `path` is the way to it.
pub(super) fn leaves(check: &Check, path: &Path) -> Vec<Leaf> {
    let mut found = Vec::new();
    collect(check, path, &mut found);
    found
}

fn collect(check: &Check, path: &Path, found: &mut Vec<Leaf>) {
    let (reach, name) = match check {
        Check::Contains(_) => (Reach::Message, "contains"),
        Check::Equals(_) => (Reach::Message, "equals"),
        Check::StartsWith(_) => (Reach::Message, "starts_with"),
        Check::EndsWith(_) => (Reach::Message, "ends_with"),
        Check::Regex(_) => (Reach::Message, "regex"),
        Check::FullMatch(_) => (Reach::Message, "full_match"),
        Check::Hex(_) => (Reach::Message, "hex"),
        Check::Json(_) => (Reach::Message, "json"),
        Check::Type(_) => (Reach::Message, "type"),
        Check::Size(_) => (Reach::Message, "size"),
        Check::Duration(_) => (Reach::All, "duration"),
        Check::Status(_) => (Reach::Open, "status"),
        Check::CloseStatus(_) => (Reach::Close, "close_status"),
        Check::Header(_) => (Reach::Open, "header"),
        Check::Subprotocol(_) => (Reach::Open, "subprotocol"),
        Check::PingPong(_) => (Reach::Message, "ping_pong"),
        Check::Not(inner) => return collect(inner, &path.key("not"), found),
        Check::AnyOf(checks) => return collect_all(&checks.0, &path.key("any_of"), found),
        Check::AllOf(checks) => return collect_all(&checks.0, &path.key("all_of"), found),
        Check::Text(Some(inner)) => return collect(inner, &path.key("text"), found),
        Check::Binary(Some(inner)) => return collect(inner, &path.key("binary"), found),
        Check::Text(None) => (Reach::Message, "text"),
        Check::Binary(None) => (Reach::Message, "binary"),
    };
    found.push(Leaf { reach, name, path: path.key(name) });
}

fn collect_all(checks: &[Check], path: &Path, found: &mut Vec<Leaf>) {
    for (index, check) in checks.iter().enumerate() {
        collect(check, &path.index(index), found);
    }
}
