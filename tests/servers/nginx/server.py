"""nginx as a reverse proxy that terminates TLS, before the echo server on Node's `ws`.

usage: server.py NGINX CERTIFICATES FOLDER COMMAND...   the command starts the echo server

Prints a port for each certificate that nginx shows, as JSON; `client` asks for a client's certificate. All end
with this process.
"""

import json
import socket
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness.partner import tied  # noqa: E402

# Seconds for nginx to listen.
READY = 20

SERVER = """
  server {{
    listen 127.0.0.1:{port} ssl;
    ssl_certificate {certificates}/{certificate}.pem;
    ssl_certificate_key {certificates}/{certificate}.key;
    {more}
    location / {{
      proxy_pass http://127.0.0.1:{backend};
      proxy_http_version 1.1;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection upgrade;
      proxy_set_header Host $host;
    }}
  }}
"""

CONFIGURATION = """
daemon off;
# One process, which ends when this script does.
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{
  access_log {folder}/access.log;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  scgi_temp_path {folder}/scgi;
  uwsgi_temp_path {folder}/uwsgi;
  ssl_protocols TLSv1.2 TLSv1.3;
  ssl_session_cache shared:all:1m;
{servers}
}}
"""


def free_ports(count: int) -> list:
    """Ports that are free now, all different."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def main() -> None:
    nginx, certificates, folder, *command = sys.argv[1:]
    echo = subprocess.Popen(tied(command), stdout=subprocess.PIPE, text=True)
    backend = int(echo.stdout.readline())
    asks = f"ssl_client_certificate {certificates}/ca.pem; ssl_verify_client on;"
    old = "ssl_protocols TLSv1.2;"
    kinds = [
        ("port", "good", ""), ("expired", "expired", ""), ("other_name", "other-name", ""),
        ("foreign", "foreign", ""), ("client", "good", asks), ("old", "good", old),
    ]
    ports = dict(zip((kind for kind, *_ in kinds), free_ports(len(kinds))))
    servers = [
        SERVER.format(port=ports[kind], certificates=certificates, certificate=name, more=more, backend=backend)
        for kind, name, more in kinds
    ]
    Path(folder).mkdir(parents=True, exist_ok=True)
    configuration = Path(folder, "nginx.conf")
    configuration.write_text(CONFIGURATION.format(folder=folder, servers="".join(servers)))
    proxy = subprocess.Popen(tied([nginx, "-p", folder, "-e", f"{folder}/error.log", "-c", configuration]))
    deadline = time.monotonic() + READY
    for port in ports.values():
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                if proxy.poll() is not None or time.monotonic() > deadline:
                    sys.exit(f"nginx does not listen: {Path(folder, 'error.log').read_text()}")
                time.sleep(0.02)
    print(json.dumps(ports), flush=True)
    # Either of them, gone, is the end of both.
    while echo.poll() is None and proxy.poll() is None:
        time.sleep(0.1)
    sys.exit(f"nginx: {proxy.poll()}, the echo server: {echo.poll()}")


main()
