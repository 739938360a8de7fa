# SPDX-License-Identifier: Apache-2.0
"""What was found: whose fault it is, what to do about it, and reports for people, programs and code hosts."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from .driver import Launch, triton_version
from .memory import Place, View, shown

# Addresses of shared and local memory on the virtual GPU; global memory is above.
_ON_CHIP = range(1 << 32, 1 << 36)
# In a kernel of `@triton.jit` these are Triton's, wherever they are.
_TRITONS = ("fence", "async", "barrier", "tensor", "collective")
# What Gluon has no word for; nor has an author written what stands at the `def` of a kernel.
_TRITONS_IN_GLUON = re.compile(r"`tcgen05\.(wait::|fence)|^def ", re.M)
ADVICE = {
    "bounds": "mask the access (`mask=offsets < n`), or check strides, shape and grid",
    "align": "the address is no multiple of what `tl.multiple_of` or the tensor's alignment promises",
    "space": "the kernel writes memory that is read-only, or follows a pointer that is none",
    "uninit": "give `tl.load` an `other=`, mask what uses the value too, or write the memory before",
    "race": "give each program elements of its own, or use `tl.atomic_add` and the like",
    "race in one program": "put `tl.debug_barrier()` between the two accesses",
    "trap": "the message of `tl.device_assert` says what did not hold",
    "hang": "a program waits for what no other does: look at locks, counts and the order of arrivals",
    "compare": "the interpreter's value is what the source says, but for rounding",
    "race in Gluon": "a barrier or a wait must order the two accesses: `gl.barrier()`, `mbarrier.wait`",
    "fence": "put `fence_async_shared()` between writing shared memory and what reads it through TMA or MMA",
    "async": "wait for the operation first: `mbarrier.wait`, `async_copy.wait_group`, `warpgroup_mma_wait`",
    "barrier": "counts and phases of the mbarrier must fit its arrivals",
    "tensor": "allocate tensor memory before its use, and keep to its layout",
}


@dataclass(frozen=True)
class CheckFinding:
    """Something that a kernel did and that has no meaning, in the words of its source."""

    kernel: str
    check: str  # "race", "uninit", …
    message: str
    place: Place | None
    program: tuple[int, int, int]  # that did it first
    tensor: str | None = None  # the first element: "x[3, 17]"
    fault: str = "author"  # or "compiler"
    other: str | None = None  # who else took part
    origin: str | None = None  # where an undefined value comes from
    other_place: Place | None = None  # of either
    advice: str | None = None
    instruction: str = ""
    count: int = 1

    @property
    def key(self) -> tuple[str, str, str]:
        """What a baseline knows it by."""
        return self.kernel, self.check, self.place.text if self.place else self.message

    def cause(self) -> tuple:
        name = self.tensor.split("[")[0] if self.tensor else ""
        return self.kernel, self.check, self.place, self.other_place, name, self.fault

    def __str__(self) -> str:
        at, other_at = (f"{each}: " if each else "" for each in (self.place, self.other_place))
        where = f"`{self.tensor}`, " if self.tensor else ""
        times = f"; {self.count} times" if self.count > 1 else ""
        other = self.other or self.origin and f"origin: {self.origin}"
        lines = [
            f"{at}{self.check}: {self.message}",
            self.place and self.place.text,
            f"in {where}program {self.program} of `{self.kernel}`{times}",
            other and f"{other_at}{other}",
            self.advice and f"to do: {self.advice}",
        ]
        return "\n    ".join(filter(None, lines))


def findings_of(data: dict[str, Any], launch: Launch) -> list[CheckFinding]:
    """The findings of a launch's report."""
    rows = [{**row, **place} for row, place in zip(data["findings"], data["places"])]
    out = [_finding(row, launch) for row in rows if not _is_inner_branch(row, launch)]
    kind, _, reason = data["outcome"].partition(": ")
    check = {"trapped": "trap", "deadlocked": "hang"}.get(kind)
    if check and not any(each.check == "barrier" for each in out):
        text = f"{kind}: {in_tritons_words(reason, launch)}"
        out.append(CheckFinding(launch.name, check, text, None, (0, 0, 0), advice=ADVICE[check]))
    return out


def _is_inner_branch(row: dict, launch: Launch) -> bool:
    """Functions like `erf` branch on elements that were not loaded, which has no effect where the mask is false."""
    if "decides, as the guard" not in row["message"] or "%not_loaded" not in (row["note"] or ""):
        return False
    at = _place(launch, row["line"])
    return at is None or not re.match(r"(if|elif|while|for|assert)\b", at.text)


