#: kernel = build(32)
import numpy as np
from tvm.script import tirx as T

unknown = np.zeros((4, 4))
a, (b, *c) = unknown.shape, [unknown + 1, -unknown, unknown @ unknown]
table = {"x": unknown[0, 1:], "n": 7}
rows = [r.sum() for r in unknown]
text = f"{unknown.mean():.3f} of {table}"
best = max(unknown, key=lambda v: v[0]) if unknown.any() else None
small = unknown is None or unknown.size < 3 < 5
unknown[0] = 1
unknown.flags.writeable = False
with np.errstate(all="ignore") as state:
    total = sum(len(r) for r in rows)
for i, row in enumerate(unknown):
    table["n"] = i
with open("data.txt") as file:
    lines = [int(x) for x in file]


def count(values):
    found = 0
    for v in values:
        found += 1
    while found > np.e:
        found -= 1
    return found


def add(x, y):
    return x + y


def build(n):
    how_many = count(unknown) + add(*unknown) + add(1, **unknown.options)
    print(how_many, text, state)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(n)
    return kernel
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,))
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(32.0)
