"""A client of the YAML language server, which speaks LSP over its standard streams."""

import json
import queue
import subprocess
import threading
from pathlib import Path

# No answer takes longer; one that does fails the test.
ANSWER_LIMIT = 60


class Server:
    """The server, with one document after another."""

    def __init__(self, command: list, root: Path):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.messages = queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.last_id = 0
        self.last_document = 0
        self.root = root
        capabilities = {
            "textDocument": {
                "completion": {"completionItem": {
                    "snippetSupport": True, "documentationFormat": ["markdown", "plaintext"]}},
                "hover": {"contentFormat": ["markdown"]},
            },
            "workspace": {"configuration": True},
        }
        self.request("initialize", {
            "processId": None, "rootUri": root.as_uri(), "capabilities": capabilities})
        self._send({"method": "initialized", "params": {}})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def _read(self):
        stream = self.process.stdout
        while True:
            length = 0
            while True:
                line = stream.readline()
                if not line:
                    self.messages.put(None)
                    return
                if line == b"\r\n":
                    break
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            self.messages.put(json.loads(stream.read(length)))

    def _send(self, message: dict):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def _next(self) -> dict:
        """The next message that is not a question of the server's, which are answered."""
        while True:
            message = self.messages.get(timeout=ANSWER_LIMIT)
            assert message is not None, "the language server has ended"
            if "method" in message and "id" in message:
                self._send({"id": message["id"], "result": self._setting(message)})
            else:
                return message

    @staticmethod
    def _setting(message: dict):
        """What an editor without settings of its own answers; nothing is fetched from the web."""
        if message["method"] != "workspace/configuration":
            return None
        own = {"validate": True, "hover": True, "completion": True, "schemaStore": {"enable": False}}
        items = message["params"]["items"]
        return [own if item.get("section") == "yaml" else {} for item in items]

    def request(self, method: str, params: dict):
        self.last_id += 1
        self._send({"id": self.last_id, "method": method, "params": params})
        while True:
            message = self._next()
            if message.get("id") == self.last_id:
                assert "error" not in message, message
                return message["result"]

    def open(self, text: str) -> str:
        """Opens a document; gives its address."""
        self.last_document += 1
        uri = (self.root / f"plan{self.last_document}.yaml").as_uri()
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": {
            "uri": uri, "languageId": "yaml", "version": 1, "text": text}}})
        return uri

    def diagnostics(self, text: str) -> list:
        """What the server finds wrong with a document."""
        uri = self.open(text)
        while True:
            message = self._next()
            if message.get("method") == "textDocument/publishDiagnostics" \
                    and message["params"]["uri"] == uri:
                return message["params"]["diagnostics"]

    def at(self, method: str, text: str):
        """Asks about the place of the mark `‸` in the text."""
        before, mark, after = text.partition("‸")
        assert mark, text
        uri = self.open(before + after)
        lines = before.split("\n")
        place = {"line": len(lines) - 1, "character": len(lines[-1])}
        return self.request(method, {"textDocument": {"uri": uri}, "position": place})

    def completions(self, text: str) -> dict:
        """What is offered at the mark `‸`: documentation and the text that would come, by label."""
        answer = self.at("textDocument/completion", text) or {"items": []}
        return {item["label"]: item for item in answer["items"]}

    def hover(self, text: str) -> str:
        answer = self.at("textDocument/hover", text)
        if not answer:
            return ""
        contents = answer["contents"]
        return contents if isinstance(contents, str) else contents["value"]
