# Lanes of a warp exchange values.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x: T.float32 = A[0, tx]
    x = T.tvm_warp_shuffle(0xFFFFFFFF, x, 0, 32, 32)
    x = T.tvm_warp_shuffle_up(T.uint32(0xFFFFFFFF), x, 1, 32, 32)
    x = T.tvm_warp_shuffle_down(0xFFFFFFFF, x, tx, 16, 32)
    x = T.tvm_warp_shuffle_xor(T.tvm_warp_activemask(), x, 1, 32, 32)
    x = T.cuda.shfl_sync(0xFFFFFFFF, x, 3)
    x += T.cuda.shfl_xor_sync(0xFFFFFFFF, x, 3, 8)
    b = T.cuda.ballot_sync(0xFFFFFFFF, tx < 3)
    if T.cuda.any_sync(0xFFFFFFFF, tx == 1) and T.cuda.all_sync(0xFFFFFFFF, tx):
        x = T.cuda.warp_reduce(x, "max", 16)
    e = T.cuda.elect_sync()
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    x: T.float32 = A[0, tx]
    x = T.tvm_warp_shuffle(T.uint32(4294967295), x, 0, 32, 32)
    x = T.tvm_warp_shuffle_up(T.uint32(4294967295), x, 1, 32, 32)
    x = T.tvm_warp_shuffle_down(T.uint32(4294967295), x, tx, 16, 32)
    x = T.tvm_warp_shuffle_xor(T.tvm_warp_activemask(), x, 1, 32, 32)
    x = T.tvm_warp_shuffle(T.uint32(4294967295), x, 3, 32, 32)
    x = x + T.tvm_warp_shuffle_xor(T.uint32(4294967295), x, 3, 8, 32)
    b: T.uint32 = T.cuda.ballot_sync(T.uint32(4294967295), tx < 3)
    if T.cuda.any_sync(T.uint32(4294967295), tx == 1) and T.cuda.all_sync(T.uint32(4294967295), tx != 0):
        x = T.cuda.warp_reduce(x, "max", 16)
    e: T.uint32 = T.cuda.elect_sync()
