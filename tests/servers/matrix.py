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

MATRIX = [
    Server("ws", install.node, [ECHO]),
    Server("websockets", install.python, [ECHO]),
    Server("socketio", install.node, [SOCKETIO]),
    Server("jsonrpc", install.node, [JSONRPC]),
]
