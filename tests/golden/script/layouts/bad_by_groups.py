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
bad_by_groups.py:12:85: error: separators (0, 2) of 3 iters, expected 0 to 3 in ascending order [BadArgument]
        a = T.alloc_buffer((24,), "float32", scope="shared", layout=L.permute_by_groups([0, 2], [0]))
                                                                                        ^~~~~~
bad_by_groups.py:13:85: error: separators (0, 2, 1, 3) of 3 iters, expected 0 to 3 in ascending order [BadArgument]
        b = T.alloc_buffer((24,), "float32", scope="shared", layout=L.permute_by_groups([0, 2, 1, 3], [2, 1, 0]))
                                                                                        ^~~~~~~~~~~~
bad_by_groups.py:14:96: error: group 2, expected 0 to 1 [OutOfBounds]
        c = T.alloc_buffer((24,), "float32", scope="shared", layout=L.permute_by_groups([0, 2, 3], [2, 0]))
                                                                                                   ^~~~~~
bad_by_groups.py:15:65: error: (0,1,0,1) is not a permutation of the 3 iters [BadArgument]
        d = T.alloc_buffer((24,), "float32", scope="shared", layout=L.permute_by_groups([0, 2, 3], [0, 0]))
                                                                    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
