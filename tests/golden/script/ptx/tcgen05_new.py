# Tensor memory by opcode.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    addr = T.alloc_shared([1], "uint32")
    r = T.alloc_local((4,), "uint32")
    T.ptx["tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32"](T.address_of(addr), T.uint32(32))
    T.ptx["tcgen05.ld.sync.aligned.32x32b.x4.b32"](r[0], r[1], r[2], r[3], addr[0])
    T.ptx.tcgen05.wait__ld.sync.aligned()
    T.ptx["tcgen05.st.sync.aligned.32x32b.x1.b32"](addr[0], r[0])
    T.ptx.tcgen05.wait__st.sync.aligned()
    T.ptx.tcgen05.fence__before_thread_sync()
    T.ptx.tcgen05.relinquish_alloc_permit.cta_group__1.sync.aligned()
    T.ptx.tcgen05.dealloc.cta_group__1.sync.aligned.b32(addr[0], 32)
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
    T.ptx["tcgen05.ld.sync.aligned.32x32b.x4.b32"](r[0], r[1], r[2], r[3], addr[0])
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    T.ptx["tcgen05.st.sync.aligned.32x32b.x1.b32"](addr[0], r[0])
    T.ptx["tcgen05.wait::st.sync.aligned"]()
    T.ptx["tcgen05.fence::before_thread_sync"]()
    T.ptx["tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned"]()
    T.ptx["tcgen05.dealloc.cta_group::1.sync.aligned.b32"](addr[0], T.uint32(32))
