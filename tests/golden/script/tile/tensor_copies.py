# Settings of copies through tensor maps are read and kept.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (64, 64), "float16")
    T.device_entry()
    bx = T.cta_id([2])
    tx = T.thread_id([32])
    S0 = T.alloc_shared((16, 64), "float16")
    bar = T.alloc_shared((1,), "uint64")
    if tx == 0:
        Tx.copy_async(S0, A[bx * 48 : bx * 48 + 16, :], dispatch="tma", mbar=bar.ptr_to([0]), oob="zero")
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (64, 64), "float16")
    T.device_entry()
    bx = T.cta_id([2])
    tx = T.thread_id([32])
    S0 = T.alloc_buffer((16, 64), "float16", scope="shared")
    bar = T.alloc_shared((1,), "uint64")
    if tx == 0:
        Tx.copy_async(S0[0:16, 0:64], A[bx * 48:bx * 48 + 16, 0:64], mbar=T.address_of(bar[0]), fill_value=0, dispatch="tma")
