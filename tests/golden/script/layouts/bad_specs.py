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
bad_specs.py:10:59: error: 2 extents and 1 stride [CountMismatch]
        a0 = T.alloc_local((4,), "float32", layout=TileLayout(S[(2, 2) : (1,)]))
                                                              ^~~~~~~~~~~~~~~~
bad_specs.py:11:59: error: a stride is str 'x', expected an integer that is known at compile time [BadType]
        a1 = T.alloc_local((4,), "float32", layout=TileLayout(S[(2, 2) : (1, "x")]))
                                                              ^~~~~~~~~~~~~~~~~~~~
bad_specs.py:12:59: error: shard extent 0 is not positive [BadExtent]
        a2 = T.alloc_local((4,), "float32", layout=TileLayout(S[0]))
                                                              ^~~~
bad_specs.py:13:59: error: found a second `S[…]`, expected `R[…]` or an offset [Syntax]
        a3 = T.alloc_local((4,), "float32", layout=TileLayout(S[4] + S[4]))
                                                              ^~~~~~~~~~~
bad_specs.py:14:48: error: swizzle (3,4,3): the atom length 3 is below the swizzle length 4 [BadSwizzle]
        a4 = T.alloc_local((4,), "float32", layout=ComposeLayout(3, 4, 3, TileLayout(S[4])))
                                                   ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_specs.py:15:60: error: an extent is a value of run time, expected an integer that is known at compile time [BadType]
        a5 = T.alloc_local((tx,), "float32", layout=TileLayout(S[tx]))
                                                               ^~~~~
bad_specs.py:16:65: error: `@` of a value of run time [BadType]
        a6 = T.alloc_local((4,), "float32", layout=TileLayout(S[4 : 1 @ tx]))
                                                                    ^~~~~~
bad_specs.py:17:10: error: dimension 1 of (16,16) is not a multiple of that of (16,7) [Indivisible]
        a7 = FRAG.tile_to([16, 16], [16, 7])
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_specs.py:18:10: error: 3 coordinates for a shape of 2 dimensions [RankMismatch]
        a8 = FRAG.apply(1, 2, 3, shape=(16, 8))
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
