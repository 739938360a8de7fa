# SPDX-License-Identifier: Apache-2.0
"""What a kernel is compiled from."""

from __future__ import annotations

from typing import Iterator, NamedTuple


class File(NamedTuple):
    """A file that a kernel needs besides its own."""

    module: str  # the name that the others import it by
    path: str  # for messages
    text: str
    prelude: str


class Source(NamedTuple):
    """Two equal sources give the same kernel."""

    path: str  # for messages
    text: str
    kernel: str  # an expression over the text's names
    target: str
    prelude: str  # values of the caller's, as statements
    module: str = ""  # the name that the other files import this one by
    files: tuple[File, ...] = ()

    def parts(self) -> Iterator[str]:
        """All that decides the kernel, in an order that says what is what."""
        yield from self[:6]
        for file in self.files:
            yield from file
