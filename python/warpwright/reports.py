# SPDX-License-Identifier: Apache-2.0
"""What a run or the compiler has to say, as objects: the JSON of the command line with names."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from typing import Any


def _pre(text: str) -> str:
    return f"<pre>{html.escape(text)}</pre>"


@dataclass(frozen=True)
class Finding:
    """Something that a kernel did and that has no meaning, seen by the virtual GPU."""

    check: str  # "race", "uninit", …
    message: str
    count: int  # how often
    line: int | None  # of the source
    column: int | None
    file: str | None  # that the line is of, where it is not the kernel's own
    instruction: str
    note: str | None  # the other party, or where an undefined value comes from
    note_line: int | None
    note_file: str | None

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.file else f"line {self.line}"
        place = f"{where}: " if self.line else ""
        times = f" ({self.count} times)" if self.count > 1 else ""
        return f"{place}{self.check}: {self.message}{times}"

    def _repr_html_(self) -> str:
        return _pre(str(self))


def _finding(row: dict[str, Any]) -> Finding:
    at, note_at = row["at"] or {}, row["note_at"] or {}
    return Finding(
        check=row["check"],
        message=row["message"],
        count=row["count"],
        line=at.get("line"),
        column=at.get("column"),
        file=at.get("file"),
        instruction=row["instruction"] or "",
        note=row["note"],
        note_line=note_at.get("line"),
        note_file=note_at.get("file"),
    )


class Report:
    """A run on the virtual GPU: how it ended, and what was found.

    `gpu` is the real GPU that it ran on, too, or instead (`device=` of `sim`), and `difference` the
    first element that has other bits there; both may be None.
    """

    def __init__(self, text: str, data: str, gpu: str = "", difference: str = ""):
        self.text = text
        self.gpu = gpu or None
        self.difference = difference or None
        self.data: dict[str, Any] = json.loads(data)
        self.findings = [_finding(row) for row in self.data["findings"]]

    @property
    def ok(self) -> bool:
        """It finished, nothing was found, and no GPU that it was compared with left other bits."""
        return self.finished and not self.findings and self.difference is None

    @property
    def finished(self) -> bool:
        return self.outcome == "finished"

    @property
    def outcome(self) -> str:
        """"finished", "trapped", "deadlocked" …; the text says why."""
        return self.data["outcome"].split(":")[0]

    @property
    def grid(self) -> tuple[int, int, int]:
        return tuple(self.data["grid"])

    @property
    def block(self) -> tuple[int, int, int]:
        return tuple(self.data["block"])

    @property
    def instructions(self) -> int:
        """Warp instructions that were executed."""
        return self.data["steps"]

    @property
    def printed(self) -> str:
        """What the kernel printed."""
        return self.data["printed"]

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Report: {self.outcome}, {len(self.findings)} findings>"

    def _repr_html_(self) -> str:
        return _pre(self.text)


class Explanation:
    """What was chosen for each primitive and why: `text` for people, `data` as the JSON has it."""

    def __init__(self, text: str, data: str):
        self.text = text
        self.data: dict[str, Any] = json.loads(data)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return _pre(self.text)
