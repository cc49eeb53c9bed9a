"""Runs twin plans: the same steps in JMeter and in wsmeter, which asks its embedded server."""

import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from jmx import element

ROOT = Path(__file__).resolve().parents[2]
JAR = ROOT / "target/jmeter/bin/ApacheJMeter.jar"
WSMETER = os.environ.get("WSMETER", ROOT / "target/release/wsmeter")
# What a Debug Sampler does not show. It needs no network.
QUIET = {"displayJMeterProperties": False, "displayJMeterVariables": False, "displaySystemProperties": False}


def ask(*labels: str) -> str:
    """JMeter's samplers: each passes at once."""
    return "".join(element("DebugSampler", label, QUIET) for label in labels)


def run_both(theirs: str, ours: str) -> tuple[list[dict], list[dict]]:
    """The rows of both, in the order of their files."""
    with tempfile.TemporaryDirectory() as work:
        Path(work, "twin.jmx").write_text(theirs, encoding="utf-8")
        Path(work, "twin.yaml").write_text(ours, encoding="utf-8")
        run(["java", "-jar", JAR, "-n", "-t", "twin.jmx", "-l", "theirs.jtl", "-j", "log"], work)
        run([WSMETER, "run", "--serve", "twin.yaml", "-l", "ours.jtl", "-q", "--no-progress"], work)
        return rows(Path(work, "theirs.jtl")), rows(Path(work, "ours.jtl"))


def rows(jtl: Path) -> list[dict]:
    with open(jtl, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def run(command: list, work: str) -> None:
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, timeout=60, check=False)
    # Some samplers are to fail.
    if done.returncode not in (0, 1):
        sys.exit(f"{command[0]}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
