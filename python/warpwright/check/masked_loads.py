# SPDX-License-Identifier: Apache-2.0
"""A masked load without `other` has no value where it loads nothing. Triton's PTX has a zero there, which is made undefined."""

from __future__ import annotations

import re

_LOCATION = re.compile(r"^(#loc\d*) = loc\((.*)\)$", re.M)
_LOAD = re.compile(r"= tt\.load (.*?) : .* loc\((#loc\d*)\)$", re.M)
# In PTX, from the beginning of a load to the zeros before it.
_ZEROS = re.compile(
    r"// begin inline asm\n(?:\s*(?:\.loc\s.*|mov\.u\d+ \S+, 0x0;)\n)+(?=\s*@\S+ ld\.global)"
)
_ZERO = re.compile(r"mov\.u(\d+) (\S+), 0x0;")
# A load ahead, by way of shared memory, of so many bytes or none, in whose place come zeros.
_COPY = re.compile(r"(?<=\t)cp\.async\.c[ag]\S+ \[ (\S+) \+ 0x?0* \],.*, 0x(\w+), (%\w+);")


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

    def undefined(found: re.Match, begin: int) -> str:
        before = found.string[found.string.rfind(".loc", 0, begin) : begin]
        place = re.match(r"\S+\s+\d+\s+(\d+)\s+(\d+)", before)
        is_bare = place is not None and [int(place[1]), int(place[2])] in loads
        return f"%not_loaded_{found.string.count(chr(10), 0, found.end()) + 1}" if is_bare else ""

    def set_nothing(zeros: re.Match) -> str:
        name = undefined(zeros, zeros.start() + zeros[0].index("mov."))
        unset = rf"{{ .reg .b\1 {name}; mov.u\1 \2, {name}; }}"
        return _ZERO.sub(unset, zeros[0]) if name else zeros[0]

    def copy_nothing(copy: re.Match) -> str:
        name = undefined(copy, copy.start())
        words = range(0, int(copy[2], 16), 4)
        stores = " ".join(f"@!%any st.shared.b32 [{copy[1]} + {at}], {name};" for at in words)
        unset = f".reg .pred %any; .reg .b32 {name}; setp.ne.b32 %any, {copy[3]}, 0;"
        return f"{{ {unset} @%any {copy[0]} {stores} }}" if name else copy[0]

    return _COPY.sub(copy_nothing, _ZEROS.sub(set_nothing, ptx))
