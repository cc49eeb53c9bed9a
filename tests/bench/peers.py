"""How each peer does each workload, and where it says what came of it."""

import json
import os
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from measure import Watched
from workloads import Workload

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "jmeter"))
from jmx import crowd, element, plan


class DoesNot(Exception):
    """Why a peer has no figures for a workload."""


@dataclass
class Result:
    rate: float | None
    # Of each message; none where they were not counted.
    cpu_us: float | None
    cores: float
    memory_mb: float
    p50_us: float | None = None
    p99_us: float | None = None


def result(watched: Watched, count: float | None, seconds: float, window: float, **times) -> Result:
    if count is None:
        return Result(None, None, watched.cores(window), watched.memory_mb)
    cpu_us = watched.cpu_seconds / max(count, 1) * 1e6
    return Result(count / seconds, cpu_us, watched.cores(window), watched.memory_mb, **times)


def told(watched: Watched, work: Workload) -> Result:
    """What it printed as one line of JSON."""
    line = json.loads(watched.output.strip().splitlines()[-1])
    times = {key: line.get(key) for key in ("p50_us", "p99_us")}
    return result(watched, line["count"], line["seconds"], work.seconds, **times)


class Peer:
    def __init__(self, path: Path):
        self.path = path


class Bare(Peer):
    def run(self, work: Workload, port: int) -> Result:
        numbers = {
            "closed": (work.connections, work.bytes, work.seconds),
            "single": (work.bytes, work.rounds),
            "pushed": (work.connections, work.seconds),
            "opens": (work.seconds,),
        }[work.kind]
        return told(Watched([self.path, work.kind, port, *numbers], work.seconds), work)


class Framed(Peer):
    def run(self, work: Workload, port: int) -> Result:
        if work.kind != "closed":
            raise DoesNot("does the closed loop only")
        return told(Watched([self.path, "framed", port, work.connections, work.bytes, work.seconds], work.seconds), work)


class Wsmeter(Peer):
    def run(self, work: Workload, port: int) -> Result:
        with tempfile.TemporaryDirectory() as folder:
            properties = {
                "target": f"ws://127.0.0.1:{port}",
                "connections": work.connections,
                "text": "x" * work.bytes,
                "rounds": work.rounds,
                "ramp_up": f"{work.ramp_up}s",
                "duration": f"{work.seconds + work.ramp_up if work.kind == 'pushed' else work.seconds}s",
            }
            words = [word for key, value in properties.items() for word in ("-J", f"{key}={value}")]
            plan = HERE / f"plans/{work.kind}.yaml"
            command = [self.path, "run", plan, "-o", f"{folder}/results", "--no-progress", *words]
            watched = Watched(command, work.seconds)
            summary = json.loads(Path(f"{folder}/results/summary.json").read_text())
        say = summary["labels"]["say"]
        seconds = say["count"] / say["rate_per_s"]
        samples = summary["labels"]["say"]["count"]
        times = {"p50_us": say["p50_ms"] * 1000, "p99_us": say["p99_ms"] * 1000} if work.kind == "single" else {}
        return result(watched, samples, seconds, work.seconds, **times)


class K6(Peer):
    # A tenth of the speed is known well enough after one turn less.
    REPEAT = 2

    def run(self, work: Workload, port: int) -> Result:
        if work.connections > 2_000:
            raise DoesNot("not measured beyond 2,000 connections: it takes about 0.2 MB each")
        names = {"CONNECTIONS": work.connections, "BYTES": work.bytes, "SECONDS": work.seconds, "ROUNDS": work.rounds, "PORT": port}
        environment = {**os.environ, **{key: str(value) for key, value in names.items()}}
        command = [self.path, "run", "--quiet", "--no-usage-report", "--log-output=none", HERE / f"peers/{work.kind}.js"]
        return told(Watched(command, work.seconds, env=environment), work)


class Node(Peer):
    def run(self, work: Workload, port: int) -> Result:
        numbers = (work.connections, work.bytes, work.seconds, work.rounds)
        return told(Watched(["node", HERE / "peers/node.js", self.path, work.kind, port, *numbers], work.seconds), work)


