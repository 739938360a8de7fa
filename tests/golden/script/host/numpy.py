#: kernel = build((4, 8))
import math

import numpy as np
import tvm
from tvm.script import tirx as T
from tvm.target import Target

assert np.prod(()) == 1 and isinstance(np.prod(()), float) and np.sum([]) == 0
assert np.prod([[2, 3], [4, 5]]) == 120 and np.sum((1.5, 2)) == 3.5 and np.prod(7) == 7
assert np.max([1, 7, 3]) == 7 and np.min([[1, -7], [3, 2]]) == -7 and np.gcd(12, 18) == 6
assert np.ceil(2) == 2 and isinstance(np.ceil(2), float) and np.floor(-1.5) == -2
assert np.log2(8) == 3 and np.sqrt(4) == 2 and np.lcm(4, 6) == 12 and np.pi == math.pi
assert np.dtype("float16").itemsize == 2
assert Target({"kind": "cuda", "arch": "sm_100a"}).arch == "sm_100a"
assert Target("cuda -arch=sm_80 -libs=cudnn").arch == "sm_80"

# What NumPy has beyond that is not known, and harms nobody who does not need it.
data = np.random.rand(*(4, 8)).astype("float16")
np.prod(data), np.prod((4, 8), axis=0), np.max(data), np.sqrt(data), np.ceil(2.5, out=data)
wide = np.prod([2**40, 2**40])


def build(shape):
    threads = 32
    if np.prod(shape) > 1024:
        threads = 128
    n = int(np.prod(shape))
    with tvm.target.Target("cuda"):
        bits = int(np.ceil(np.log2(n)))

    @T.prim_func
    def kernel(A: T.Buffer((n,), "int32")):
        T.device_entry()
        T.cta_id([1])
        t = T.thread_id([threads])
        A[t] = bits + int(np.prod(A.shape))
    return kernel
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(A: T.Buffer((32,), "int32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    A[t] = 37
