"""The situations that `differential` compares: what the server does, what JMeter is told to do, and the
rows that each side must write. wsmeter is told by the group of the same name in twins.yaml.
"""

from dataclasses import dataclass, field, replace

from peer import BINARY, DELAY, PING, PONG, TEXT, Connection, close_frame, frame, pause

# Read and connect timeouts of both, in milliseconds.
TIMEOUT = 1000
# The size of the peer's answer to an upgrade request, and of a close frame with JMeter's reason.
UPGRADE, CLOSE_SIZE = 129, 27
FAST, SLOW, TIMED_OUT = (0, 0), (DELAY * 1000 - 5, DELAY * 1000), (TIMEOUT - 5, TIMEOUT)


@dataclass(frozen=True)
class Row:
    """A row as it must be; `sent` counts beside the upgrade request where `request` is set."""

    label: str
    ok: bool = True
    kind: str = "200"
    received: int | None = 0
    sent: int = 0
    elapsed: tuple = FAST
    request: bool = False
    stamped: bool = True


@dataclass(frozen=True)
class Step:
    """A sampler of the plugin."""

    kind: str
    label: str
    properties: dict = field(default_factory=dict)
    filters: tuple = ()


@dataclass(frozen=True)
class Situation:
    jmeter: tuple
    theirs: list
    ours: list
    trap: str = ""


def path_of(name: str) -> str:
    """The path of a situation: JMeter sends blanks as they are."""
    return "/" + name.replace(",", "").replace(" ", "-")


def open_(**properties) -> Step:
    return Step("OpenWebSocketSampler", "open", properties)


def ask(text: str = "hello", label: str = "rr", filters: tuple = (), **properties) -> Step:
    own = {"createNewConnection": False, "payloadType": "Text", "requestData": text, "loadDataFromFile": False, "dataFile": ""}
    return Step("RequestResponseWebSocketSampler", label, own | properties, filters)


def write(text: str = "hello", **properties) -> Step:
    own = {"createNewConnection": False, "payloadType": "Text", "requestData": text, "loadDataFromFile": False, "dataFile": ""}
    return Step("SingleWriteWebSocketSampler", "sw", own | properties)


def read(label: str = "sr", **properties) -> Step:
    return Step("SingleReadWebSocketSampler", label, {"createNewConnection": False, "dataType": "Any", "optional": False} | properties)


def ping(kind: str = "PingPong") -> Step:
    return Step("PingPongSampler", "pp", {"type": kind})


def close(status: str = "1000") -> Step:
    return Step("CloseWebSocketSampler", "close", {"statusCode": status})


OPENED = Row("open", kind="101", received=UPGRADE, request=True)
CLOSED = Row("close", kind="1000", received=CLOSE_SIZE, sent=31)
# hello and its echo.
ASKED = Row("rr", received=7, sent=11)
LATE = Row("rr", False, "timeout", sent=11, elapsed=TIMED_OUT)


def no_connection(label: str) -> Row:
    """JMeter gives such rows no time at all."""
    return Row(label, False, "no connection", stamped=False)


def ours_without(label: str) -> Row:
    return Row(label, False, "no connection")


# What the server does; `SCRIPTS` has them by the name of the situation.
def echo(c: Connection) -> None:
    c.accept()
    c.echo()


def silent(c: Connection) -> None:
    c.accept()
    c.hush()


def replying(*frames: bytes, then: str = "hush"):
    """Answers the first message with these bytes; `then` is `hush`, `end` or `reset`."""

    def script(c: Connection) -> None:
        c.accept()
        c.read_data()
        for data in frames:
            c.send(data)
        if then == "hush":
            c.hush()
        elif then == "reset":
            c.reset()
        c.sock.close() if then != "hush" else None

    return script


def delayed(c: Connection) -> None:
    c.accept()
    c.read_data()
    pause(DELAY)
    c.send(frame(TEXT, b"hello"))
    c.hush()


def one_late(c: Connection) -> None:
    """Answers each message only when the next one has come."""
    c.accept()
    before = c.read_data()
    while True:
        text = c.read_data()
        c.send(frame(TEXT, b"re:" + before))
        before = text


def pushing(*frames: bytes):
    def script(c: Connection) -> None:
        c.accept(b"".join(frames))
        c.hush()

    return script


def raw(answer: bytes):
    """Answers the upgrade request with these bytes and ends."""

    def script(c: Connection) -> None:
        c.send(answer)

    return script


def unwilling(c: Connection) -> None:
    pause(TIMEOUT / 1000 + 1)


