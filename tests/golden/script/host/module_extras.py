"""A docstring, type hints, imports that may fail, and a main program."""
from __future__ import annotations

from typing import Optional

from tvm.script import tirx as T

try:
    import cupy
except ImportError:
    cupy = None

try:
    from fastmath import SIZE
except ImportError:
    SIZE = 0

LIMIT: int = 32
UNUSED: Optional[int]


def describe(x: int, name: Optional[str] = None) -> str:
    """What nobody asks for."""
    return f"{name}: {x}"


@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (LIMIT,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1)


if __name__ == "__main__":
    LIMIT = cupy.zeros(3)
    print(describe(LIMIT))
    kernel = None
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,))
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1.0)
