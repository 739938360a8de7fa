#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sessions of the client in client.py with the program: `session.py PROGRAM SESSION`.

Each prints what it saw; an assertion that fails ends it with status 1. clients_test.cpp runs them."""

import os
import statistics
import subprocess
import sys
import time

from client import Client, ServerError

PROGRAM = sys.argv[1]
HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "..", "examples")
KERNEL = open(os.path.join(HERE, "kernel.py"), encoding="utf-8").read()
URI = "file://" + os.path.join(HERE, "kernel.py")
ALL = {"start": {"line": 0, "character": 0}, "end": {"line": 9999, "character": 0}}
HOVER = {"textDocument": {"hover": {"contentFormat": ["markdown", "plaintext"]}}}


def place(text, word):
    """Line and character of a word's middle."""
    at = text.index(word) + len(word) // 2
    return text.count("\n", 0, at), at - text.rfind("\n", 0, at) - 1


def editing(client):
    """What someone does with a file: open it, fix it, look at it, run it."""
    info = client.initialize(HOVER)
    assert info["capabilities"]["positionEncoding"] == "utf-16", info
    client.open(URI, KERNEL)
    problem = client.diagnostics(URI, 1)[0]
    assert problem["code"] == "UnknownName" and problem["source"] == "warpwright", problem
    action = client.of("codeAction", URI, range=problem["range"], context={"diagnostics": []})[0]
    edit = action["edit"]["changes"][URI][0]
    client.change(URI, 2, {"range": edit["range"], "text": edit["newText"]})
    assert client.diagnostics(URI, 2) == []
    text = KERNEL.replace("cta_synk", "cta_sync")
    assert "8192 bytes" in client.at("hover", URI, *place(text, "staged"))["contents"]["value"]
    hints = client.of("inlayHint", URI, range=ALL)
    assert [hint["label"] for hint in hints] == [
        "ld.global.v4 × 4, st.shared.v4 × 4, no conflicts",
        "ld.shared.v4 × 4, st.global.v4 × 4, no conflicts",
    ], hints
    lens = client.of("codeLens", URI)[0]["command"]
    lens.pop("title")
    assert client.request("workspace/executeCommand", lens)["good"]
    said = client.wait_for("window/showMessage")["params"]["message"]
    assert said.startswith("move: finished on the virtual GPU, nothing found; `B == A` holds"), said
    assert client.leave() == 0


def typing(client):
    """Every key of a change, one by one; the last text is the one that counts."""
    client.initialize()
    client.open(URI, KERNEL.replace("T.cuda.cta_synk()", ""))
    row = KERNEL[: KERNEL.index("T.cuda")].count("\n")
    for number, key in enumerate("T.cuda.cta_sync()"):
        at = {"line": row, "character": 4 + number}
        client.change(URI, 2 + number, {"range": {"start": at, "end": at}, "text": key})
    assert client.diagnostics(URI, 1 + len("T.cuda.cta_sync()")) == []
    assert client.leave() == 0


def hostile(client):
    """Bytes that no client should send; the server answers, or ends, and never dies."""
    client.send_bytes(b'Content-Length: 9\r\n\r\n{"a":"\xff"}')
    client.send_bytes(b"Content-Length: 2\r\n\r\n[]")
    client.initialize()
    assert client.responses.pop(None)["error"]["code"] in (-32700, -32600)
    for method, params in [("textDocument/hover", None), ("textDocument/hover", {"textDocument": 3})]:
        try:
            client.request(method, params)
            raise AssertionError("was taken")
        except ServerError as error:
            assert error.code == -32602, error.code
    client.open(URI, "\x00\ud83d\ude00 prim_func ((((")
    assert client.diagnostics(URI, 1)[0]["severity"] == 1
    client.notify("textDocument/didChange", {"textDocument": {"uri": URI, "version": 2}})
    client.open("file:///deep.py", "prim_func = " + "(" * 100000)
    assert "deep" in client.diagnostics("file:///deep.py", 1)[0]["message"]
    client.send_bytes(b"Content-Length: what\r\n\r\n")
    assert client.process.wait() == 1, "the end without shutdown"


def leaving(client):
    """`exit` without `shutdown`."""
    client.initialize()
    client.notify("exit", None)
    assert client.process.wait() == 1


def agreement(client):
    """The server has errors in a file exactly where `warpwright explain` has, and the same ones."""
    client.initialize()
    count = 0
    for folder in ("errors", "refused", "basics", "rows"):
        for name in sorted(os.listdir(os.path.join(EXAMPLES, folder))):
            path = os.path.join(EXAMPLES, folder, name)
            with open(path, encoding="utf-8") as file:
                client.open("file://" + path, file.read())
            shown = client.diagnostics("file://" + path, 1)
            errors = [each for each in shown if each["severity"] == 1]
            explained = subprocess.run([PROGRAM, "explain", path], capture_output=True, text=True)
            assert bool(errors) == (explained.returncode != 0), (path, errors, explained.stderr)
            for each in errors:
                start = each["range"]["start"]
                place = f"{path}:{start['line'] + 1}:{start['character'] + 1}: error: "
                said = place + each["message"].split("\n")[0]
                assert said in explained.stderr, (said, explained.stderr)
            count += 1
    print(f"{count} files")
    assert client.leave() == 0


