"""Installs servers by name under target/servers; most function gives the command that starts one."""

import shutil
import subprocess
import sys
import venv
from pathlib import Path

from harness import certificates

HERE = Path(__file__).resolve().parents[1]
WORK = HERE.parents[1] / "target/servers"
# Seconds for one installation.
DEADLINE = 300


def run(command: list, **options) -> subprocess.CompletedProcess:
    """Runs a command to its end, which must be a good one."""
    return subprocess.run([str(part) for part in command], check=True, timeout=DEADLINE, **options)


def node(name: str) -> list:
    """The server in the folder `name` with the packages of its package.json."""
    folder = WORK / name
    shutil.copytree(HERE / name, folder, dirs_exist_ok=True)
    run(["npm", "install", "--silent", "--no-audit", "--no-fund"], cwd=folder)
    return ["node", folder / "server.mjs"]


def python(name: str) -> list:
    """The server in the folder `name` with the packages of its requirements.txt."""
    folder = WORK / name
    if not folder.exists():
        venv.create(folder, with_pip=True)
    interpreter = folder / "bin/python"
    install = [interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run([*install, "-r", HERE / name / "requirements.txt"])
    return [interpreter, HERE / name / "server.py"]


def java(name: str) -> list:
    """The one class in the folder `name` with the libraries of its pom.xml; it may write to a folder."""
    folder = WORK / name
    libraries = folder / "libraries"
    source = next((HERE / name).glob("*.java"))
    pom = (HERE / name / "pom.xml").read_bytes()
    complete = folder / "complete"
    if not complete.exists() or complete.read_bytes() != pom:
        shutil.rmtree(libraries, ignore_errors=True)
        copy = ["mvn", "-q", "-B", "-f", HERE / name / "pom.xml", "dependency:copy-dependencies"]
        # It prints colours however quiet it is.
        run([*copy, f"-DoutputDirectory={libraries}"], stdout=subprocess.DEVNULL)
        complete.write_bytes(pom)
    return ["java", "-cp", f"{libraries}/*", source, folder / "data"]


def nginx(name: str) -> list:
    """nginx before the echo server on Node's `ws`, with the machine's own binary or Debian's package."""
    binary = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin") or unpacked("nginx")
    command = [sys.executable, HERE / name / "server.py", binary, certificates.made(), WORK / name / "run"]
    return [*command, *node("ws")]


def unpacked(package: str) -> Path:
    """The program of a Debian package, unpacked where it needs no rights and starts no service."""
    folder = WORK / package
    program = folder / "root/usr/sbin" / package
    if program.exists():
        return program
    folder.mkdir(parents=True, exist_ok=True)
    try:
        run(["apt-get", "download", package], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except subprocess.CalledProcessError:
        # A new machine knows of no packages yet.
        run(["apt-get", "update", "-qq"], stdout=subprocess.DEVNULL)
        run(["apt-get", "download", package], cwd=folder, stdout=subprocess.DEVNULL)
    run(["dpkg", "-x", next(folder.glob(f"{package}_*.deb")), folder / "root"])
    return program