def _finding(row: dict, launch: Launch) -> CheckFinding:
    check, address = row["check"], row["address"]
    view = _view(launch, address)
    tensor = view.element(address) if view else None
    other = origin = None
    other_place = _place(launch, row["other_line"])
    message = in_tritons_words(row["message"], launch)
    if _NEVER in message and "from element" in message:  # one that spins, and not at a barrier
        check = "hang"
        message = re.sub(r"element \d+ of `[^`]+`(, `[^`]+`)*", f"`{tensor}`", message, count=1)
        if not launch.is_gluon:  # threads to which Triton hands on what others read
            message = re.sub(r"; program [^;]*(shared memory|at barrier)[^;]*", "", message)
    if check == "uninit":
        origin, other_place = _origin(row["note"] or "", other_place, launch, view)
    elif row["note"]:
        who = "written last by" if check == "hang" else "the other:"
        other = f"{who} program {_program(launch, row['other_block'])}"
    is_ones_own = row["block"] == row["other_block"]
    kind = "in Gluon" if launch.is_gluon else "in one program" if is_ones_own else ""
    at = _place(launch, row["line"])
    first = launch.name, check, message, at, _program(launch, row["block"]), tensor
    if launch.is_gluon:
        texts = [message, *(each.text for each in (at, other_place) if each)]
        is_authors = not _TRITONS_IN_GLUON.search("\n".join(texts))
    else:
        is_authors = check == "hang" or _is_authors(row, launch, view)
    return CheckFinding(
        *first,
        fault="author" if is_authors else "compiler",
        other=other,
        origin=origin,
        other_place=other_place,
        advice=ADVICE.get(f"{check} {kind}", ADVICE.get(check)),
        instruction=row["instruction"] or "",
        count=row["count"],
    )


_NEVER = "no thread can go on"
# Patterns in the virtual GPU's messages, which speak of PTX, and what they are in Triton's words.
_WORDS = {
    r"; block \([\d,]+\) warp .*": "",
    r" at 0x[0-9a-f]+": "",
    r"another block": "another program",
    r", lanes [\d,-]+": "",
    r"`%\w+` is used and holds undefined bytes": "uses a value that nothing has set",
    r"`%\w+` decides, as the guard, and is undefined": "branches on a value that nothing has set",
}


def in_tritons_words(text: str, launch: Launch) -> str:
    for pattern, words in _WORDS.items():
        text = re.sub(pattern, words, text)
    text = re.sub(
        r"block \((\d+),(\d+),(\d+)\)",
        lambda at: f"program ({int(at[1]) // launch.ctas}, {at[2]}, {at[3]})",
        text,
    )
    return re.sub(
        r"line (\d+)( \([^)]*\))?", lambda at: str(_place(launch, int(at[1])) or at[0]), text
    )


def _origin(note: str, place: Place | None, launch: Launch, view: View | None) -> tuple:
    """Where an undefined value comes from, in words, and the place of that."""
    source, _, way = note.removeprefix("origin: ").partition("; through ")
    address = re.search(r", at address (0x[0-9a-f]+)", source)
    if address is not None:
        view = _view(launch, int(address[1], 16))
    load = re.search(r"%not_loaded_(\d+)", source)
    place = _place(launch, int(load[1])) if load else place
    # What was loaded ahead, from shared memory.
    if load or view is None and place and "tl.load(" in place.text:
        text = f"`{'gl' if launch.is_gluon else 'tl'}.load` has no `other` for where its mask is false"
    elif view is not None:
        name = view.element(int(address[1], 16)) if address is not None else view.name
        made = view.block.place
        text = f"nothing has written `{name}`" + (f", made at {made}" if made else "")
    else:
        text = re.sub(r"%\w+", "the value", source)
    steps = [_place(launch, int(line)) for line in re.findall(r"in line (\d+)", way)]
    lines = dict.fromkeys(str(step.line) for step in steps if step is not None and step != place)
    return text + (f"; through line {', '.join(lines)}" if lines else ""), place


def _is_authors(row: dict, launch: Launch, view: View | None) -> bool:
    """Whether a finding in a kernel of `@triton.jit` is its author's."""
    check, address = row["check"], row["address"]
    if check in _TRITONS or check == "align" and address == 0:  # a descriptor of shared memory
        return False
    if any(each.address <= address <= each.address + each.size for each in launch.scratch):
        return False
    if check == "race" and row["block"] == row["other_block"]:
        warps = re.findall(r"\bwarp (\d+)", f"{row['message']} {row['note']}")
        # Triton gave the two accesses to different warps.
        if len({int(warp) >= launch.metadata.own_warps for warp in warps}) > 1:
            return False
    return view is not None or address not in _ON_CHIP


def _view(launch: Launch, address: int) -> View | None:
    """The argument whose memory the address is in, or the nearest below."""

    def start(view: View) -> tuple[int, int]:
        here = view.block.address
        return here, view.offset if here + view.offset <= address else 0

    below = [view for view in launch.views if view.block.address <= address]
    return max(below, key=start, default=None)


