"""One plan against one server, and the rows that it must give."""

import csv
import json
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from harness.install import HERE, WORK
from harness.partner import Failed

# Seconds for one run.
DEADLINE = 120


@dataclass
class Proof:
    """What a plan shows of a server."""

    # What is proved, for people.
    feature: str
    # The plan, from tests/servers.
    plan: str
    # (label, responseCode, success): how many rows; nothing else may be there.
    rows: dict
    exit_code: int = 0
    # The URL of the server: `{port}` stands for its port.
    url: str = "ws://127.0.0.1:{port}/"
    # Further properties; `{work}` stands for target/servers, `{name}` for a port that the server prints by name.
    properties: dict = field(default_factory=dict)
    # Label: what must be in the failureMessage of each of its rows that failed.
    failures: dict = field(default_factory=dict)
    # Label: figures of summary.json by name.
    summary: dict = field(default_factory=dict)
    # Figures of all handshakes in summary.json by name.
    handshake: dict = field(default_factory=dict)


def prove(proof: Proof, server: str, ports: dict, wsmeter: Path) -> str:
    """Runs the plan. Gives what to say of it, or fails with what is wrong."""
    output = WORK / f"{results_of(server, proof)}-results"
    shutil.rmtree(output, ignore_errors=True)
    properties = {"target": proof.url, **proof.properties}
    given = [f"{name}={value.format(work=WORK, **ports)}" for name, value in properties.items()]
    command = [wsmeter, "run", HERE / proof.plan, "-o", output, "--no-progress"]
    command += [part for pair in given for part in ("-J", pair)]
    done = subprocess.run(
        [str(part) for part in command], timeout=DEADLINE, check=False, capture_output=True, text=True,
    )
    if done.returncode != proof.exit_code:
        raise Failed(f"exit code {done.returncode}, not {proof.exit_code}:\n{done.stderr.strip()}")
    if proof.exit_code == 2:
        return "refused as it must be"
    with open(output / "samples.jtl", newline="", encoding="utf-8") as jtl:
        rows = list(csv.DictReader(jtl))
    compare(proof, rows)
    summary = json.loads((output / "summary.json").read_text(encoding="utf-8"))
    for label, figures in proof.summary.items():
        agree(label, summary["labels"].get(label, {}), figures)
    agree("handshake", summary["connections"]["handshake"], proof.handshake)
    return f"all {len(rows)} rows as expected"


def agree(what: str, told: dict, figures: dict) -> None:
    """Compares figures of the summary."""
    seen = {name: told.get(name) for name in figures}
    if seen != figures:
        raise Failed(f"the summary says {seen} of `{what}`, not {figures}")


def results_of(server: str, proof: Proof) -> str:
    """The name of the folder of results, without its ending."""
    part = Path(proof.plan).stem
    return server if part in ("plan", "echo") else f"{server}-{part}"


def compare(proof: Proof, rows: list) -> None:
    """Compares the rows with those that must be there."""
    seen = Counter((row["label"], row["responseCode"], row["success"]) for row in rows)
    expected = Counter(proof.rows)
    wrong = [f"{count} x {row} too many" for row, count in sorted((seen - expected).items())]
    wrong += [f"{count} x {row} missing" for row, count in sorted((expected - seen).items())]
    for row in rows:
        label, message = row["label"], row["failureMessage"]
        cause = proof.failures.get(label)
        if cause and row["success"] == "false" and cause not in message:
            wrong.append(f"`{label}` failed with {message!r}, not with {cause!r}")
    if wrong:
        failed = [f"{row['label']}: {row['failureMessage']}" for row in rows if row["success"] == "false"]
        raise Failed("\n  ".join([*wrong, "failures:", *sorted(set(failed))]))
