# Barriers that may complete, or are not waited for: as many arrive as there are threads and rounds, or
# how many is not known.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(A_ptr: T.handle, n: T.int32):
    A = T.match_buffer(A_ptr, (128,), "float32")
    T.device_entry()
    rank = T.cta_id_in_cluster([2])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    fresh = T.alloc_buffer((1,), "uint64", scope="shared")
    rounds = T.alloc_buffer((1,), "uint64", scope="shared")
    many = T.alloc_buffer((1,), "uint64", scope="shared")
    given = T.alloc_buffer((1,), "uint64", scope="shared")
    other = T.alloc_buffer((1,), "uint64", scope="shared")
    maybe = T.alloc_buffer((1,), "uint64", scope="shared")
    if warp == 0:
        if lane == 0:
            T.ptx.mbarrier.init(fresh.ptr_to([0]), 128)
            T.ptx.mbarrier.init(rounds.ptr_to([0]), 128)
            T.ptx.mbarrier.init(many.ptr_to([0]), 1000)
            T.ptx.mbarrier.init(given.ptr_to([0]), n)
            T.ptx.mbarrier.init(other.ptr_to([0]), 32)
            T.ptx.mbarrier.init(maybe.ptr_to([0]), 1)
    T.cuda.cluster_sync()
    T.cuda.mbarrier_wait(fresh.ptr_to([0]), 1)  # of the phase before the first: passes
    for i in range(4):
        if warp == 1:
            T.ptx.mbarrier.arrive(rounds.ptr_to([0]))
    T.cuda.mbarrier_wait(rounds.ptr_to([0]), 0)
    for i in range(n):
        if warp == 1:
            T.ptx.mbarrier.arrive(many.ptr_to([0]))
    T.cuda.mbarrier_wait(many.ptr_to([0]), 0)
    T.cuda.mbarrier_wait(given.ptr_to([0]), 0)
    if warp == 2:
        T.ptx.mbarrier.arrive(other.ptr_to([0]), remote=1 - rank)
    T.cuda.mbarrier_wait(other.ptr_to([0]), 0)
    if A[0] > T.float32(0):
        T.cuda.mbarrier_wait(maybe.ptr_to([0]), 0)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(A_ptr: T.handle, n: T.int32):
    A = T.match_buffer(A_ptr, (128,))
    T.device_entry()
    rank = T.cta_id_in_cluster([2])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    fresh = T.alloc_shared((1,), "uint64")
    rounds = T.alloc_shared((1,), "uint64")
    many = T.alloc_shared((1,), "uint64")
    given = T.alloc_shared((1,), "uint64")
    other = T.alloc_shared((1,), "uint64")
    maybe = T.alloc_shared((1,), "uint64")
    if warp == 0:
        if lane == 0:
            T.ptx["mbarrier.init.shared.b64"](T.address_of(fresh[0]), T.uint32(128))
            T.ptx["mbarrier.init.shared.b64"](T.address_of(rounds[0]), T.uint32(128))
            T.ptx["mbarrier.init.shared.b64"](T.address_of(many[0]), T.uint32(1000))
            T.ptx["mbarrier.init.shared.b64"](T.address_of(given[0]), n)
            T.ptx["mbarrier.init.shared.b64"](T.address_of(other[0]), T.uint32(32))
            T.ptx["mbarrier.init.shared.b64"](T.address_of(maybe[0]), T.uint32(1))
    T.cuda.cluster_sync()
    T.cuda.mbarrier_wait(T.address_of(fresh[0]), 1)
    for i in range(4):
        if warp == 1:
            T.ptx["mbarrier.arrive.shared.b64"](T.ptx.SINK, T.address_of(rounds[0]))
    T.cuda.mbarrier_wait(T.address_of(rounds[0]), 0)
    for i in range(n):
        if warp == 1:
            T.ptx["mbarrier.arrive.shared.b64"](T.ptx.SINK, T.address_of(many[0]))
    T.cuda.mbarrier_wait(T.address_of(many[0]), 0)
    T.cuda.mbarrier_wait(T.address_of(given[0]), 0)
    if warp == 2:
        v = T.alloc_local((1,), "uint32")
        T.ptx["mapa.shared::cluster.u32"](v[0], T.cuda.cvta_generic_to_shared(T.address_of(other[0])), T.Cast("uint32", 1 - rank))
        T.ptx["mbarrier.arrive.shared::cluster.b64"](T.ptx.SINK, v[0])
    T.cuda.mbarrier_wait(T.address_of(other[0]), 0)
    if A[0] > T.float32(0.0):
        T.cuda.mbarrier_wait(T.address_of(maybe[0]), 0)
