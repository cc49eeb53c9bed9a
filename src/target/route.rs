//! Path and query to what the server does.

use std::fmt::Display;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use crate::target::request::Refusal;
use crate::ws::{NO_STATUS, may_be_sent};

/// The paths and their parameters, each with its default; what `/` answers.
pub const PATHS: &str = "\
/echo /push?hz=2 /slow?ms=1500 /stall?every=10000&ms=1000 /drop?after=5&code=1011 \
/cap?max=100&hz=2 /binary /fragment?n=3 /silent /rooms/NAME /flood?bytes=1024&max=0 \
/reject?status=403 /count; each also takes delay_upgrade_ms=0 and subprotocol=NAME (default: the \
first that is offered)";

/// Stands in `/drop?code=` for a close without a close frame (RFC 6455 7.1.5).
const ABNORMAL: u16 = 1006;

/// What is done with a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Route {
    pub(super) action: Action,
    /// Wait between the request and the answer.
    pub(super) delay: Duration,
    /// The subprotocol to choose, empty for none; `None` leaves it to what is offered.
    pub(super) subprotocol: Option<String>,
}

/// What a path stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Action {
    /// One line of text.
    Paths,
    /// The counters.
    Count,
    /// This status, whatever is asked.
    Reject(u16),
    /// A WebSocket connection.
    Serve {
        script: Script,
        /// At most this many such connections at once.
        cap: Option<u64>,
    },
}

/// What a WebSocket connection does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Script {
    /// Answers each message with itself.
    Echo,
    /// Sends this many messages a second and echoes.
    Push { hz: f64 },
    /// Echoes each message after a delay.
    Slow { delay: Duration },
    /// Echoes, but for a time that comes again and again: then it answers nobody until that is over.
    Stall { every: Duration, length: Duration },
    /// Echoes some messages, then ends.
    Drop { after: u64, ending: Ending },
    /// Echoes as binary.
    Binary,
    /// Echoes in this many fragments.
    Fragment { count: usize },
    /// Answers nothing but pings and closes.
    Silent,
    /// Sends each message to all in the room, whose name has this number.
    Room { number: u64 },
    /// Sends text messages of this size as fast as they are taken; `None` without end.
    Flood { bytes: usize, max: Option<u64> },
}

/// How the server ends a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// A close frame with this code; [`NO_STATUS`] for none.
    Close(u16),
    /// The end of the stream, without a close frame.
    EndOfStream,
    /// A TCP reset.
    Reset,
}

/// Reads a request target: path and query.
///
/// A parameter that no path knows is passed over, so that plans can carry tokens and names; one that
/// only another path knows, a repeated one, and a bad value are refused.
pub(super) fn route(target: &str) -> Result<Route, Refusal> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut query = Query::new(path, query)?;
    let action = match path {
        "/" => Action::Paths,
        "/count" => Action::Count,
        "/reject" => Action::Reject(query.number("status", 403, 200..=599)?),
        "/cap" => {
            let cap = Some(query.number("max", 100, 0..=u64::MAX)?);
            Action::Serve { script: Script::Push { hz: query.hz()? }, cap }
        }
        _ => Action::Serve { script: script(path, &mut query)?, cap: None },
    };
    let delay = query.number("delay_upgrade_ms", 0, 0..=600_000)?;
    let subprotocol = query.take("subprotocol").map(str::to_owned);
    query.finish()?;
    Ok(Route { action, delay: Duration::from_millis(delay), subprotocol })
}

fn script(path: &str, query: &mut Query<'_>) -> Result<Script, Refusal> {
    Ok(match path {
        "/echo" => Script::Echo,
        "/push" => Script::Push { hz: query.hz()? },
        "/slow" => {
            let delay = query.number("ms", 1_500, 0..=600_000)?;
            Script::Slow { delay: Duration::from_millis(delay) }
        }
        "/stall" => {
            let every = query.number("every", 10_000, 1..=600_000)?;
            let length = query.number("ms", 1_000.min(every), 0..=every)?;
            let [every, length] = [every, length].map(Duration::from_millis);
            Script::Stall { every, length }
        }
        "/drop" => Script::Drop {
            after: query.number("after", 5, 0..=u64::MAX)?,
            ending: ending(query.number("code", 1_011, 0..=u16::MAX)?)?,
        },
        "/binary" => Script::Binary,
        // The upper bound keeps what one read of tiny messages can make the server send at 2 MiB.
        "/fragment" => Script::Fragment { count: query.number("n", 3, 1..=100)? },
        "/silent" => Script::Silent,
        room if room.strip_prefix("/rooms/").is_some_and(|name| !name.is_empty()) => {
            let mut hasher = DefaultHasher::new();
            room.hash(&mut hasher);
            Script::Room { number: hasher.finish() }
        }
        "/flood" => {
            let bytes = query.number("bytes", 1_024, 0..=1 << 20)?;
            let max = query.number("max", 0, 0..=u64::MAX)?;
            Script::Flood { bytes, max: (max > 0).then_some(max) }
        }
        _ => {
            return Err(Refusal::new(404, format!("no path {path:?} here; there are {PATHS}")));
        }
    })
}

fn ending(code: u16) -> Result<Ending, Refusal> {
    match code {
        0 => Ok(Ending::Reset),
        ABNORMAL => Ok(Ending::EndOfStream),
        _ if code == NO_STATUS || may_be_sent(code) => Ok(Ending::Close(code)),
        _ => Err(Refusal::new(
            400,
            format!(
                "code={code} must not be sent (RFC 6455 7.4); besides the valid codes there are \
                 0 (TCP reset), 1005 (close frame without a code), 1006 (no close frame)"
            ),
        )),
    }
}

