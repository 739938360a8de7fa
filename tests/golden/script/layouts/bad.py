#=== axes
# Axes that are none, or were not imported.
from tvm.tirx.layout import R, S, TileLayout, tid

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    t = T.thread_id([32])
    a0 = T.alloc_local((32,), "float32", layout=TileLayout(S[(32,) : (1 @ 32,)]))
    a1 = T.alloc_local((32,), "float32", layout=TileLayout(S[(32,) : (1 @ lane,)]))
    a2 = T.alloc_local((32,), "float32", layout=TileLayout(S[(32,) : (1 @ laneid,)]))
    a3 = T.alloc_local((32,), "float32", layout=TileLayout(S[(32,) : (1 @ tid,)]))
    a4 = T.alloc_local((32, 2), "float32", layout=TileLayout(S[(32, 2), (2, 1)]))
    a5 = T.alloc_local((32, 2), "float32", layout=TileLayout(S[(32, 2) : 2]))
#--- expected
axes.py:9:71: error: `@` of int and int [BadType]
        a0 = T.alloc_local((32,), "float32", layout=TileLayout(S[(32,) : (1 @ 32,)]))
                                                                          ^~~~~~
  note: `stride @ axis` places elements; axes are tx, laneid, warpid, wgid, tid_in_wg, wid_in_wg, TLane, TCol, of tvm.tirx.layout
axes.py:10:75: error: `lane` has no value here; did you mean `len`? [UnknownName]
        a1 = T.alloc_local((32,), "float32", layout=TileLayout(S[(32,) : (1 @ lane,)]))
                                                                              ^~~~
  note: `stride @ axis` places elements; axes are tx, laneid, warpid, wgid, tid_in_wg, wid_in_wg, TLane, TCol, of tvm.tirx.layout
axes.py:11:75: error: `laneid` has no value here [UnknownName]
        a2 = T.alloc_local((32,), "float32", layout=TileLayout(S[(32,) : (1 @ laneid,)]))
                                                                              ^~~~~~
  note: `from tvm.tirx.layout import laneid` brings it
axes.py:12:60: error: this value is not known at compile time: `tvm.tirx.layout` has no `tid`; did you mean `wgid`? [Opaque]
        a3 = T.alloc_local((32,), "float32", layout=TileLayout(S[(32,) : (1 @ tid,)]))
                                                               ^~~~~~~~~~~~~~~~~~~~~
axes.py:2:47: note: it comes from here
    from tvm.tirx.layout import R, S, TileLayout, tid
                                                  ^~~
axes.py:13:62: error: found a comma between two tuples, expected `extents : strides` [Syntax]
        a4 = T.alloc_local((32, 2), "float32", layout=TileLayout(S[(32, 2), (2, 1)]))
                                                                 ^~~~~~~~~~~~~~~~~~
axes.py:14:62: error: 2 extents and 1 stride [CountMismatch]
        a5 = T.alloc_local((32, 2), "float32", layout=TileLayout(S[(32, 2) : 2]))
                                                                 ^~~~~~~~~~~~~~
#=== by_groups
from tvm.script import tirx as T
from tvm.tirx.layout import S, TileLayout

L = TileLayout(S[(2, 3, 4) : (12, 4, 1)])