def _place(launch: Launch, line: int) -> Place | None:
    """The line of the user's: not one of Triton's own library, where that was inlined."""
    places = [Place(*each) for each in launch.kernel.places(line)]
    own = [each for each in places if "/triton/language/" not in each.file]
    code = getattr(getattr(launch.fn, "fn", None), "__code__", None)
    if own and code is not None and Path(own[0].file).name == Path(code.co_filename).name:
        # Triton's cache keeps the path of a moved file.
        own[0] = replace(own[0], file=code.co_filename)
    return (own or places or [None])[0]


def _program(launch: Launch, block: int) -> tuple[int, int, int]:
    x, y, _ = launch.grid
    return block % x // launch.ctas, block // x % y, block // (x * y)


@dataclass
class Findings:
    """All findings of a session, equal ones once."""

    baseline: set[tuple[str, str, str]] = field(default_factory=set)
    found: dict[tuple, CheckFinding] = field(default_factory=dict)
    launches: int = 0
    notes: dict[str, None] = field(default_factory=dict)  # what was not covered

    def add(self, findings: list[CheckFinding]) -> None:
        for each in findings:
            seen = self.found.get(each.cause(), replace(each, count=0))
            self.found[each.cause()] = replace(seen, count=seen.count + each.count)

    def list(self, fault: str = "author") -> list[CheckFinding]:
        new = [each for each in self.found.values() if each.key not in self.baseline]
        return [each for each in new if each.fault == fault]

    def counted(self, is_strict: bool) -> list[CheckFinding]:
        """The findings that decide the exit status."""
        return self.list() + (self.list("compiler") if is_strict else [])

    def known(self) -> int:
        return sum(each.key in self.baseline for each in self.found.values())

    def text(self, is_strict: bool = False) -> str:
        lines = [*(f"{each}\n" for each in self.counted(is_strict)), *self.notes]
        if compiler := self.list("compiler"):
            checks = ", ".join(sorted({each.check for each in compiler}))
            kernels = ", ".join(sorted({f"`{each.kernel}`" for each in compiler}))
            lines.append(
                f"compiler: {_plural(len(compiler), 'finding')} ({checks}) in code that Triton"
                f" {triton_version()} made for {kernels}: not yours; `--strict` shows them"
            )
        return "\n".join([*lines, self.summary()])

    def summary(self) -> str:
        known = f", {self.known()} known by the baseline" if self.known() else ""
        found = _plural(len(self.list()), "finding")
        return f"{found} in {_plural(self.launches, 'launch')}{known}"

    def json(self, status: int, target: str) -> dict[str, Any]:
        return {
            "schema": "warpwright/check/1",
            "triton": triton_version(),
            "target": target,
            "status": status,
            "launches": self.launches,
            "notes": list(self.notes),
            "known": self.known(),
            "findings": [_json(each) for each in self.counted(is_strict=True)],
        }

    def sarif(self) -> dict[str, Any]:
        shown = self.counted(is_strict=True)
        tool = {
            "name": "warpwright check",
            "rules": [{"id": check} for check in sorted({each.check for each in shown})],
        }
        return {
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{"tool": {"driver": tool}, "results": [_sarif(each) for each in shown]}],
        }

    def write_baseline(self, path: str) -> None:
        keys = sorted({each.key for each in self.found.values() if each.fault == "author"})
        write_json(path, {"schema": "warpwright/check-baseline/1", "findings": keys})

    def read_baseline(self, path: str) -> None:
        self.baseline = set(map(tuple, json.loads(Path(path).read_text())["findings"]))


def write_json(path: str, data: dict[str, Any]) -> None:
    """Readers see whole files only."""
    part = Path(f"{path}.part")
    part.write_text(json.dumps(data, indent=2) + "\n")
    part.replace(path)


def _plural(n: int, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}{'es' if word.endswith('ch') else 's'}"


def _json(each: CheckFinding) -> dict[str, Any]:
    out = {part.name: getattr(each, part.name) for part in fields(each)}
    for name, place in (("at", out.pop("place")), ("other_at", out.pop("other_place"))):
        out[name] = place and {**vars(place), "file": shown(place.file), "text": place.text}
    return out


def _sarif(each: CheckFinding) -> dict[str, Any]:
    def location(place: Place) -> dict[str, Any]:
        region = {"startLine": max(1, place.line), "startColumn": max(1, place.column)}
        file = {"uri": shown(place.file)}
        return {"physicalLocation": {"artifactLocation": file, "region": region}}

    text = each.message + (f" (`{each.tensor}`)" if each.tensor else "")
    return {
        "ruleId": each.check,
        "level": "error" if each.fault == "author" else "note",
        "message": {"text": f"{text} in program {each.program} of `{each.kernel}`"},
        "locations": [location(place) for place in [each.place] if place],
        "relatedLocations": [location(place) for place in [each.other_place] if place],
        "partialFingerprints": {"warpwright/1": "|".join(each.key)},
    }
