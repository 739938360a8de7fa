# SPDX-License-Identifier: Apache-2.0
from tvm.script import tirx as T
from tvm.tirx.layout import coalesced_layout, mma_tile_layout, reduced_layout, row_layout, wgmma_tile_layout


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
    T.alloc_buffer((64, 60), "float32", scope="local", layout=wgmma_tile_layout("D", (64, 60), "float32"))
    T.alloc_buffer((64, 64), "float32", scope="local", layout=wgmma_tile_layout("AB", (64, 64), "float16"))
#--- expected
bad_register_tiles.py:11:63: error: shape (64,60) has 60 columns; operand D over 2 warps takes multiples of 16 [BadArgument]
        T.alloc_buffer((64, 60), "float32", scope="local", layout=mma_tile_layout("D", (64, 60), "float32", warps=(2, 2)))
                                                                  ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_register_tiles.py:12:63: error: operand `X` of mma.sync; there are A, B, C and D [BadArgument]
        T.alloc_buffer((64, 64), "float32", scope="local", layout=mma_tile_layout("X", (64, 64), "float32"))
                                                                  ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_register_tiles.py:13:112: error: 1 numbers of warps, expected (along M, along N) [RankMismatch]
        T.alloc_buffer((64, 64), "float32", scope="local", layout=mma_tile_layout("D", (64, 64), "float32", warps=(2,)))
                                                                                                                   ^~
bad_register_tiles.py:14:62: error: shape (3,10) has 10 columns, which 64 threads cannot share evenly [BadArgument]
        T.alloc_buffer((3, 10), "float32", scope="local", layout=row_layout((3, 10), 64))
                                                                 ^~~~~~~~~~~~~~~~~~~~~~~
bad_register_tiles.py:15:61: error: shape (3,8) has 3 rows, which 16 threads cannot share evenly [BadArgument]
        T.alloc_buffer((3, 8), "float32", scope="local", layout=coalesced_layout((3, 8), 32, "float32"))
                                                                ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_register_tiles.py:16:60: error: dimension 2 of a shape of 2 [BadArgument]
        T.alloc_buffer((64,), "float32", scope="local", layout=reduced_layout(row_layout((64, 64), 64), (64, 64), 2))
                                                               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_register_tiles.py:17:63: error: shape (64,60) for operand D of wgmma over 1 warpgroup, expected multiples of 64 rows and 8 columns [BadArgument]
        T.alloc_buffer((64, 60), "float32", scope="local", layout=wgmma_tile_layout("D", (64, 60), "float32"))
                                                                  ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_register_tiles.py:18:81: error: operand "AB", expected "A", "C" or "D" [BadArgument]
        T.alloc_buffer((64, 64), "float32", scope="local", layout=wgmma_tile_layout("AB", (64, 64), "float16"))
                                                                                    ^~~~
