# Asynchronous copies, both spellings.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    s0 = T.alloc_shared((64,), "float32")
    T.ptx.cp_async(s0.ptr_to([0]), A.ptr_to([0, 0]), 16)
    T.ptx.cp_async(s0.ptr_to([0]), A.ptr_to([0, 0]), 4)
    T.ptx.cp_async.commit_group()
    T.ptx.cp_async.wait_group(1)
    T.ptx["cp.async.cg.shared.global"](s0.ptr_to([0]), A.ptr_to([0, 0]), 16)
    T.ptx.cp.async_.cg.shared.global_(s0.ptr_to([0]), A.ptr_to([0, 0]), 16)
    T.ptx.cp.async_.commit_group()
    T.ptx.cp.async_.wait_group(0)
    T.ptx.cp.async_.wait_all()
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    s0 = T.alloc_shared((64,))
    T.ptx["cp.async.cg.shared.global"](T.address_of(s0[0]), T.address_of(A[0, 0]), 16)
    T.ptx["cp.async.ca.shared.global"](T.address_of(s0[0]), T.address_of(A[0, 0]), 4)
    T.ptx["cp.async.commit_group"]()
    T.ptx["cp.async.wait_group"](1)
    T.ptx["cp.async.cg.shared.global"](T.address_of(s0[0]), T.address_of(A[0, 0]), 16)
    T.ptx["cp.async.cg.shared.global"](T.address_of(s0[0]), T.address_of(A[0, 0]), 16)
    T.ptx["cp.async.commit_group"]()
    T.ptx["cp.async.wait_group"](0)
    T.ptx["cp.async.wait_all"]()
