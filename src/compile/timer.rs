//! What makes a thread wait: `pause` and `timers`, `pace`, `rendezvous`.

use std::time::Duration;

use crate::compile::compiler::Compiler;
use crate::plan::{self, At, List, Path, Problem, TextOr, Time};
use crate::program::{CounterId, Pace, PaceShare, Pause, Rendezvous, Setting};

/// How long threads wait for each other where the plan does not say.
const RENDEZVOUS_TIMEOUT: Duration = Duration::from_secs(30);

impl Compiler<'_> {
    pub(super) fn pause(&mut self, pause: &plan::Pause, path: &Path) -> Option<Pause> {
        let given = [
            ("constant", pause.constant.is_some()),
            ("uniform", pause.uniform.is_some()),
            ("gaussian", pause.gaussian.is_some()),
            ("exponential", pause.exponential.is_some()),
            ("poisson", pause.poisson.is_some()),
        ];
        let given: Vec<&str> =
            given.iter().filter(|(_, is_given)| *is_given).map(|(key, _)| *key).collect();
        match given.as_slice() {
            [_] => {}
            [] => {
                // An entry of `timers` has no key of its own.
                let key = path.last_key().unwrap_or("pause");
                let problem = Problem::error(path, format!("`{key}` does not say how long"));
                self.note(
                    problem.at(At::Key).help("write a duration, `1s`, or `{ uniform: [1s, 2s] }`"),
                );
                return None;
            }
            [one, other, ..] => {
                let key = path.last_key().unwrap_or("pause");
                let problem =
                    Problem::error(path, format!("`{key}` has both `{one}` and `{other}`"));
                self.note(problem.at(At::Key).help("give one of them"));
                return None;
            }
        }
        if let Some(time) = &pause.constant {
            return self.setting(time, &path.key("constant")).map(Pause::Constant);
        }
        if let Some(ends) = &pause.uniform {
            return self.uniform(ends, &path.key("uniform"));
        }
        if let Some(settings) = &pause.gaussian {
            return self.gaussian(settings, &path.key("gaussian"));
        }
        if let Some(mean) = &pause.exponential {
            return self.setting(mean, &path.key("exponential")).map(Pause::Exponential);
        }
        let mean = pause.poisson.as_ref()?;
        self.setting(mean, &path.key("poisson")).map(Pause::Poisson)
    }

    fn uniform(&mut self, ends: &List<plan::Setting<Time>>, path: &Path) -> Option<Pause> {
        let [min, max] = ends.0.as_slice() else {
            let problem = Problem::error(path, "`uniform` takes two durations");
            self.note(problem.help("write `uniform: [500ms, 1500ms]`"));
            return None;
        };
        let min: Option<Setting<Duration>> = self.setting(min, &path.index(0));
        let max = self.setting(max, &path.index(1));
        let (min, max) = (min?, max?);
        if let (Setting::Fixed(least), Setting::Fixed(most)) = (&min, &max)
            && least > most
        {
            let title =
                format!("the ends of `uniform` are the wrong way round: {least:?} > {most:?}");
            let problem = Problem::error(path, title);
            self.note(problem.help(format!("write `uniform: [{most:?}, {least:?}]`")));
            return None;
        }
        Some(Pause::Uniform(min, max))
    }

    fn gaussian(&mut self, settings: &plan::Gaussian, path: &Path) -> Option<Pause> {
        let help = "write `gaussian: { mean: 1s, deviation: 200ms }`";
        for (key, is_given) in
            [("mean", settings.mean.is_some()), ("deviation", settings.deviation.is_some())]
        {
            if !is_given {
                let problem = Problem::error(path, format!("`gaussian` has no `{key}`"));
                self.note(problem.at(At::Key).help(help));
            }
        }
        let mean = settings.mean.as_ref().and_then(|mean| self.setting(mean, &path.key("mean")));
        let deviation = settings
            .deviation
            .as_ref()
            .and_then(|deviation| self.setting(deviation, &path.key("deviation")));
        Some(Pause::Gaussian { mean: mean?, deviation: deviation? })
    }

    /// The list `timers` at `path`.
    pub(super) fn timers(&mut self, timers: &[TextOr<plan::Pause>], path: &Path) -> Vec<Pause> {
        let mut compiled = Vec::new();
        for (index, timer) in timers.iter().enumerate() {
            let path = path.index(index);
            compiled.extend(match timer {
                TextOr::Text(time) => self.setting(time, &path).map(Pause::Constant),
                TextOr::Settings(pause) => self.pause(pause, &path),
            });
        }
        compiled
    }

    pub(super) fn pace(&mut self, pace: &plan::Pace, path: &Path) -> Option<Pace> {
        let share = match &pace.share {
            Some(share) => self.fixed(share, &path.key("share")),
            None => Some(PaceShare::Thread),
        };
        let Some(rate) = &pace.rate else {
            let problem = Problem::error(path, "`pace` does not say how often").at(At::Key);
            self.note(problem.help("write `pace: 10/m`, or `pace: { rate: 50/s, share: group }`"));
            return None;
        };
        let rate = self.setting(rate, &path.key("rate"));
        let next = CounterId(self.counters);
        self.counters = self.counters.saturating_add(1);
        Some(Pace { rate: rate?, share: share?, next })
    }

    pub(super) fn rendezvous(&mut self, own: &plan::Rendezvous, path: &Path) -> Option<Rendezvous> {
        let all = self.group_threads;
        let threads = match &own.threads {
            Some(threads) => {
                let path = path.key("threads");
                let threads: u32 = self.fixed(threads, &path)?;
                let wrong = match (threads, all) {
                    (0, _) => Some("a `rendezvous` of no threads has none to wait for".to_owned()),
                    (_, Some(all)) if threads > all => {
                        Some(format!("{threads} threads cannot meet here: the group has {all}"))
                    }
                    _ => None,
                };
                if let Some(title) = wrong {
                    let help = "leave `threads` out for all threads of the group";
                    self.note(Problem::error(&path, title).help(help));
                    return None;
                }
                threads
            }
            // The group's own number is wrong, and that is noted.
            None => all.unwrap_or(1),
        };
        let timeout = match &own.timeout {
            Some(timeout) => self.timeout(timeout, &path.key("timeout"))?,
            None => Setting::Fixed(RENDEZVOUS_TIMEOUT),
        };
        let index = self.rendezvous;
        self.rendezvous += 1;
        Some(Rendezvous { threads, timeout, index })
    }
}
