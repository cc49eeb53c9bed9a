"""Certificates of every kind that a server or client may show, made by openssl.

    ca.pem          the authority in which plans trust
    good            for 127.0.0.1 and localhost
    expired         the same, valid in January 2020 only
    other-name      for other.test only
    foreign         for 127.0.0.1, from an authority of its own, foreign-ca.pem
    client          of a client, from ca.pem
    foreign-client  of a client, from foreign-ca.pem

Each has its key in a `.key` beside its `.pem`. Made once, and anew when a day has passed.
"""

import shutil
import subprocess
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[3] / "target/servers/certificates"
# Seconds for each call of openssl.
DEADLINE = 60
ADDRESS = "subjectAltName=IP:127.0.0.1,DNS:localhost"
JANUARY_2020 = ("20200101000000Z", "20200201000000Z")
# What `openssl ca` insists on; it alone lets dates be chosen.
CONFIGURATION = """
[ca]
default_ca = only
[only]
database = index.txt
rand_serial = yes
new_certs_dir = .
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
"""


def made() -> Path:
    """The folder with all certificates, which are made if need be."""
    complete = FOLDER / "complete"
    if complete.exists() and time.time() - complete.stat().st_mtime < 86_400:
        return FOLDER
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    (FOLDER / "openssl.cnf").write_text(CONFIGURATION)
    for name in ("ca", "foreign-ca"):
        authority(name)
    certificate("good", "ca", ADDRESS)
    certificate("expired", "ca", ADDRESS, JANUARY_2020)
    certificate("other-name", "ca", "subjectAltName=DNS:other.test")
    certificate("foreign", "foreign-ca", ADDRESS)
    certificate("client", "ca", "extendedKeyUsage=clientAuth")
    certificate("foreign-client", "foreign-ca", "extendedKeyUsage=clientAuth")
    complete.touch()
    return FOLDER


def openssl(*arguments: str) -> None:
    """Calls openssl in the folder of certificates."""
    subprocess.run(
        ["openssl", *arguments], cwd=FOLDER, check=True, timeout=DEADLINE, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )


def new_key(name: str) -> list:
    """What makes `openssl req` make a key on a curve."""
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    return [*key, "-keyout", f"{name}.key", "-subj", f"/CN={name}"]


def authority(name: str) -> None:
    """An authority that vouches for itself."""
    extensions = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign"]
    added = [part for extension in extensions for part in ("-addext", extension)]
    openssl("req", "-x509", *new_key(name), "-days", "30", *added, "-out", f"{name}.pem")


def certificate(name: str, issuer: str, extension: str, validity: tuple = ()) -> None:
    """A certificate from `issuer`, valid for some days or in the time given."""
    openssl("req", *new_key(name), "-out", f"{name}.csr")
    (FOLDER / f"{name}.ext").write_text(f"basicConstraints=critical,CA:FALSE\n{extension}\n")
    (FOLDER / "index.txt").write_text("")
    dates = ["-startdate", validity[0], "-enddate", validity[1]] if validity else ["-days", "30"]
    openssl(
        "ca", "-batch", "-notext", "-config", "openssl.cnf", "-cert", f"{issuer}.pem", "-keyfile", f"{issuer}.key",
        *dates, "-extfile", f"{name}.ext", "-in", f"{name}.csr", "-out", f"{name}.pem",
    )