@T.prim_func
def f(A: T.Buffer((24,), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([32])
    a = T.alloc_buffer((24,), "float32", scope="shared", layout=L.permute_by_groups([0, 2], [0]))
    b = T.alloc_buffer((24,), "float32", scope="shared", layout=L.permute_by_groups([0, 2, 1, 3], [2, 1, 0]))
    c = T.alloc_buffer((24,), "float32", scope="shared", layout=L.permute_by_groups([0, 2, 3], [2, 0]))
    d = T.alloc_buffer((24,), "float32", scope="shared", layout=L.permute_by_groups([0, 2, 3], [0, 0]))
#--- expected
by_groups.py:12:85: error: separators (0, 2) of 3 iters, expected 0 to 3 in ascending order [BadArgument]
        a = T.alloc_buffer((24,), "float32", scope="shared", layout=L.permute_by_groups([0, 2], [0]))
                                                                                        ^~~~~~
by_groups.py:13:85: error: separators (0, 2, 1, 3) of 3 iters, expected 0 to 3 in ascending order [BadArgument]
        b = T.alloc_buffer((24,), "float32", scope="shared", layout=L.permute_by_groups([0, 2, 1, 3], [2, 1, 0]))
                                                                                        ^~~~~~~~~~~~
by_groups.py:14:96: error: group 2, expected 0 to 1 [OutOfBounds]
        c = T.alloc_buffer((24,), "float32", scope="shared", layout=L.permute_by_groups([0, 2, 3], [2, 0]))
                                                                                                   ^~~~~~
by_groups.py:15:65: error: (0,1,0,1) is not a permutation of the 3 iters [BadArgument]
        d = T.alloc_buffer((24,), "float32", scope="shared", layout=L.permute_by_groups([0, 2, 3], [0, 0]))
                                                                    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== call
from tvm.tirx.layout import S, TileLayout
layout = TileLayout(S((8, 4), (4, 1)))

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (64,), "float32")
    T.device_entry()
    block = T.cta_id([2])
    t = T.thread_id([32])
    A[t] = layout.size()
#--- expected
call.py:10:12: error: this value is not known at compile time: a layout is written with brackets, not called [Opaque]
        A[t] = layout.size()
               ^~~~~~~~~~~~~
#=== register_tiles
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
register_tiles.py:11:63: error: shape (64,60) has 60 columns; operand D over 2 warps takes multiples of 16 [BadArgument]
        T.alloc_buffer((64, 60), "float32", scope="local", layout=mma_tile_layout("D", (64, 60), "float32", warps=(2, 2)))
                                                                  ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
register_tiles.py:12:63: error: operand `X` of mma.sync; there are A, B, C and D [BadArgument]
        T.alloc_buffer((64, 64), "float32", scope="local", layout=mma_tile_layout("X", (64, 64), "float32"))
                                                                  ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
register_tiles.py:13:112: error: 1 numbers of warps, expected (along M, along N) [RankMismatch]
        T.alloc_buffer((64, 64), "float32", scope="local", layout=mma_tile_layout("D", (64, 64), "float32", warps=(2,)))
                                                                                                                   ^~
register_tiles.py:14:62: error: shape (3,10) has 10 columns, which 64 threads cannot share evenly [BadArgument]
        T.alloc_buffer((3, 10), "float32", scope="local", layout=row_layout((3, 10), 64))
                                                                 ^~~~~~~~~~~~~~~~~~~~~~~
register_tiles.py:15:61: error: shape (3,8) has 3 rows, which 16 threads cannot share evenly [BadArgument]
        T.alloc_buffer((3, 8), "float32", scope="local", layout=coalesced_layout((3, 8), 32, "float32"))
                                                                ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
register_tiles.py:16:60: error: dimension 2 of a shape of 2 [BadArgument]
        T.alloc_buffer((64,), "float32", scope="local", layout=reduced_layout(row_layout((64, 64), 64), (64, 64), 2))
                                                               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
register_tiles.py:17:63: error: shape (64,60) for operand D of wgmma over 1 warpgroup, expected multiples of 64 rows and 8 columns [BadArgument]
        T.alloc_buffer((64, 60), "float32", scope="local", layout=wgmma_tile_layout("D", (64, 60), "float32"))
                                                                  ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
register_tiles.py:18:81: error: operand "AB", expected "A", "C" or "D" [BadArgument]
        T.alloc_buffer((64, 64), "float32", scope="local", layout=wgmma_tile_layout("AB", (64, 64), "float16"))
                                                                                    ^~~~
#=== specs
from tvm.tirx.layout import S, TileLayout, ComposeLayout, laneid

FRAG = TileLayout(S[(2, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)])

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    a0 = T.alloc_local((4,), "float32", layout=TileLayout(S[(2, 2) : (1,)]))
    a1 = T.alloc_local((4,), "float32", layout=TileLayout(S[(2, 2) : (1, "x")]))
    a2 = T.alloc_local((4,), "float32", layout=TileLayout(S[0]))
    a3 = T.alloc_local((4,), "float32", layout=TileLayout(S[4] + S[4]))
    a4 = T.alloc_local((4,), "float32", layout=ComposeLayout(3, 4, 3, TileLayout(S[4])))
    a5 = T.alloc_local((tx,), "float32", layout=TileLayout(S[tx]))
    a6 = T.alloc_local((4,), "float32", layout=TileLayout(S[4 : 1 @ tx]))
    a7 = FRAG.tile_to([16, 16], [16, 7])
    a8 = FRAG.apply(1, 2, 3, shape=(16, 8))
#--- expected
specs.py:10:59: error: 2 extents and 1 stride [CountMismatch]
        a0 = T.alloc_local((4,), "float32", layout=TileLayout(S[(2, 2) : (1,)]))
                                                              ^~~~~~~~~~~~~~~~
specs.py:11:59: error: a stride is str 'x', expected an integer that is known at compile time [BadType]
        a1 = T.alloc_local((4,), "float32", layout=TileLayout(S[(2, 2) : (1, "x")]))
                                                              ^~~~~~~~~~~~~~~~~~~~
specs.py:12:59: error: shard extent 0 is not positive [BadExtent]
        a2 = T.alloc_local((4,), "float32", layout=TileLayout(S[0]))
                                                              ^~~~
specs.py:13:59: error: found a second `S[…]`, expected `R[…]` or an offset [Syntax]
        a3 = T.alloc_local((4,), "float32", layout=TileLayout(S[4] + S[4]))
                                                              ^~~~~~~~~~~
specs.py:14:48: error: swizzle (3,4,3): the atom length 3 is below the swizzle length 4 [BadSwizzle]
        a4 = T.alloc_local((4,), "float32", layout=ComposeLayout(3, 4, 3, TileLayout(S[4])))
                                                   ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
specs.py:15:60: error: an extent is a value of run time, expected an integer that is known at compile time [BadType]
        a5 = T.alloc_local((tx,), "float32", layout=TileLayout(S[tx]))
                                                               ^~~~~
specs.py:16:65: error: `@` of a value of run time [BadType]
        a6 = T.alloc_local((4,), "float32", layout=TileLayout(S[4 : 1 @ tx]))
                                                                    ^~~~~~
specs.py:17:10: error: dimension 1 of (16,16) is not a multiple of that of (16,7) [Indivisible]
        a7 = FRAG.tile_to([16, 16], [16, 7])
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
specs.py:18:10: error: 3 coordinates for a shape of 2 dimensions [RankMismatch]
        a8 = FRAG.apply(1, 2, 3, shape=(16, 8))
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