/// All parameters of all paths.
const PARAMETERS: [&str; 11] = [
    "hz",
    "ms",
    "every",
    "after",
    "code",
    "max",
    "n",
    "bytes",
    "status",
    "delay_upgrade_ms",
    "subprotocol",
];

/// The parameters of one request, taken one by one.
struct Query<'a> {
    path: &'a str,
    rest: Vec<(&'a str, &'a str)>,
}

impl<'a> Query<'a> {
    fn new(path: &'a str, query: &'a str) -> Result<Self, Refusal> {
        let mut rest: Vec<(&str, &str)> = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if !PARAMETERS.contains(&name) {
                continue;
            }
            if rest.iter().any(|(other, _)| *other == name) {
                return Err(Refusal::new(400, format!("{name} is given twice")));
            }
            rest.push((name, value));
        }
        Ok(Self { path, rest })
    }

    fn take(&mut self, name: &str) -> Option<&'a str> {
        let index = self.rest.iter().position(|(other, _)| *other == name)?;
        Some(self.rest.swap_remove(index).1)
    }

    fn number<T>(&mut self, name: &str, default: T, range: RangeInclusive<T>) -> Result<T, Refusal>
    where
        T: FromStr + PartialOrd + Display,
    {
        let Some(text) = self.take(name) else { return Ok(default) };
        text.parse().ok().filter(|value| range.contains(value)).ok_or_else(|| {
            Refusal::new(
                400,
                format!("{name}={text}: not a number from {} to {}", range.start(), range.end()),
            )
        })
    }

    fn hz(&mut self) -> Result<f64, Refusal> {
        self.number("hz", 2.0, 0.001..=10_000.0)
    }

    fn finish(self) -> Result<(), Refusal> {
        match self.rest.first() {
            None => Ok(()),
            Some((name, _)) => {
                Err(Refusal::new(400, format!("{} takes no {name}; there are {PATHS}", self.path)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script_of(target: &str) -> Script {
        match route(target).unwrap().action {
            Action::Serve { script, .. } => script,
            other => panic!("{target} is {other:?}"),
        }
    }

    #[test]
    fn paths_without_parameters_get_their_defaults() {
        assert_eq!(script_of("/echo"), Script::Echo);
        assert_eq!(script_of("/push"), Script::Push { hz: 2.0 });
        assert_eq!(script_of("/slow"), Script::Slow { delay: Duration::from_millis(1_500) });
        assert_eq!(script_of("/drop"), Script::Drop { after: 5, ending: Ending::Close(1011) });
        assert_eq!(script_of("/fragment"), Script::Fragment { count: 3 });
        assert_eq!(script_of("/flood"), Script::Flood { bytes: 1024, max: None });
        assert_eq!(route("/reject").unwrap().action, Action::Reject(403));
        let cap = Action::Serve { script: Script::Push { hz: 2.0 }, cap: Some(100) };
        assert_eq!(route("/cap").unwrap().action, cap);
    }

    #[test]
    fn the_text_of_the_paths_is_true() {
        let (paths, _) = PATHS.split_once(';').unwrap();
        for target in paths.split(' ') {
            let path = target.split('?').next().unwrap();
            assert_eq!(route(target).unwrap(), route(path).unwrap(), "{target}");
        }
    }

    #[test]
    fn the_special_codes_of_drop_are_ways_to_end() {
        let ending = |target| match script_of(target) {
            Script::Drop { ending, .. } => ending,
            other => panic!("{other:?}"),
        };
        assert_eq!(ending("/drop?code=0"), Ending::Reset);
        assert_eq!(ending("/drop?code=1005"), Ending::Close(NO_STATUS));
        assert_eq!(ending("/drop?code=1006"), Ending::EndOfStream);
        assert_eq!(ending("/drop?after=1&code=4001"), Ending::Close(4001));
    }

    #[test]
    fn bad_parameters_are_refused_by_name() {
        let cases = [
            ("/push?hz=0", "hz=0: not a number from 0.001 to 10000"),
            ("/push?hz=NaN", "hz=NaN: not"),
            ("/slow?ms=-1", "ms=-1: not"),
            ("/stall?every=5&ms=6", "ms=6: not a number from 0 to 5"),
            ("/fragment?n=0", "n=0: not"),
            ("/drop?code=999", "code=999 must not be sent"),
            ("/reject?status=101", "status=101: not"),
            ("/echo?hz=2", "/echo takes no hz"),
            ("/slow?ms=1&ms=2", "ms is given twice"),
            ("/cap?max=", "max=: not"),
        ];
        for (target, text) in cases {
            let refusal = route(target).unwrap_err();
            assert_eq!(refusal.status, 400, "{target}");
            assert!(refusal.text.starts_with(text), "{target}: {}", refusal.text);
        }
        assert_eq!(route("/chat").unwrap_err().status, 404);
    }

    #[test]
    fn parameters_that_no_path_knows_are_passed_over() {
        assert_eq!(script_of("/echo?token=abc&user=7"), Script::Echo);
    }

    #[test]
    fn every_path_takes_a_delay() {
        let route = route("/silent?delay_upgrade_ms=250").unwrap();
        assert_eq!(route.delay, Duration::from_millis(250));
    }
}
