# SPDX-License-Identifier: Apache-2.0
from tvm.script import tirx as T
from tvm.tirx.layout import coalesced_layout, mma_tile_layout, reduced_layout, row_layout


@T.prim_func
def kernel(X: T.Buffer((64, 64), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([256])
    T.alloc_buffer((64, 60), "float32", scope="local", layout=mma_tile_layout("D", (64, 60), "float32", warps=(2, 2)))
    T.alloc_buffer((64, 64), "float32", scope="local", layout=mma_tile_layout("X", (64, 64), "float32"))
    T.alloc_buffer((64, 64), "float32", scope="local", layout=mma_tile_layout("D", (64, 64), "float32", warps=(2,)))
    T.alloc_buffer((3, 10), "float32", scope="local", layout=row_layout((3, 10), 64))
    T.alloc_buffer((3, 8), "float32", scope="local", layout=coalesced_layout((3, 8), 32, "float32"))
    T.alloc_buffer((64,), "float32", scope="local", layout=reduced_layout(row_layout((64, 64), 64), (64, 64), 2))
#--- expected
