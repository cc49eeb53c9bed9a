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


def closed_loop(seconds: int) -> list[Workload]:
    title = "closed loop: 200 connections, 32 bytes"
    return [Workload("a", title, "closed", seconds, 200, goals=rate_goals)]


def pushes(seconds: int) -> list[Workload]:
    return [
        Workload("b", f"{count:,} connections, a message a second each", "pushed", seconds + 5, count, goals=memory_goal(count))
        for count in MB_AT
    ]


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


ALL = {"a": closed_loop, "b": pushes, "c": single, "d": opens, "e": sizes}


def median(results: dict, name: str, what: str) -> float | None:
    own = results.get(name)
    values = [getattr(one, what) for one in own] if isinstance(own, list) else []
    return statistics.median(values) if values and None not in values else None


def verdict(text: str, is_met: bool) -> str:
    return f"{text}: {'met' if is_met else 'NOT met'}"


def rate_goals(results: dict) -> list[str]:
    ours, lines = median(results, "wsmeter", "rate"), []
    if ours and (bare := median(results, "bare", "rate")):
        lines.append(verdict(f"at least 0.75 of the bare loop's rate, {ours / bare:.2f}", ours / bare >= 0.75))
    if ours and (k6 := median(results, "k6", "rate")):
        lines.append(verdict(f"at least 7 times k6's rate, {ours / k6:.1f}", ours / k6 >= 7))
    if framed := median(results, "framed", "cpu_us"):
        more = median(results, "wsmeter", "cpu_us") - framed
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
    p50, true = median(results, "wsmeter", "p50_us"), median(results, "bare", "p50_us")
    if p50 and true:
        lines.append(verdict(f"p50 within 10 µs of the bare loop's, {p50 - true:+.1f}", abs(p50 - true) <= 10))
    p99, true = median(results, "wsmeter", "p99_us"), median(results, "bare", "p99_us")
    if p99 and true:
        bound = max(0.2 * true, 50)
        lines.append(verdict(f"p99 within {bound:.0f} µs of the bare loop's, {p99 - true:+.1f}", abs(p99 - true) <= bound))
    return lines
