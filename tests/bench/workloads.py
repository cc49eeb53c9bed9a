"""The work that all do, and the goals that wsmeter has in it."""

import statistics
from dataclasses import dataclass, field
from typing import Callable

MB_AT = {2_000: 14.0, 10_000: 40.0}


@dataclass
class Workload:
    letter: str
    title: str
    # closed, pushed, single or opens.
    kind: str
    seconds: int
    connections: int = 1
    bytes: int = 32
    rounds: int = 0
    goals: Callable = field(default=lambda results: [])

    @property
    def ramp_up(self) -> int:
        """In which so many connections are opened, in seconds, where it is not all at once."""
        return max(4, self.connections // 2_000)


def closed_loop(seconds: int) -> list[Workload]:
    title = "closed loop: 200 connections, 32 bytes"
    return [Workload("a", title, "closed", seconds, 200, goals=rate_goals)]


def pushes(seconds: int) -> list[Workload]:
    return [
        Workload("b", f"{count:,} connections, a message a second each", "pushed", seconds + 5, count, goals=memory_goal(count))
        for count in MB_AT
    ]


def growth(seconds: int) -> list[Workload]:
    counts = (1_000, 3_000, 10_000, 19_000, 30_000)
    return [Workload("g", f"growth: {count:,} connections, a message a second each", "pushed", seconds + 5, count) for count in counts]


def single(seconds: int) -> list[Workload]:
    title = "one connection, 20,000 round trips: what is reported"
    return [Workload("c", title, "single", seconds, rounds=20_000, goals=time_goals)]


def opens(seconds: int) -> list[Workload]:
    return [Workload("d", "open and close, one after the other", "opens", seconds)]


def sizes(seconds: int) -> list[Workload]:
    return [
        Workload("e", f"closed loop: 50 connections, {count:,} bytes", "closed", seconds, 50, count)
        for count in (8, 1024, 8 * 1024, 64 * 1024)
    ]


ALL = {"a": closed_loop, "b": pushes, "c": single, "d": opens, "e": sizes, "g": growth}


def pairs(results: dict, name: str, other: str, what: str) -> list[tuple[float, float]]:
    """Of each turn, the figures of both: the machine changes from turn to turn, but little within one."""
    both = [results.get(one) for one in (name, other)]
    if not all(isinstance(own, list) for own in both):
        return []
    return [(getattr(a, what), getattr(b, what)) for a, b in zip(*both) if getattr(a, what) and getattr(b, what)]


def ratio(results: dict, name: str, other: str, what: str = "rate") -> float | None:
    """The median over all turns; `None` where one of them has no figures."""
    ratios = [a / b for a, b in pairs(results, name, other, what)]
    return statistics.median(ratios) if ratios else None


def difference(results: dict, name: str, other: str, what: str) -> float | None:
    """The same of differences."""
    differences = [a - b for a, b in pairs(results, name, other, what)]
    return statistics.median(differences) if differences else None


def verdict(text: str, is_met: bool) -> str:
    return f"{text}: {'met' if is_met else 'NOT met'}"


def rate_goals(results: dict) -> list[str]:
    lines = []
    if bare := ratio(results, "wsmeter", "bare"):
        lines.append(verdict(f"at least 0.75 of the bare loop's rate, {bare:.2f}", bare >= 0.75))
    if k6 := ratio(results, "wsmeter", "k6"):
        lines.append(verdict(f"at least 7 times k6's rate, {k6:.1f}", k6 >= 7))
    more = difference(results, "wsmeter", "framed", "cpu_us")
    if more is not None:
        lines.append(verdict(f"at most 0.7 µs of CPU beyond the frame-level client, {more:.2f}", more <= 0.7))
    return lines


def memory_goal(connections: int) -> Callable:
    def goals(results: dict) -> list[str]:
        own, most = results.get("wsmeter"), MB_AT[connections]
        if not isinstance(own, list):
            return []
        ours = max(one.memory_mb for one in own)
        return [verdict(f"at most {most:.0f} MB, {ours:.1f}", ours <= most)]

    return goals


def time_goals(results: dict) -> list[str]:
    lines = []
    off = difference(results, "wsmeter", "bare", "p50_us")
    if off is not None:
        lines.append(verdict(f"p50 within 10 µs of the bare loop's, {off:+.1f}", abs(off) <= 10))
    off, true = difference(results, "wsmeter", "bare", "p99_us"), [b for _, b in pairs(results, "wsmeter", "bare", "p99_us")]
    if off is not None:
        bound = max(0.2 * statistics.median(true), 50)
        lines.append(verdict(f"p99 within {bound:.0f} µs of the bare loop's, {off:+.1f}", abs(off) <= bound))
    return lines
