# What the older functions have and is not taken is named, with what there is instead.
from tvm.script import tirx as T


@T.prim_func
def f(A: T.Buffer((64,), "float32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([128])
    s = T.alloc_shared([64], "float32")
    bar = T.alloc_shared([1], "uint64")
    desc = T.alloc_local([1], "uint64")
    tile = T.alloc_local([1], "uint32")
    T.ptx.mbarrier.arrive(bar.ptr_to([0]), remote=1, space="shared::cta")
    T.ptx.mbarrier.arrive.expect_tx(bar.ptr_to([0]), 16, cta_id="next")
    T.ptx.mbarrier.arrive(bar.ptr_to([0]), often=1)
    T.ptx.mbarrier.complete_tx(bar.ptr_to([0]), 16)
    T.ptx.mbarrier.try_wait_once(bar.ptr_to([0]), 0, 100)
    T.ptx.cp_async(s.ptr_to([0]), A.ptr_to([0]), 16, cache_hint="evict_last")
    T.ptx.cp_async(s.ptr_to([0]), A.ptr_to([0]), 16, predicate=t < 3, fill_mode="one")
    T.ptx.cp_async(s.ptr_to([0]), A.ptr_to([0]), 16, prefetch_size=100)
    T.ptx.cp_async.bulk.tensor.g2s_cta(2, s.ptr_to([0]), bar.ptr_to([0]), A.data, 1, "", 0, 0)
    T.ptx.tcgen05.commit(bar.ptr_to([0]), mask=3)
    T.ptx.tcgen05.cp(tile[0], desc[0], cta_group=1)
    T.ptx.tcgen05.cp(tile[0], desc[0], shape="96x128b")
    T.ptx.tcgen05.mma(tile[0], desc[0], desc[0], tile[0], d_dtype="float32", cta_group=1)
    T.ptx.tcgen05.encode_matrix_descriptor(desc.data, s.ptr_to([0]), ldo=1, sdo=1, swizzle=0)
    T.ptx.wgmma.mma_async.ss(desc[0], desc[0], A[0], M=64, N=8, K=16)
    T.ptx.cvt("uint32", A[0], A[1], atype="f32")
    T.ptx.barrier.cluster.arrive("sometimes")
#--- expected
bad_older_functions.py:14:51: error: `remote=` of `T.ptx.mbarrier.arrive` with `space="shared::cta"`, expected "shared::cluster" [BadArgument]
        T.ptx.mbarrier.arrive(bar.ptr_to([0]), remote=1, space="shared::cta")
                                                      ^
bad_older_functions.py:15:65: error: cannot convert `text` to `uint32` [BadType]
        T.ptx.mbarrier.arrive.expect_tx(bar.ptr_to([0]), 16, cta_id="next")
                                                                    ^~~~~~
bad_older_functions.py:16:50: error: `T.ptx.mbarrier.arrive` has no parameter `often` [BadArgument]
        T.ptx.mbarrier.arrive(bar.ptr_to([0]), often=1)
                                                     ^
bad_older_functions.py:17:5: error: `T.ptx.mbarrier.complete_tx` is not taken: an instruction is named by its opcode, as in `T.ptx["add.rn.f32"](d, a, b)` [UnknownName]
        T.ptx.mbarrier.complete_tx(bar.ptr_to([0]), 16)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~
bad_older_functions.py:18:5: error: `T.ptx.mbarrier.try_wait_once` is not taken: an instruction is named by its opcode, as in `T.ptx["add.rn.f32"](d, a, b)` [UnknownName]
        T.ptx.mbarrier.try_wait_once(bar.ptr_to([0]), 0, 100)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_older_functions.py:19:65: error: `cache_hint=` of `T.ptx.cp_async` is not taken: an opcode has all modifiers, as in `T.ptx["cp.async.cg.shared.global.L2::cache_hint"](…)` [BadArgument]
        T.ptx.cp_async(s.ptr_to([0]), A.ptr_to([0]), 16, cache_hint="evict_last")
                                                                    ^~~~~~~~~~~~
bad_older_functions.py:20:81: error: `fill_mode` is "one", expected "zero" [BadArgument]
        T.ptx.cp_async(s.ptr_to([0]), A.ptr_to([0]), 16, predicate=t < 3, fill_mode="one")
                                                                                    ^~~~~
bad_older_functions.py:21:5: error: `cp.async` has no modifier `.L2::100B`; did you mean `.L2::128B`? [IllegalForm]
        T.ptx.cp_async(s.ptr_to([0]), A.ptr_to([0]), 16, prefetch_size=100)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the nearest form is `cp.async.cg.shared|.shared::cta.global{.L2::cache_hint}{.L2::64B|.L2::128B|.L2::256B} [dst], [src], cp_size{, src_size}{, policy}`
bad_older_functions.py:22:5: error: `T.ptx.cp_async.bulk.tensor.g2s_cta` is not taken: `Tx.copy_async` with `mbar=` or `dispatch="tma"` makes map and instruction; by hand: the opcode, with a map of `T.tensor_map` [UnknownName]
        T.ptx.cp_async.bulk.tensor.g2s_cta(2, s.ptr_to([0]), bar.ptr_to([0]), A.data, 1, "", 0, 0)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_older_functions.py:23:48: error: `T.ptx.tcgen05.commit` has no parameter `mask` [BadArgument]
        T.ptx.tcgen05.commit(bar.ptr_to([0]), mask=3)
                                                   ^
bad_older_functions.py:24:5: error: `T.ptx.tcgen05.cp` without `shape` [BadArgument]
        T.ptx.tcgen05.cp(tile[0], desc[0], cta_group=1)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: it takes (addr, desc, shape, cta_group?, multicast?, decompress?, row?, col?)
bad_older_functions.py:25:5: error: `tcgen05.cp` has no modifier `.96x128b`; did you mean `.16x128b`? [IllegalForm]
        T.ptx.tcgen05.cp(tile[0], desc[0], shape="96x128b")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the nearest form is `tcgen05.cp.cta_group::1|.cta_group::2.128x256b|.4x256b|.128x128b{.b8x16}{.b6x16_p32|.b4x16_p64} [taddr], desc`
bad_older_functions.py:26:5: error: `T.ptx.tcgen05.mma` is not taken: the opcode has what the options say, as in `T.ptx["tcgen05.mma.cta_group::1.kind::f16"](…)` [UnknownName]
        T.ptx.tcgen05.mma(tile[0], desc[0], desc[0], tile[0], d_dtype="float32", cta_group=1)
        ^~~~~~~~~~~~~~~~~
bad_older_functions.py:27:5: error: `T.ptx.tcgen05.encode_matrix_descriptor` is not taken: descriptors are made by `gemm_async` [UnknownName]
        T.ptx.tcgen05.encode_matrix_descriptor(desc.data, s.ptr_to([0]), ldo=1, sdo=1, swizzle=0)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_older_functions.py:28:5: error: `T.ptx.wgmma.mma_async.ss` is not taken: the opcode has what the options say, as in `T.ptx["wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"](…)` [UnknownName]
        T.ptx.wgmma.mma_async.ss(desc[0], desc[0], A[0], M=64, N=8, K=16)
        ^~~~~~~~~~~~~~~~~~~~~~~~
bad_older_functions.py:29:5: error: `T.ptx.cvt` is not taken: an instruction is named by its opcode, as in `T.ptx["add.rn.f32"](d, a, b)` [UnknownName]
        T.ptx.cvt("uint32", A[0], A[1], atype="f32")
        ^~~~~~~~~
bad_older_functions.py:30:5: error: `barrier.cluster.arrive` has no modifier `.sometimes` [IllegalForm]
        T.ptx.barrier.cluster.arrive("sometimes")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the nearest form is `barrier.cluster.arrive{.release|.relaxed}{.aligned}`
