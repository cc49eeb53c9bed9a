"""Runs a process on a core of its own and watches what it costs."""

import contextlib
import os
import resource
import subprocess
import threading
import time
from pathlib import Path

import install

SERVER_CORE, CLIENT_CORE = "1", "0"
TICK = os.sysconf("SC_CLK_TCK")


class Server:
    """The bare server, which every client can be measured against: it is never the limit."""

    def __init__(self, seconds: int):
        command = ["taskset", "-c", SERVER_CORE, str(install.get("bare")), "serve", str(seconds)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> "Server":
        self.port = int(self.process.stdout.readline())
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()
        self.process.wait()


class Watched:
    """What a process and its children came to."""

    def __init__(self, command: list, seconds: float, **options):
        """Runs it to its end; kills it, and fails, if that takes `seconds` and a minute and a half."""
        before = cpu_of_children()
        words = ["taskset", "-c", CLIENT_CORE, *map(str, command)]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        self.peaks: dict[int, int] = {}
        # CPU time of all, by time.
        self.samples = [(time.monotonic(), 0.0)]
        watcher = threading.Thread(target=self.watch, daemon=True)
        watcher.start()
        try:
            self.output, self.errors = self.process.communicate(timeout=seconds + 90)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise RuntimeError(f"`{words[3]}` did not end") from None
        watcher.join()
        # To the microsecond; what the server costs is counted when it is waited for, after this.
        self.cpu_seconds = cpu_of_children() - before
        if self.process.returncode != 0:
            raise RuntimeError(f"`{' '.join(words[3:])}` failed: {self.errors[-2000:]}{self.output[-2000:]}")

    def watch(self) -> None:
        before: dict[int, float] = {}
        while self.process.poll() is None:
            for pid in family(self.process.pid):
                with contextlib.suppress(OSError, StopIteration, IndexError):
                    self.peaks[pid] = peak_kb(pid)
                    before[pid] = cpu(pid)
            self.samples.append((time.monotonic(), sum(before.values())))
            time.sleep(0.05)

    @property
    def memory_mb(self) -> float:
        return sum(self.peaks.values()) / 1024

    def cores(self, window: float) -> float:
        """How many cores it kept busy in the middle half of its last `window` seconds."""
        end = self.samples[-1][0]
        inside = [one for one in self.samples if window * 0.75 >= end - one[0] >= window * 0.25]
        if len(inside) < 2:
            return 0.0
        (first, before), (last, after) = inside[0], inside[-1]
        return (after - before) / (last - first)


def cpu_of_children() -> float:
    """User and system time of all that have been waited for, and of theirs, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def family(pid: int) -> list[int]:
    """The process and its descendants."""
    found = [pid]
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += family(int(child))
    return found


def peak_kb(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def cpu(pid: int) -> float:
    """User and system time so far, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK
