# SPDX-License-Identifier: Apache-2.0
"""A client of the Language Server Protocol, with nothing but Python's standard library.

    with Client(["warpwright", "lsp"]) as client:
        client.initialize()
        client.open("file:///kernel.py", text)
        print(client.diagnostics("file:///kernel.py", version=1))
"""

import json
import queue
import subprocess
import threading
import time

PATIENCE = 120  # seconds until a server that says nothing is taken for dead


class ServerError(Exception):
    """The error of a response."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.code = error["code"]


class Client:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.messages = queue.Queue()
        self.seen = []  # notifications and requests of the server that were not asked for yet
        self.responses = {}
        self.last_id = 0
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    # --- bytes ----------------------------------------------------------------------------------

    def _read(self):
        stream = self.process.stdout
        while True:
            length = None
            while (line := stream.readline()) not in (b"\r\n", b""):
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            if length is None:
                self.messages.put(None)
                return
            self.messages.put((time.perf_counter(), json.loads(stream.read(length))))

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def _take(self):
        """The next message of the server, put where it belongs."""
        entry = self.messages.get(timeout=PATIENCE)
        if entry is None:
            raise EOFError("the server has ended")
        when, message = entry
        self.received(message)
        message["when"] = when
        if "method" in message:
            self.seen.append(message)
        else:
            self.responses[message["id"]] = message

    def received(self, message):
        """Called for each message of the server."""

    # --- messages -------------------------------------------------------------------------------

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def ask(self, method, params):
        """Sends a request; its id."""
        self.last_id += 1
        self.send({"id": self.last_id, "method": method, "params": params})
        return self.last_id

    def answer(self, number):
        """The result of a request, or ServerError."""
        while number not in self.responses:
            self._take()
        message = self.responses.pop(number)
        if "error" in message:
            raise ServerError(message["error"])
        return message["result"]

    def request(self, method, params=None):
        return self.answer(self.ask(method, params))

    def wait_for(self, method, accepts=lambda params: True):
        """The first message of the server with that method and parameters that are accepted."""
        while True:
            for message in self.seen:
                if message["method"] == method and accepts(message["params"]):
                    self.seen.remove(message)
                    return message
            self._take()

    # --- the protocol ---------------------------------------------------------------------------

    def initialize(self, capabilities=None, **more):
        result = self.request(
            "initialize",
            {"processId": None, "rootUri": None, "capabilities": capabilities or {}, **more},
        )
        self.notify("initialized", {})
        return result

    def open(self, uri, text, version=1):
        document = {"uri": uri, "languageId": "python", "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def change(self, uri, version, *changes):
        self.notify(
            "textDocument/didChange",
            {"textDocument": {"uri": uri, "version": version}, "contentChanges": list(changes)},
        )

    def diagnostics(self, uri, version):
        message = self.wait_for(
            "textDocument/publishDiagnostics",
            lambda params: params["uri"] == uri and params.get("version") == version,
        )
        return message["params"]["diagnostics"]

    def at(self, method, uri, line, character, **more):
        """A request about a place."""
        place = {"line": line, "character": character}
        return self.request(
            "textDocument/" + method,
            {"textDocument": {"uri": uri}, "position": place, **more},
        )

    def of(self, method, uri, **more):
        """A request about a document."""
        return self.request("textDocument/" + method, {"textDocument": {"uri": uri}, **more})

    def leave(self):
        """Says goodbye; the server's exit status."""
        self.request("shutdown")
        self.notify("exit", None)
        return self.process.wait()