class Artillery(Peer):
    REPEAT = 1
    EACH = 200

    def run(self, work: Workload, port: int) -> Result:
        if work.kind not in ("closed", "pushed") or work.connections > 2_000:
            raise DoesNot("opens as its arrivals come, and was not measured beyond 2,000 connections")
        path, flow, window = "/push?hz=1", {"think": work.seconds}, work.seconds
        if work.kind == "closed":
            # It waits for an answer only where it captures something of it.
            text = f'{{"id":"{"a" * max(work.bytes - 9, 1)}"}}'
            send = {"send": {"payload": text, "capture": {"json": "$.id", "as": "id"}}}
            path, flow, window = "/echo", {"loop": [send], "count": self.EACH}, 0
        script = {
            "config": {"target": f"ws://127.0.0.1:{port}{path}", "phases": [{"duration": 1, "arrivalCount": work.connections}]},
            "scenarios": [{"engine": "ws", "flow": [flow]}],
        }
        with tempfile.TemporaryDirectory() as folder:
            Path(f"{folder}/plan.json").write_text(json.dumps(script))
            environment = {**os.environ, "ARTILLERY_DISABLE_TELEMETRY": "true", "HOME": folder}
            command = [self.path, "run", "--quiet", "--output", f"{folder}/report.json", f"{folder}/plan.json"]
            watched = Watched(command, 60, env=environment)
            if work.kind == "pushed":
                return result(watched, None, 0, window)
            report = json.loads(Path(f"{folder}/report.json").read_text())["aggregate"]
        seconds = (report["lastCounterAt"] - report["firstCounterAt"]) / 1000
        return result(watched, report["counters"]["websocket.messages_sent"], seconds, seconds)


class Tsung(Peer):
    REPEAT = 1

    def run(self, work: Workload, port: int) -> Result:
        if work.kind not in ("closed", "pushed") or work.connections > 2_000:
            raise DoesNot("opens as its arrivals come, and was not measured beyond 2,000 connections")
        text = (HERE / f"peers/tsung-{work.kind}.xml").read_text()
        # Its statistics come every 10 seconds, so it runs for two and a half of them.
        names = {"PORT": port, "CONNECTIONS": work.connections, "TEXT": "x" * work.bytes, "SECONDS": 25}
        for key, value in names.items():
            text = text.replace(f"@{key}@", str(value))
        with tempfile.TemporaryDirectory() as folder:
            Path(f"{folder}/plan.xml").write_text(text)
            environment = {**os.environ, "HOME": folder}
            command = [self.path, "-f", f"{folder}/plan.xml", "-l", folder, "-n", "start"]
            watched = Watched(command, 25, env=environment, cwd=folder)
            log = next(Path(folder).glob("*/tsung.log")).read_text()
        if work.kind == "pushed":
            return result(watched, None, 0, 20)
        # `stats: request COUNT …` of each 10 seconds; the one in the middle is whole.
        counts = [int(count) for count in re.findall(r"stats: request (\d+) ", log)]
        if len(counts) < 2:
            raise DoesNot("told no figures")
        return result(watched, counts[1], 10, 25)


class JMeter(Peer):
    REPEAT = 1

    def run(self, work: Workload, port: int) -> Result:
        if work.kind == "single" or work.connections > 2_000:
            raise DoesNot("has a clock of milliseconds, and was not measured beyond 2,000 connections")
        steps = self.steps(work.kind, {"server": "127.0.0.1", "port": str(port), "TLS": False}, work.bytes)
        seconds = work.seconds + 5
        with tempfile.TemporaryDirectory() as folder:
            Path(f"{folder}/plan.jmx").write_text(plan(crowd("all", work.connections, seconds, steps)))
            command = ["java", "-Xmx1g", "-jar", self.path, "-n", "-t", f"{folder}/plan.jmx", "-l", f"{folder}/rows.jtl", "-j", f"{folder}/log"]
            watched = Watched(command, seconds + 30)
            rows = [line.split(",", 3) for line in Path(f"{folder}/rows.jtl").read_text().splitlines()[1:]]
        starts = [int(row[0]) for row in rows if row[2] == "say"]
        # The first seconds are the virtual machine's warming up, which a long run does not have.
        begin, end = min(starts) + 5_000, max(starts)
        inside = sum(begin <= start < end for start in starts)
        cpu_of_all = watched.cpu_seconds / max(len(starts), 1) * 1e6
        return Result(inside / (end - begin) * 1000, cpu_of_all, watched.cores(work.seconds), watched.memory_mb)


    @staticmethod
    def steps(kind: str, server: dict, count: int) -> str:
        def sampler(name: str, label: str, **more) -> str:
            waits = {"connectTimeout": "20000", "readTimeout": "6000"}
            return element(f"eu.luminis.jmeter.wssampler.{name}", label, server | waits | more)

        if kind == "opens":
            return sampler("OpenWebSocketSampler", "say", path="/echo") + sampler("CloseWebSocketSampler", "close", statusCode="1000")
        path = "/push?hz=1" if kind == "pushed" else "/echo"
        opened = element("OnceOnlyController", "once", {}, sampler("OpenWebSocketSampler", "open", path=path))
        if kind == "pushed":
            return opened + sampler("SingleReadWebSocketSampler", "say", createNewConnection=False, dataType="Any", optional=False)
        own = {"createNewConnection": False, "payloadType": "Text", "requestData": "x" * count, "loadDataFromFile": False, "dataFile": ""}
        return opened + sampler("RequestResponseWebSocketSampler", "say", path=path, **own)


ALL = {"bare": Bare, "framed": Framed, "wsmeter": Wsmeter, "node": Node, "k6": K6, "tsung": Tsung, "artillery": Artillery, "jmeter": JMeter}
