# Barriers that are waited for and never complete.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(A_ptr: T.handle):
    A = T.match_buffer(A_ptr, (128,), "float32")
    T.device_entry()
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    s = T.alloc_buffer((128,), "float32", scope="shared", align=128)
    none = T.alloc_buffer((1,), "uint64", scope="shared")
    few = T.alloc_buffer((2,), "uint64", scope="shared")
    bytes_only = T.alloc_buffer((1,), "uint64", scope="shared")
    if warp == 0:
        if lane == 0:
            T.ptx.mbarrier.init(none.ptr_to([0]), 1)
            T.ptx.mbarrier.init(few.ptr_to([0]), 128)
            T.ptx.mbarrier.init(few.ptr_to([1]), 256)
            T.ptx.mbarrier.init(bytes_only.ptr_to([0]), 1)
    T.cuda.cta_sync()
    if warp == 1:
        T.cuda.mbarrier_wait(none.ptr_to([0]), 0)
    if warp < 3:
        T.ptx.mbarrier.arrive(few.ptr_to([0]))
    if warp == 3:
        T.cuda.mbarrier_wait(few.ptr_to([0]), 0)
        if lane == 0:
            Tx.copy_async(s[0:128], A[0:128], mbar=bytes_only.ptr_to([0]))
        T.cuda.mbarrier_wait(bytes_only.ptr_to([0]), 0)
#--- expected
bad_arrivals.py:24:9: error: the wait of warp 1 of 4 never ends: the mbarrier at `T.address_of(none[0])` is made for 1 arrival, and nothing arrives there [BadArgument]
            T.cuda.mbarrier_wait(none.ptr_to([0]), 0)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_arrivals.py:18:13: note: made here
                T.ptx.mbarrier.init(none.ptr_to([0]), 1)
                ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_arrivals.py:28:9: error: the wait of warp 3 of 4 never ends: the mbarrier at `T.address_of(few[0])` is made for 128 arrivals, and at most 96 come [BadArgument]
            T.cuda.mbarrier_wait(few.ptr_to([0]), 0)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_arrivals.py:19:13: note: made here
                T.ptx.mbarrier.init(few.ptr_to([0]), 128)
                ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_arrivals.py:26:9: note: at most 96 here
            T.ptx.mbarrier.arrive(few.ptr_to([0]))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_arrivals.py:31:9: error: the wait of warp 3 of 4 never ends: the mbarrier at `T.address_of(bytes_only[0])` is made for 1 arrival, and nothing arrives there [BadArgument]
            T.cuda.mbarrier_wait(bytes_only.ptr_to([0]), 0)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_arrivals.py:21:13: note: made here
                T.ptx.mbarrier.init(bytes_only.ptr_to([0]), 1)
                ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