def types(client):
    """Every request that editors make, each message held against the protocol's types."""
    everything = {
        "textDocument": {
            "hover": {"contentFormat": ["markdown", "plaintext"]},
            "completion": {"completionItem": {"documentationFormat": ["markdown"]}},
            "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}}},
            "publishDiagnostics": {"relatedInformation": True, "versionSupport": True},
        },
        "window": {"workDoneProgress": True},
    }
    client.initialize(everything)
    client.open(URI, KERNEL)
    problem = client.diagnostics(URI, 1)[0]
    client.of("codeAction", URI, range=problem["range"], context={"diagnostics": [problem]})
    for name in ("gemm_hopper.py", "transpose.py", "errors/" + sorted(os.listdir(os.path.join(EXAMPLES, "errors")))[0]):
        text = open(os.path.join(EXAMPLES, name), encoding="utf-8").read()
        uri = "file:///" + name
        client.open(uri, text)
        client.diagnostics(uri, 1)
        lines = text.split("\n")
        for line in range(0, len(lines), max(1, len(lines) // 12)):
            for method in ("hover", "completion", "definition", "signatureHelp"):
                client.at(method, uri, line, len(lines[line]) // 2)
        client.of("inlayHint", uri, range=ALL)
        client.of("codeLens", uri)
    fixed = "file:///fixed.py"
    client.open(fixed, KERNEL.replace("cta_synk", "cta_sync"))
    assert client.diagnostics(fixed, 1) == []
    lens = client.of("codeLens", fixed)[0]["command"]
    client.request("workspace/executeCommand", {"command": lens["command"], "arguments": lens["arguments"]})
    client.wait_for("window/showMessage")
    client.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
    assert client.leave() == 0
    print(f"{client.checked} messages of the server")


def processor_time(client):
    """Milliseconds of all threads of the server, where the system tells them."""
    total = 0
    for thread in os.listdir(f"/proc/{client.process.pid}/task"):
        with open(f"/proc/{client.process.pid}/task/{thread}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[0]) / 1e6
    return total


def latency(client):
    """From a change to its diagnostics, in files that are matrix products. Printed, not checked."""
    client.initialize()
    for name in ("gemm_mma.py", "gemm_hopper.py", "gemm.py", "transpose.py"):
        text = open(os.path.join(EXAMPLES, name), encoding="utf-8").read()
        uri = "file:///" + name
        client.open(uri, text)
        client.diagnostics(uri, 1)
        times = []
        used = processor_time(client)
        for version in range(2, 7):
            start = time.perf_counter()
            nothing = {"line": 0, "character": 0}
            client.change(uri, version, {"range": {"start": nothing, "end": nothing}, "text": "#"})
            message = client.wait_for(
                "textDocument/publishDiagnostics",
                lambda params: params["uri"] == uri and params["version"] == version,
            )
            assert message["params"]["diagnostics"] == [], message
            times.append(1000 * (message["when"] - start))
        used = (processor_time(client) - used) / len(times)
        print(f"{name}: median {statistics.median(times):.0f} ms, {used:.0f} ms of processor time")
    assert client.leave() == 0


def megabytes(client):
    """Memory of the server, where the system tells it."""
    with open(f"/proc/{client.process.pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:")) / 1024


def memory(client):
    """More than a thousand edits of a large file: the server gives back what each has taken."""
    client.initialize()
    client.open(URI, KERNEL.replace("cta_synk", "cta_sync") + "# " + "a" * 100_000 + "\n")
    version, used = 1, []
    start = {"line": 0, "character": 0}
    for _ in range(4):
        for edit in range(300):
            end = {"line": 0, "character": edit % 2}
            change = {"range": {"start": start, "end": end}, "text": "" if edit % 2 else "#"}
            version += 1
            client.change(URI, version, change)
            if edit % 10 == 9:
                assert client.diagnostics(URI, version) == []
        used.append(megabytes(client))
    print("megabytes after each 300 edits:", *(f"{each:.0f}" for each in used))
    assert used[-1] < used[0] + 10 and used[-1] < 100, used
    assert client.leave() == 0


def client_class():
    """The one that knows the protocol's types, for the session that needs it."""
    if sys.argv[2] != "types":
        return Client
    try:
        from typed_client import TypedClient
    except ImportError:
        sys.exit(77)  # a test that is skipped
    return TypedClient


def main():
    with client_class()([PROGRAM, "lsp"]) as client:
        globals()[sys.argv[2]](client)


if __name__ == "__main__":
    main()
