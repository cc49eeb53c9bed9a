"""A WebSocket server whose every byte is decided here: what a connection does hangs on its path.

One thread a connection, raw sockets, loopback only. Each wait ends after PATIENCE seconds.
"""

import base64
import hashlib
import socket
import struct
import threading
import time
from collections import defaultdict

PATIENCE = 20
TEXT, BINARY, CLOSE, PING, PONG = 0x81, 0x82, 0x88, 0x89, 0x8A
# How long `delayed` waits before it answers.
DELAY = 0.2


def frame(first: int, payload: bytes = b"") -> bytes:
    """A frame of a server: the first byte as it is, the shortest form of length."""
    size = len(payload)
    if size < 126:
        return bytes([first, size]) + payload
    if size < 65536:
        return bytes([first, 126]) + struct.pack(">H", size) + payload
    return bytes([first, 127]) + struct.pack(">Q", size) + payload


def close_frame(code: int, reason: str = "") -> bytes:
    return frame(CLOSE, struct.pack(">H", code) + reason.encode())


class Connection:
    """One connection, after its upgrade request was read."""

    def __init__(self, sock: socket.socket, request: bytes):
        self.sock, self.request, self.buffer = sock, request, b""

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def take(self, count: int) -> bytes:
        while len(self.buffer) < count:
            more = self.sock.recv(65536)
            if not more:
                raise ConnectionError("the client is gone")
            self.buffer += more
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def read(self) -> tuple[int, bytes]:
        """The next frame of the client: its first byte and its payload."""
        first, size = self.take(2)
        size &= 0x7F
        if size == 126:
            size = struct.unpack(">H", self.take(2))[0]
        elif size == 127:
            size = struct.unpack(">Q", self.take(8))[0]
        mask, data = self.take(4), self.take(size)
        return first, bytes(byte ^ mask[at % 4] for at, byte in enumerate(data))

    def read_data(self) -> bytes:
        """The next text or binary message; pings and pongs are passed over."""
        while True:
            first, payload = self.read()
            if first in (TEXT, BINARY):
                return payload
            if first == CLOSE:
                raise ConnectionError("the client has closed")

    def headers(self) -> dict[str, str]:
        key = next(
            line.split(":", 1)[1].strip()
            for line in self.request.decode("latin-1").split("\r\n")
            if line.lower().startswith("sec-websocket-key:")
        )
        digest = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        return {
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Accept": base64.b64encode(digest).decode(),
        }

    def answer(self, headers: dict[str, str], status: str = "101 Switching Protocols") -> None:
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.send(f"HTTP/1.1 {status}\r\n{lines}\r\n".encode())

    def accept(self, after: bytes = b"") -> None:
        self.answer(self.headers())
        if after:
            self.send(after)

    def echo(self) -> None:
        """Echoes messages, answers pings and the close."""
        while True:
            first, payload = self.read()
            if first == PING:
                self.send(frame(PONG, payload))
            elif first != PONG:
                self.send(frame(first, payload))
                if first == CLOSE:
                    return

    def hush(self) -> None:
        """Answers nothing but the close."""
        while True:
            first, payload = self.read()
            if first == CLOSE:
                self.send(frame(CLOSE, payload))
                return

    def reset(self) -> None:
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class Peer:
    """The server; `scripts` maps a path to what its connections do."""

    def __init__(self, scripts: dict):
        self.scripts = scripts
        # Sizes of the upgrade requests by path and client, in the order of their coming.
        self.requests: dict[tuple[str, str], list[int]] = defaultdict(list)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept_all, daemon=True).start()

    def accept_all(self) -> None:
        while True:
            sock, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(sock,), daemon=True).start()

    def serve(self, sock: socket.socket) -> None:
        sock.settimeout(PATIENCE)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            request = b""
            while b"\r\n\r\n" not in request:
                more = sock.recv(65536)
                if not more:
                    return
                request += more
            target = request.split(b" ", 2)[1].decode()
            path, _, client = target.partition("?")
            self.requests[path, client].append(len(request))
            connection = Connection(sock, request)
            self.scripts[path](connection)
            # The client closes TCP in its own time, so that it meets no reset.
            sock.shutdown(socket.SHUT_WR)
            while sock.recv(65536):
                pass
        except (OSError, ConnectionError):
            pass
        finally:
            sock.close()


def closed_port() -> int:
    """A port on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def pause(seconds: float) -> None:
    time.sleep(seconds)
