"""Which server proves which feature: one plan each, with the rows that it must give."""

from collections.abc import Callable
from dataclasses import dataclass

from harness import install
from harness.proof import Proof


@dataclass
class Server:
    """A server that is installed by name."""

    name: str
    # Gives the command that starts it.
    install: Callable[[str], list]
    proofs: list


def ok(*labels: str, times: int) -> dict:
    """Samples on an open connection that succeed, `times` of each label."""
    return {(label, "200", "true"): times for label in labels}


ECHO = Proof(
    feature="every sampler; text, binary, 70,000 bytes; closes from both sides",
    plan="echo.yaml",
    # The two requests that come too late fail on purpose.
    exit_code=1,
    rows={
        ("open", "101", "true"): 22,
        **ok("text", "binary", "large", "ping_pong", "single_write", "single_read", times=20),
        ("close", "1000", "true"): 20,
        **ok("leave", times=2),
        ("too late", "1001", "false"): 2,
    },
)

SOCKETIO = Proof(
    feature="protocols/socketio.yaml: Engine.IO handshake and heartbeats, namespaces, acknowledgements",
    plan="socketio/plan.yaml",
    rows={
        ("open", "101", "true"): 13,
        **ok("handshake", times=13),
        ("connect", "200", "true"): 11,
        ("connect", "200", "false"): 2,
        **ok("say", times=30),
        **ok("ask", times=10),
        ("close", "1000", "true"): 12,
        **ok("leave", "left", times=1),
        # Engine.IO closes without a status.
        ("closed", "1005", "true"): 1,
    },
)

JSONRPC = Proof(
    feature="protocols/jsonrpc.yaml: calls told apart by `id`, a late answer, an error",
    plan="jsonrpc/plan.yaml",
    rows={
        ("open", "101", "true"): 4,
        **ok("sum", "greet", times=20),
        ("nobody", "200", "false"): 4,
        ("too late", "READ_TIMEOUT", "false"): 4,
        **ok("later", times=4),
        ("close", "1000", "true"): 4,
    },
    summary={"too late": {"late": 4, "unanswered": 0}},
)

GRAPHQL = Proof(
    feature="protocols/graphql-ws.yaml: subprotocol, init, query, subscription, pings of the protocol",
    plan="graphql-ws/plan.yaml",
    rows={
        ("open", "101", "true"): 12,
        **ok("init", "query", "countdown", times=10),
        ("init", "4403", "false"): 2,
        **ok("next", "complete", times=20),
        ("close", "1000", "true"): 10,
    },
    failures={"init": "Forbidden"},
)

STOMP = Proof(
    feature="protocols/stomp.yaml: subprotocol, NUL, receipts, delivery, heart-beats",
    plan="stomp/plan.yaml",
    rows={
        ("open", "101", "true"): 10,
        **ok("connect", "subscribe", "disconnect", times=10),
        **ok("echo", times=30),
    },
)

SIGNALR = Proof(
    feature="protocols/signalr.yaml: handshake, record separator, calls, a stream, pings of the protocol",
    plan="signalr/plan.yaml",
    rows={
        ("open", "101", "true"): 5,
        **ok("handshake", "stream", "completion", times=5),
        **ok("echo", times=20),
        **ok("item", times=10),
        ("fail", "200", "false"): 5,
        ("close", "1000", "true"): 5,
    },
)

NGINX = Proof(
    feature="wss through a proxy: private authority, resumption, bad server certificates, client certificates",
    plan="nginx/plan.yaml",
    url="wss://127.0.0.1:{port}/",
    properties={
        "certificates": "{work}/certificates",
        **{name: f"wss://127.0.0.1:{{{name}}}/" for name in ("expired", "other_name", "foreign", "client", "old")},
    },
    rows={
        ("open", "101", "true"): 20,
        **ok("text", "large", "ping_pong", times=20),
        ("close", "1000", "true"): 20,
        **{(label, "TLS", "false"): 1 for label in ("expired", "other name", "foreign", "untrusted", "too old")},
        **{(label, "101", "true"): 1 for label in ("other name accepted", "insecure", "old", "client certificate")},
        **ok("over it", times=1),
        # nginx takes such clients in, and refuses their requests.
        ("no certificate", "400", "false"): 1,
        ("foreign certificate", "400", "false"): 1,
    },
    failures={
        "expired": "expired",
        "other name": "other.test",
        "foreign": "unknown issuer",
        "untrusted": "unknown issuer",
        "too old": "version",
    },
    # Each thread pays for one handshake, and resumes its session in the other three iterations.
    handshake={"tls_resumed": 15},
)

MATRIX = [
    Server("ws", install.node, [ECHO]),
    Server("websockets", install.python, [ECHO]),
    Server("socketio", install.node, [SOCKETIO]),
    Server("jsonrpc", install.node, [JSONRPC]),
    Server("graphql-ws", install.node, [GRAPHQL]),
    Server("stomp", install.java, [STOMP]),
    Server("signalr", install.node, [SIGNALR]),
    Server("nginx", install.nginx, [NGINX]),
]
