# Barriers and asynchronous work as functions with options; each becomes its opcode.
from tvm.script import tirx as T


def other_cta(pointer, rank):
    mapped = T.alloc_local([1], "uint64")
    T.evaluate(T.ptx.mapa.u64(mapped[0], pointer, T.uint32(rank)))
    return mapped[0]


@T.prim_func
def f(A: T.Buffer((64,), "float32"), M: T.Buffer((2,), "uint64")):
    T.device_entry()
    T.cta_id_in_cluster([2])
    T.cta_id([2])
    t = T.thread_id([128])
    s = T.alloc_shared([64], "float32")
    bar = T.alloc_shared([1], "uint64")
    desc = T.alloc_local([1], "uint64")
    tile = T.alloc_local([1], "uint32")
    desc[0] = T.uint64(0)
    tile[0] = T.uint32(0)
    T.ptx.mbarrier.arrive(bar.ptr_to([0]), count=2)
    T.ptx.mbarrier.arrive(bar.ptr_to([0]), pred=t == 0)
    T.ptx.mbarrier.arrive(bar.ptr_to([0]), sem="release", scope="cta", space="shared::cta", pred=None)
    T.ptx.mbarrier.arrive.expect_tx(bar.ptr_to([0]), 16, pred=True)
    T.ptx.cp_async(s.ptr_to([0]), A.ptr_to([0]), 16, prefetch_size=128)
    T.ptx.cp_async(s.ptr_to([0]), A.ptr_to([0]), 16, predicate=t < 3, fill_mode="zero", cache_hint="")
    T.ptx.cp_async(s.ptr_to([0]), A.ptr_to([0]), 4, predicate=t < 3)
    T.ptx.cp_async(s.ptr_to([0]), A.ptr_to([0]), 4, predicate=-1, prefetch_size=-1)
    T.ptx.cp_async.bulk.wait_group()
    T.ptx.cp_async.bulk.wait_group(1, read=False)
    T.ptx.barrier.cluster.arrive("relaxed", True)
    T.ptx.barrier.cluster.wait(True, False)
    T.ptx.tcgen05.commit(bar.ptr_to([0]), cta_group=2, cta_mask=3)
    T.ptx.tcgen05.commit(bar.ptr_to([0]), pred=t == 0)
    T.ptx.tcgen05.shift(tile[0], cta_group=1)
    T.ptx.tcgen05.cp(tile[0], desc[0], shape="32x128b", cta_group=1, multicast="warpx4")
    T.ptx.tcgen05.cp(tile[0], desc[0], shape="128x256b", col=8)
    M[0] = other_cta(bar.ptr_to([0]), 1)
    M[1] = T.ptx.mapa(bar.ptr_to([0]), 1)
    tile[0] = T.ptx.mapa(bar.ptr_to([0]), 1, space="shared::cluster", ptx_type="u32", return_type="uint32")
    M[1] = T.ptx.map_shared_rank(bar.ptr_to([0]), 1)
    T.ptx.mbarrier.arrive(bar.ptr_to([0]), remote=1)
    T.ptx.mbarrier.arrive(bar.ptr_to([0]), cta_id=0, pred=t == 0, count=2)
    T.ptx.mbarrier.arrive(bar.ptr_to([0]), remote=t % 2, sem="release", scope="cluster")
    T.ptx.mbarrier.arrive.expect_tx(bar.ptr_to([0]), 16, remote=1)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(A: T.Buffer((64,)), M: T.Buffer((2,), "uint64")):
    T.device_entry()
    T.cta_id_in_cluster([2])
    T.cta_id([2])
    t = T.thread_id([128])
    s = T.alloc_shared((64,))
    bar = T.alloc_shared((1,), "uint64")
    desc = T.alloc_local((1,), "uint64")
    tile = T.alloc_local((1,), "uint32")
    desc[0] = T.uint64(0)
    tile[0] = T.uint32(0)
    T.ptx["mbarrier.arrive.shared.b64"](T.ptx.SINK, T.address_of(bar[0]), T.uint32(2))
    T.ptx["mbarrier.arrive.shared.b64"](T.ptx.SINK, T.address_of(bar[0]), pred=t == 0)
    T.ptx["mbarrier.arrive.release.cta.shared::cta.b64"](T.ptx.SINK, T.address_of(bar[0]))
    T.ptx["mbarrier.arrive.expect_tx.shared.b64"](T.ptx.SINK, T.address_of(bar[0]), T.uint32(16))
    T.ptx["cp.async.cg.shared.global.L2::128B"](T.address_of(s[0]), T.address_of(A[0]), 16)
    T.ptx["cp.async.cg.shared.global"](T.address_of(s[0]), T.address_of(A[0]), 16, T.Select(t < 3, T.uint32(16), T.uint32(0)))
    T.ptx["cp.async.ca.shared.global"](T.address_of(s[0]), T.address_of(A[0]), 4, pred=t < 3)
    T.ptx["cp.async.ca.shared.global"](T.address_of(s[0]), T.address_of(A[0]), 4)
    T.ptx["cp.async.bulk.wait_group.read"](0)
    T.ptx["cp.async.bulk.wait_group"](1)
    T.ptx["barrier.cluster.arrive.relaxed.aligned"]()
    T.ptx["barrier.cluster.wait.acquire"]()
    T.ptx["tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64"](T.address_of(bar[0]), T.uint16(3))
    T.ptx["tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64"](T.address_of(bar[0]), pred=t == 0)
    T.ptx["tcgen05.shift.cta_group::1.down"](tile[0])
    T.ptx["tcgen05.cp.cta_group::1.32x128b.warpx4"](T.cuda.get_tmem_addr(tile[0], 0, 0), desc[0])
    T.ptx["tcgen05.cp.cta_group::1.128x256b"](T.cuda.get_tmem_addr(tile[0], 0, 8), desc[0])
    v = T.alloc_local((1,), "uint64")
    T.ptx["mapa.u64"](v[0], T.address_of(bar[0]), T.uint32(1))
    M[0] = v[0]
    v_1 = T.alloc_local((1,), "uint64")
    T.ptx["mapa.u64"](v_1[0], T.address_of(bar[0]), T.uint32(1))
    M[1] = v_1[0]
    v_2 = T.alloc_local((1,), "uint32")
    T.ptx["mapa.shared::cluster.u32"](v_2[0], T.cuda.cvta_generic_to_shared(T.address_of(bar[0])), T.uint32(1))
    tile[0] = v_2[0]
    v_3 = T.alloc_local((1,), "uint64")
    T.ptx["mapa.u64"](v_3[0], T.address_of(bar[0]), T.uint32(1))
    M[1] = v_3[0]
    v_4 = T.alloc_local((1,), "uint32")
    T.ptx["mapa.shared::cluster.u32"](v_4[0], T.cuda.cvta_generic_to_shared(T.address_of(bar[0])), T.uint32(1))
    T.ptx["mbarrier.arrive.shared::cluster.b64"](T.ptx.SINK, v_4[0])
    v_5 = T.alloc_local((1,), "uint32")
    T.ptx["mapa.shared::cluster.u32"](v_5[0], T.cuda.cvta_generic_to_shared(T.address_of(bar[0])), T.uint32(0))
    T.ptx["mbarrier.arrive.shared::cluster.b64"](T.ptx.SINK, v_5[0], T.uint32(2), pred=t == 0)
    v_6 = T.alloc_local((1,), "uint32")
    T.ptx["mapa.shared::cluster.u32"](v_6[0], T.cuda.cvta_generic_to_shared(T.address_of(bar[0])), T.Cast("uint32", t % 2))
    T.ptx["mbarrier.arrive.release.cluster.shared::cluster.b64"](T.ptx.SINK, v_6[0])
    v_7 = T.alloc_local((1,), "uint32")
    T.ptx["mapa.shared::cluster.u32"](v_7[0], T.cuda.cvta_generic_to_shared(T.address_of(bar[0])), T.uint32(1))
    T.ptx["mbarrier.arrive.expect_tx.shared::cluster.b64"](T.ptx.SINK, v_7[0], T.uint32(16))
