#: kernel = build(1, 2, 3, 4, scale=5, extra=6)
from tvm.script import tirx as T


def total(first, /, second=10, *rest, scale, offset=1, **others):
    return (first + second + sum(rest)) * scale + offset + len(others) * 1000 + others["extra"]


def build(*args, **options):
    value = total(*args, **options)
    again = total(*[1, 2], *(3,), 4, **{"scale": 5}, extra=6, offset=value)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (value,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(again)
    return kernel
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (1057,))
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(2113.0)
