# Barriers and fences.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    m = T.alloc_shared([2], "uint64")
    p = m.ptr_to([0])
    T.ptx.mbarrier.init(p, 1)
    T.ptx.mbarrier.arrive(p)
    T.ptx.mbarrier.arrive.expect_tx(p, 128)
    T.ptx.mbarrier.try_wait(p, 0)
    T.ptx.mbarrier.init.shared.b64(p, 2)
    T.ptx["mbarrier.arrive.shared.b64"](T.ptx.SINK, p)
    T.ptx.fence.mbarrier_init()
    T.ptx.fence.proxy_async("shared::cta")
    T.ptx.fence.proxy.async_()
    T.ptx.tcgen05.commit(p, cta_group=1)