def upgrade(**change):
    """Accepts with other headers; None leaves one out."""

    def script(c: Connection) -> None:
        headers = c.headers()
        for name, value in change.items():
            headers[name.replace("_", "-")] = value
        c.answer({name: value for name, value in headers.items() if value is not None})
        c.echo()

    return script


def closing(c: Connection) -> None:
    """Answers the close with a status of its own."""
    c.accept()
    c.read()
    c.send(close_frame(1011, "no"))


def closing_late(c: Connection) -> None:
    """Sends a message before it answers the close."""
    c.accept()
    c.read()
    c.send(frame(TEXT, b"pending") + close_frame(1000))


def never_closing(c: Connection) -> None:
    c.accept()
    while True:
        c.read()


def stray_pong(c: Connection) -> None:
    """Answers the ping with another's pong."""
    c.accept()
    c.read()
    c.send(frame(PONG, b"another"))
    c.hush()


REFUSAL = b"HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n"
SCRIPTS = {
    "text": echo, "binary": echo, "empty text": echo, "126 bytes": echo, "70,000 bytes": echo,
    "write and read": echo, "stomp": echo, "payload from a file": echo, "ping with no payload": echo,
    "ping": echo, "stray pong": stray_pong, "unasked pong": echo, "bad hex": echo, "delay": delayed,
    "read timeout": silent, "optional read": silent, "late reply": one_late, "late reply accepted": one_late,
    "end of stream": replying(then="end"), "reset": replying(then="reset"),
    "truncated frame": replying(b"\x81\x0aabc", then="end"),
    "stray continuation": replying(frame(0x80, b"x")),
    "missing continuation": replying(frame(0x01, b"ab") + frame(TEXT, b"cd")),
    "fragments": replying(frame(0x01, b"ab") + frame(0x80, b"cd")),
    "fragments delivered": replying(frame(0x01, b"ab") + frame(0x80, b"cd")),
    "binary for text": replying(frame(BINARY, b"\xca\xfe")),
    "ping before the reply": replying(frame(PING, b"hb"), frame(TEXT, b"hello")),
    "pings delivered": replying(frame(PING, b"hb"), frame(TEXT, b"hello")),
    "ping filter": replying(frame(PING, b"hb"), frame(TEXT, b"hello")),
    "pong before the reply": replying(frame(PONG, b""), frame(TEXT, b"hello")),
    "close for a reply": replying(close_frame(1011, "down")),
    "reserved opcode": replying(frame(0x83, b"x")),
    "masked frame": replying(b"\x81\x85\x00\x00\x00\x00hello"),
    "bad UTF-8": replying(frame(TEXT, b"\xff\xfe")),
    "text filter": replying(frame(TEXT, b"noise 1"), frame(TEXT, b"noise 2"), frame(TEXT, b"hello")),
    "push": pushing(frame(TEXT, b"welcome")), "greeting": pushing(frame(TEXT, b"welcome")),
    "new, asked": echo, "new, read": pushing(frame(TEXT, b"welcome")), "new, written": echo,
    "no answer": unwilling, "end for an answer": raw(b""), "not HTTP": raw(b"SSH-2.0-x\r\n\r\n"),
    "403": raw(REFUSAL % b"403 Forbidden"), "404": raw(REFUSAL % b"404 Not Found"), "200": raw(REFUSAL % b"200 OK"),
    "no upgrade header": upgrade(Upgrade=None), "no connection header": upgrade(Connection=None),
    "no accept key": upgrade(Sec_WebSocket_Accept=None), "wrong accept key": upgrade(Sec_WebSocket_Accept="x"),
    "connection list": upgrade(Connection="keep-alive, Upgrade"),
    "close with pending": closing_late, "close with 1011": closing, "close unanswered": never_closing,
    "no connection": echo,
}

T4 = "T4: a failed upgrade has its bytes too"


def refused_upgrade(kind: str, theirs: str = "", sent: bool = True, received: int | None = None, **more) -> Situation:
    """An `open` that fails after its request: JMeter counts no byte of it."""
    theirs = Row("open", False, theirs or kind, **more)
    return Situation((open_(),), [theirs], [replace(theirs, kind=kind, received=received, request=sent)], T4)


def unexpected(reply: Row, ours: Row, trap: str, **options) -> Situation:
    """A request whose reply is another frame than expected."""
    return Situation((open_(), ask(**options)), [OPENED, reply], [OPENED, ours], trap)


WRONG = Row("rr", False, "wrong type", sent=11)
BROKEN = Row("rr", False, "protocol", sent=11)
LOST = Row("rr", False, "lost", sent=11)
PLAIN = (open_(), ask(), close())

