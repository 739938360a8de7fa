# SPDX-License-Identifier: Apache-2.0
"""What a kernel is compiled from."""

from __future__ import annotations

from typing import NamedTuple


class Source(NamedTuple):
    """Two equal sources give the same kernel."""

    path: str  # for messages
    text: str
    kernel: str  # an expression over the text's names
    target: str
    prelude: str  # values of the caller's, as statements
