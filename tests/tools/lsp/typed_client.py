# SPDX-License-Identifier: Apache-2.0
"""A client that holds every message, its own and the server's, against the types of the protocol.

The types are lsprotocol's, which are generated from the protocol's own description: a message must become such an
object, and must be the same when it is written out again. So a field of the wrong type, a field that is missing and a
field that the protocol does not have are all found."""

from client import Client
from lsprotocol import converters, types

CONVERTER = converters.get_converter()


def plain(value):
    """Without fields that are null: absent and null are the same in the objects."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items() if each is not None}
    return [plain(each) for each in value] if isinstance(value, list) else value


def check(message, kind):
    """Raises unless the message is one of that kind and nothing more."""
    given = plain({"jsonrpc": "2.0", **message})
    again = plain(CONVERTER.unstructure(CONVERTER.structure(given, kind), unstructure_as=kind))
    assert again == given, f"{kind.__name__}\n  sent  {given}\n  known {again}"


def self_check():
    """Hovers that are wrong each in a way of its own must not pass."""
    text = {"kind": "markdown", "value": ""}
    place = {"line": 0, "character": 0}
    check({"id": 1, "result": {"contents": text}}, types.HoverResponse)
    for result in (
        {"contents": text, "picture": ""},
        {"contents": {"kind": "html", "value": ""}},
        {"contents": text, "range": {"start": place}},
        {"range": {"start": place, "end": place}},
    ):
        try:
            check({"id": 1, "result": result}, types.HoverResponse)
        except Exception:  # cattrs has many kinds
            continue
        raise AssertionError(f"{result} passes for a hover")


class TypedClient(Client):
    def __init__(self, command):
        self.asked = {}  # the response's type, by the number of the request
        self.checked = 0
        self_check()
        super().__init__(command)

    def send(self, message):
        request, response = types.METHOD_TO_TYPES[message["method"]][:2]
        check(message, request)
        if "id" in message:
            self.asked[message["id"]] = response
        super().send(message)

    def received(self, message):
        if "method" in message:
            kind = types.METHOD_TO_TYPES[message["method"]][0]
        elif "error" in message:
            kind = types.ResponseErrorMessage
        else:
            kind = self.asked[message["id"]]
        check(message, kind)
        self.checked += 1
