from tvm.script import tirx as T

@T.prim_func
def first(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1)


@T.jit
def second(A: T.Buffer((4, "n"), "float32"), n_max: T.constexpr, *, flag: T.constexpr = True):
    pass


def build(n, direction="ld", *rest, trans: bool = False, **options):
    @T.prim_func
    def load(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)

    @T.prim_func
    def store(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return load


def helper(n):
    return n
#--- expected
error: 3 kernels or builders in this file; choose one with `--kernel EXPR` [NotAKernel]
  note: kernel `first(B_ptr: T.handle)`
  note: kernel `second(A: T.Buffer((4, "n"), "float32"), n_max: T.constexpr, *, flag: T.constexpr=True)`
  note: builder `build(n, direction="ld", *rest, trans: bool=False, **options)`, with `load`, `store` inside
