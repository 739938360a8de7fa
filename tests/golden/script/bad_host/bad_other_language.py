#: kernel = build()::f
import tilelang.language as T

def build():
    @T.prim_func
    def f(a: T.handle):
        A = T.match_buffer(a, (64,), "float32")

    return f
#--- expected
--kernel:1:1: error: no kernel `f` was defined by `build()` [NotAKernel]
    build()
    ^~~~~~~
  note: `@T.prim_func` defines one where `T` is `from tvm.script import tirx as T`
