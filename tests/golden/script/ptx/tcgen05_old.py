# Tensor memory by functions.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    addr = T.alloc_shared([1], "uint32")
    r = T.alloc_local((4,), "uint32")
    T.ptx.tcgen05.alloc(T.address_of(addr), n_cols=32, cta_group=1)
    T.ptx.tcgen05.ld(addr[0], r[0], r[1], r[2], r[3], shape="32x32b", num=4, row=0, col=8)
    T.ptx.tcgen05.wait.ld()
    T.ptx.tcgen05.st(addr[0], r[0], shape="32x32b", num=1, row=tx, col=0)
    T.ptx.tcgen05.wait.st()
    T.ptx.tcgen05.fence.before_thread_sync()
    T.ptx.tcgen05.fence.after_thread_sync()
    T.ptx.tcgen05.relinquish_alloc_permit(cta_group=1)
    T.ptx.tcgen05.dealloc(addr[0], 32, 1)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16))
    T.device_entry()
    tx = T.thread_id([32])
    addr = T.alloc_shared((1,), "uint32")
    r = T.alloc_local((4,), "uint32")
    T.ptx["tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32"](T.address_of(addr[0]), T.uint32(32))
    T.ptx.tcgen05.ld(addr[0], 0, 8, "32x32b", 4, False, r[0], r[1], r[2], r[3])
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    T.ptx.tcgen05.st(addr[0], tx, 0, "32x32b", 1, False, r[0])
    T.ptx["tcgen05.wait::st.sync.aligned"]()
    T.ptx["tcgen05.fence::before_thread_sync"]()
    T.ptx["tcgen05.fence::after_thread_sync"]()
    T.ptx["tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned"]()
    T.ptx["tcgen05.dealloc.cta_group::1.sync.aligned.b32"](addr[0], T.uint32(32))
