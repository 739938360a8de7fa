# SPDX-License-Identifier: Apache-2.0
"""The names of the kernel language, for Python itself.

    from warpwright.lang import T, Tx, S, R, TileLayout, laneid

A kernel's body is never executed by Python: the compiler reads its text. These names exist so that
the file is ordinary Python to the interpreter, editors and type checkers. What is computed from them
outside of a kernel (`TileLayout(S[(8, 4) : (4 @ laneid, 1)])`) keeps its own text, and a kernel that
uses the value gets that text.
"""

from __future__ import annotations

from .symbols import Symbol

AXES = (
    "m", "tx", "warpid", "laneid", "wgid", "tid_in_wg", "wid_in_wg", "cbx", "cby", "cbz", "bx", "by",
    "bz", "TLane", "TCol", "P", "F", "Bank",
)  # fmt: skip
LAYOUTS = (
    "ComposeLayout", "Iter", "SwizzleLayout", "SwizzleMode", "TileLayout", "coalesced_layout",
    "column_layout", "get_swizzle_mode_from_layout", "mma_atom_layout", "mma_atom_shape",
    "mma_shared_layout", "mma_tile_layout", "reduced_layout", "row_layout", "sf_smem_layout",
    "sf_tmem_layout", "tcgen05_atom_layout", "tma_atom_layout", "tma_atom_shape",
    "tma_shared_layout", "tmem_datapath_layout", "tmem_mma_operand_layout", "wg_local_layout",
    "wgmma_tile_layout",
)  # fmt: skip

__all__ = ["T", "Tx", "S", "R", "Axis", *AXES, *LAYOUTS]

for _name in __all__:
    globals()[_name] = Symbol(_name, frozenset([_name]))
del _name
