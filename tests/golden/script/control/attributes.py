# Attributes of the function, of a block, and of the rest of a block.
@T.prim_func
def f(a: T.handle):
    T.func_attr({"global_symbol": "main", "tirx.noalias": True, "w": 1.5})
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    T.attr({"tirx.launch_bounds_min_blocks_per_sm": 2})
    with T.attr({"pragma": "x", "level": 3}):
        A[tx, 0] = 1.0
    T.hint("message", depth=2)
    A[tx, 1] = 2.0
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    T.func_attr({"global_symbol": "main", "tirx.noalias": True, "w": 1.5})
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    T.attr({"tirx.launch_bounds_min_blocks_per_sm": 2})
    with T.attr({"pragma": "x"}):
        with T.attr({"level": 3}):
            A[tx, 0] = T.float32(1.0)
    T.attr({"tirx.hint": "message"})
    T.attr({"tirx.hint.depth": 2})
    A[tx, 1] = T.float32(2.0)
