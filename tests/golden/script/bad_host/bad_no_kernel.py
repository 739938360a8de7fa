from tvm.script import tirx as T


def helper(n):
    return n
#--- expected
error: no kernel in this file: no function is decorated with `@T.prim_func` or `@T.jit` [NotAKernel]