SITUATIONS = {
    "text": Situation(PLAIN, [OPENED, ASKED, CLOSED], [OPENED, ASKED, CLOSED]),
    "binary": Situation((open_(), ask("0xca 0xfe", payloadType="Binary")), *[[OPENED, Row("rr", received=4, sent=8)]] * 2),
    "empty text": Situation((open_(), ask("")), *[[OPENED, Row("rr", received=2, sent=6)]] * 2),
    "126 bytes": Situation((open_(), ask("x" * 126)), *[[OPENED, Row("rr", received=130, sent=134)]] * 2),
    "70,000 bytes": Situation((open_(), ask("x" * 70_000)), *[[OPENED, Row("rr", received=70_010, sent=70_014)]] * 2),
    "stomp": Situation((open_(), ask("hello^@", payloadType="TextStomp")), *[[OPENED, Row("rr", received=8, sent=12)]] * 2),
    "payload from a file": Situation(
        (open_(), ask("", loadDataFromFile=True, dataFile="payload.txt")), *[[OPENED, Row("rr", received=13, sent=17)]] * 2
    ),
    "write and read": Situation((open_(), write(), read()), *[[OPENED, Row("sw", sent=11), Row("sr", received=7)]] * 2),
    "push": Situation((open_(), read()), *[[OPENED, Row("sr", received=9)]] * 2),
    "delay": Situation((open_(), ask()), *[[OPENED, replace(ASKED, elapsed=SLOW)]] * 2),
    "read timeout": Situation(PLAIN, *[[OPENED, LATE, CLOSED]] * 2),
    "optional read": Situation(
        (open_(), read(optional=True), close()), *[[OPENED, Row("sr", kind="no message", elapsed=TIMED_OUT), CLOSED]] * 2
    ),
    "late reply": Situation(
        (open_(), ask("1"), ask("2"), ask("3")),
        [OPENED, replace(LATE, sent=7), Row("rr", received=6, sent=7), Row("rr", received=6, sent=7)],
        [OPENED, replace(LATE, sent=7)],
        "T13: a late reply passed for the next one's; two are skipped",
    ),
    "late reply accepted": Situation(
        (open_(), ask("1"), ask("2"), ask("3")),
        *[[OPENED, replace(LATE, sent=7), Row("rr", received=6, sent=7), Row("rr", received=6, sent=7)]] * 2,
    ),
    "end of stream": Situation(
        (open_(), ask(), close()), [OPENED, LOST, Row("close", False, "lost", received=0, sent=31)], [OPENED, LOST],
        "T15: a loss fails once; the close is skipped",
    ),
    "reset": Situation((open_(), ask()), *[[OPENED, LOST]] * 2),
    "truncated frame": Situation((open_(), ask()), *[[OPENED, LOST]] * 2),
    "stray continuation": Situation((open_(), ask()), *[[OPENED, BROKEN]] * 2),
    "reserved opcode": Situation((open_(), ask()), *[[OPENED, BROKEN]] * 2),
    "missing continuation": unexpected(Row("rr", received=4, sent=11), BROKEN, "T22: half a message is no reply"),
    "fragments": unexpected(Row("rr", received=4, sent=11), Row("rr", received=8, sent=11), "T22: a reply is a whole message"),
    "fragments delivered": Situation(
        (open_(), ask(), read()), *[[OPENED, Row("rr", received=4, sent=11), Row("sr", received=4)]] * 2
    ),
    "binary for text": unexpected(WRONG, replace(WRONG, received=4), "T5: what was read is counted"),
    "ping before the reply": unexpected(WRONG, ASKED, "T18: a ping is answered and no reply"),
    "pings delivered": unexpected(WRONG, replace(WRONG, received=4), "T5: what was read is counted"),
    "ping filter": unexpected(
        ASKED, replace(ASKED, received=7 + 4), "T12, T5: what is discarded has no row, but its bytes",
        filters=(("PingFrameFilter", {"replyToPing": True, "filterType": "FilterPingOnly"}),),
    ),
    "pong before the reply": unexpected(WRONG, ASKED, "T19: a pong that nobody asked for is no reply"),
    "close for a reply": unexpected(
        WRONG, Row("rr", False, "1011", sent=11, received=None), "T14: the row has the server's close code"
    ),
    "masked frame": unexpected(Row("rr", received=None, sent=11), BROKEN, "T51: broken rules fail the connection"),
    "bad UTF-8": unexpected(Row("rr", received=4, sent=11), BROKEN, "T51: broken rules fail the connection"),
    "text filter": unexpected(
        ASKED, replace(ASKED, received=7 + 9 + 9), "T12, T5: what is discarded has no row, but its bytes",
        filters=(("TextFrameFilter", {"comparisonType": "StartsWith", "matchValue": "noise"}),),
    ),
    "greeting": Situation(
        (open_(), ask()), [OPENED, Row("rr", received=9, sent=11)], [OPENED, LATE],
        "T13: what came before the request is not its reply",
    ),
    "bad hex": Situation((open_(), ask("zz", payloadType="Binary")), *[[OPENED, Row("rr", False, "bad value")]] * 2),
    "ping with no payload": Situation((open_(), ping()), *[[OPENED, Row("pp", received=2, sent=6)]] * 2),
    "ping": Situation(
        (open_(), ping()), [OPENED, Row("pp", received=2, sent=6)], [OPENED, Row("pp", received=18, sent=22)],
        "T24: each ping has a payload of its own",
    ),
    "stray pong": Situation(
        (open_(), ping()), [OPENED, Row("pp", received=9, sent=6)],
        [OPENED, Row("pp", False, "timeout", sent=22, elapsed=TIMED_OUT)], "T24: another's pong is no answer",
    ),
    "unasked pong": Situation((open_(), ping("Pong")), *[[OPENED, Row("pp", sent=6)]] * 2),
    "refused": Situation(
        (open_(port="closed"), ask()), [Row("open", False, "refused"), no_connection("rr")], [Row("open", False, "refused")],
        "T15: one refusal is one failure; the request is skipped",
    ),
    "unknown host": Situation((open_(server="no-such-host.invalid"),), *[[Row("open", False, "dns", elapsed=(0, 5_000))]] * 2),
    "no answer": refused_upgrade("timeout", received=0, elapsed=TIMED_OUT),
    "end for an answer": refused_upgrade("lost", received=0),
    "not HTTP": refused_upgrade("bad upgrade", received=13),
    "403": refused_upgrade("403", received=len(REFUSAL % b"403 Forbidden")),
    "404": refused_upgrade("404", received=len(REFUSAL % b"404 Not Found")),
    "200": refused_upgrade("200", received=len(REFUSAL % b"200 OK")),
    "no upgrade header": refused_upgrade("bad upgrade", received=UPGRADE - 20),
    "no connection header": refused_upgrade("bad upgrade", received=UPGRADE - 21),
    "no accept key": refused_upgrade("bad upgrade", received=UPGRADE - 52),
    "wrong accept key": refused_upgrade("bad upgrade", received=UPGRADE - 27),
    "connection list": Situation(
        (open_(),), [Row("open", False, "bad upgrade")], [replace(OPENED, received=UPGRADE + 12)],
        "T39: the header is a list of words",
    ),
    "no connection": Situation(
        (ask(), write(), read(), ping(), close(), open_()),
        [*map(no_connection, ("rr", "sw", "sr", "pp", "close")), OPENED],
        [*map(ours_without, ("rr", "sw", "sr", "pp", "close")), OPENED],
        "T7: each row has its time",
    ),
    "close with pending": Situation(
        (open_(), close()), [OPENED, Row("close", False, "wrong type", sent=31)], [OPENED, Row("close", kind="1000", received=4, sent=31)],
        "T26: what is pending does not fail the close",
    ),
    "close with 1011": Situation(
        (open_(), close()), [OPENED, Row("close", kind="1011", received=6, sent=31)],
        [OPENED, Row("close", False, "1011", received=6, sent=31)], "T25: the status counts",
    ),
    "close unanswered": Situation(
        (open_(), close()), *[[OPENED, Row("close", False, "timeout", sent=31, elapsed=TIMED_OUT)]] * 2
    ),
    "new, asked": Situation(
        (ask(createNewConnection=True),), [Row("rr", kind="101", received=UPGRADE + 7, sent=11)],
        [Row("rr", kind="101", received=UPGRADE + 7, sent=11, request=True)], "T3: the request for the upgrade was sent, too",
    ),
    "new, read": Situation(
        (read(createNewConnection=True),), *[[Row("sr", kind="101", received=UPGRADE + 9, request=True)]] * 2
    ),
    "new, written": Situation(
        (write(createNewConnection=True),), [Row("sw", kind="101", received=UPGRADE, sent=11)],
        [Row("sw", kind="101", received=UPGRADE, sent=11, request=True)], "T3: the request for the upgrade was sent, too",
    ),
}
# A row for each frame that a filter of JMeter discards follows that of its sampler.
for name, labels in {"ping filter": 1, "text filter": 2}.items():
    extra = [Row(f"rr-{number}", True, "filtered", received=None, sent=0 if name == "text filter" else 8) for number in range(labels)]
    SITUATIONS[name] = replace(SITUATIONS[name], theirs=SITUATIONS[name].theirs + extra)
