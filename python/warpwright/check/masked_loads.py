# SPDX-License-Identifier: Apache-2.0
"""A masked load without `other` has no value where it loads nothing. Triton's PTX sets a zero there, which is made undefined."""

from __future__ import annotations

import re

_LOCATION = re.compile(r"^(#loc\d*) = loc\((.*)\)$", re.M)
_LOAD = re.compile(r"= tt\.load (.*?) : .* loc\((#loc\d*)\)$", re.M)
# In PTX, from the beginning of a load to the zeros before it.
_ZEROS = re.compile(
    r"// begin inline asm\n(?:\s*(?:\.loc\s.*|mov\.u\d+ \S+, 0x0;)\n)+(?=\s*@\S+ ld\.global)"
)
_ZERO = re.compile(r"mov\.u(\d+) (\S+), 0x0;")


def bare_loads(module: str) -> list[list[int]]:
    """Line and column of each load of Triton's IR that has a mask and no `other`."""
    locations = dict(_LOCATION.findall(module))

    def place(name: str) -> list[int]:
        while (found := re.search(r'"[^"]*":(\d+):(\d+)', locations[name])) is None:
            inner = re.search(r"#loc\d*", locations[name])
            if inner is None:
                return [0, 0]
            name = inner[0]
        return [int(found[1]), int(found[2])]

    bare, whole = [], []
    for operands, location in _LOAD.findall(module):
        (bare if operands.count("%") == 2 else whole).append(place(location))
    return [each for each in bare if each not in whole]


def without_zeros(ptx: str, loads: list[list[int]]) -> str:
    """Has registers that nothing sets in place of the zeros; their names end with the line, and lines stay where they are."""

    def undefined(zeros: re.Match) -> str:
        before = ptx[: zeros.start() + zeros[0].index("mov.")]
        place = re.match(r"\S+\s+\d+\s+(\d+)\s+(\d+)", before[before.rfind(".loc") :])
        if place is None or [int(place[1]), int(place[2])] not in loads:
            return zeros[0]
        name = f"%not_loaded_{ptx.count(chr(10), 0, zeros.end()) + 1}"
        return _ZERO.sub(rf"{{ .reg .b\1 {name}; mov.u\1 \2, {name}; }}", zeros[0])

    return _ZEROS.sub(undefined, ptx)
