# SPDX-License-Identifier: Apache-2.0
from typing import Any

T: Any
Tx: Any
S: Any
R: Any
Axis: Any

m: Any
tx: Any
warpid: Any
laneid: Any
wgid: Any
tid_in_wg: Any
wid_in_wg: Any
cbx: Any
cby: Any
cbz: Any
bx: Any
by: Any
bz: Any
TLane: Any
TCol: Any
P: Any
F: Any
Bank: Any

ComposeLayout: Any
Iter: Any
SwizzleLayout: Any
SwizzleMode: Any
TileLayout: Any
coalesced_layout: Any
column_layout: Any
get_swizzle_mode_from_layout: Any
mma_atom_layout: Any
mma_atom_shape: Any
mma_shared_layout: Any
mma_tile_layout: Any
reduced_layout: Any
row_layout: Any
sf_smem_layout: Any
sf_tmem_layout: Any
tcgen05_atom_layout: Any
tma_atom_layout: Any
tma_atom_shape: Any
tma_shared_layout: Any
tmem_datapath_layout: Any
tmem_mma_operand_layout: Any
wg_local_layout: Any
wgmma_tile_layout: Any
AXES: tuple[str, ...]
LAYOUTS: tuple[str, ...]
