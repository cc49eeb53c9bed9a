"""A server as a process of its own, which ends with the script whatever happens."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

# Seconds for a server to say that it is ready, and for all that is done with it.
READY = 60
LIFETIME = 300


class Failed(Exception):
    """A server or a proof did not do what it must."""


def tied(command: list) -> list:
    """The command, killed by the kernel if this script dies without ending it."""
    setpriv = shutil.which("setpriv")
    tie = [setpriv, "--pdeathsig", "KILL"] if setpriv else []
    return [str(part) for part in [*tie, *command]]


def kill(process: subprocess.Popen) -> None:
    """Ends the server with all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


@contextlib.contextmanager
def started(name: str, command: list, log: Path) -> Iterator[dict]:
    """Starts a server that prints its port when it is ready, or several by name; gives them by name."""
    with open(log, "wb") as errors:
        server = subprocess.Popen(
            tied(command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True,
            start_new_session=True,
        )
    unready = threading.Timer(READY, kill, [server])
    lifetime = threading.Timer(LIFETIME, kill, [server])
    unready.start()
    lifetime.start()
    try:
        line = server.stdout.readline().strip()
        unready.cancel()
        if not line.startswith("{") and not line.isdigit():
            raise Failed(f"{name} did not start: {log.read_text(errors='replace').strip()}")
        ports = json.loads(line)
        yield ports if isinstance(ports, dict) else {"port": ports}
        if server.poll() is not None:
            told = log.read_text(errors="replace").strip()
            raise Failed(f"{name} ended on its own, with {server.returncode}: {told}")
    finally:
        unready.cancel()
        lifetime.cancel()
        kill(server)
        server.wait()
