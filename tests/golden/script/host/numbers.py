#: kernel = build((4, 8), 33)
import math

from tvm.script import tirx as T


def next_power_of_2(x):
    return 1 << (x - 1).bit_length()


def ceildiv(a, b):
    return -(-a // b)


def build(shape, n):
    size = math.prod(shape) + math.ceil(n / 8) + math.gcd(12, 18) + int(math.log2(16))
    assert -7 // 2 == -4 and -7 % 3 == 2 and 7 % -3 == -2 and 2**-1 == 0.5 and divmod(7, 2) == (3, 1)
    assert ~5 == -6 and 6 ^ 3 == 5 and 1 << 40 == 2**40 and -8 >> 1 == -4 and abs(-3) == 3
    assert 0 < size <= 100 and not (size > 50 > 60) and round(2.5) == 2 and int("12") == 12
    assert math.log2(math.e) == 1.4426950408889634 and math.tau == 2 * math.pi and math.inf > math.pi
    assert isinstance(size, int) and isinstance(shape, (list, tuple)) and not isinstance(n, str)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (next_power_of_2(size),), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(ceildiv(n, 4))
    return kernel
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (64,))
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(9.0)
