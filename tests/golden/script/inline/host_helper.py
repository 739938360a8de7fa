# Host functions take values of run time through arithmetic.
def coord(t, w):
    return t // w, t % w

def clamp(v, lo=0, hi=7):
    return T.max(lo, T.min(v, hi))

def log2(n):
    count = 0
    while n > 1:
        n //= 2
        count += 1
    return count

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    r, c = coord(tx, 4)
    A[r, c] = clamp(tx, hi=3)
    A[sum(range(3)), log2(16)] = [tx + k for k in range(3)][2]
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    r: T.int32 = tx // 4
    c: T.int32 = tx % 4
    A[r, c] = T.Cast("float32", T.max(0, T.min(tx, 3)))
    A[3, 4] = T.Cast("float32", tx + 2)
