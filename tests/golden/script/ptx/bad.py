#=== arrivals
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
arrivals.py:24:9: error: the wait of warp 1 of 4 never ends: the mbarrier at `T.address_of(none[0])` is made for 1 arrival, and nothing arrives there [BadArgument]
            T.cuda.mbarrier_wait(none.ptr_to([0]), 0)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
arrivals.py:18:13: note: made here
                T.ptx.mbarrier.init(none.ptr_to([0]), 1)
                ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
arrivals.py:28:9: error: the wait of warp 3 of 4 never ends: the mbarrier at `T.address_of(few[0])` is made for 128 arrivals, and at most 96 come [BadArgument]
            T.cuda.mbarrier_wait(few.ptr_to([0]), 0)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
arrivals.py:19:13: note: made here
                T.ptx.mbarrier.init(few.ptr_to([0]), 128)
                ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
arrivals.py:26:9: note: at most 96 here
            T.ptx.mbarrier.arrive(few.ptr_to([0]))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
arrivals.py:31:9: error: the wait of warp 3 of 4 never ends: the mbarrier at `T.address_of(bytes_only[0])` is made for 1 arrival, and nothing arrives there [BadArgument]
            T.cuda.mbarrier_wait(bytes_only.ptr_to([0]), 0)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
arrivals.py:21:13: note: made here
                T.ptx.mbarrier.init(bytes_only.ptr_to([0]), 1)
                ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== counts
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    sm = T.alloc_shared((64,), "float16")
    r = T.alloc_local((4,), "uint32")
    T.ptx["ldmatrix.sync.aligned.m8n8.x2.shared.b16"](r[0], sm.ptr_to([0]))
    T.ptx.add.s32(r[0], r[1])
    T.ptx.cp.async_.commit_group(1)
#--- expected
counts.py:8:5: error: `ldmatrix.sync.aligned.m8n8.x2.shared.b16` with 2 operands [BadOperand]
        T.ptx["ldmatrix.sync.aligned.m8n8.x2.shared.b16"](r[0], sm.ptr_to([0]))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: its form is `ldmatrix.sync.aligned.m8n8.x1|.x2|.x4{.trans}{.shared|.shared::cta}.b16 {d…}, [p]`; registers in braces count one by one
counts.py:9:5: error: `add.s32` with 2 operands [BadOperand]
        T.ptx.add.s32(r[0], r[1])
        ^~~~~~~~~~~~~~~~~~~~~~~~~
  note: its form is `add{.sat}.type d, a, b`
counts.py:10:5: error: `cp.async.commit_group` with 1 operand [BadOperand]
        T.ptx.cp.async_.commit_group(1)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: its form is `cp.async.commit_group`
#=== counts_old
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    sm = T.alloc_shared((64,), "float16")
    r = T.alloc_local((4,), "uint32")
    T.ptx.ldmatrix(False, 2, ".b16", sm.ptr_to([0]), r.ptr_to([0]))
    T.ptx.ldmatrix(False, 3, ".b16", sm.ptr_to([0]), r.ptr_to([0]))
    T.ptx.mma("m16n8k16", "row", "col", "float32", "float16", "float16", "float32", [r.ptr_to([0])])
    T.ptx.cp_async(sm.ptr_to([0]), A.ptr_to([0, 0]), 5)
    T.ptx.tcgen05.alloc(sm.ptr_to([0]), 32, cta_group=3)
#--- expected
counts_old.py:8:5: error: `ldmatrix.sync.aligned.m8n8.x2.shared.b16` with 2 operands; its form is `ldmatrix.sync.aligned.m8n8.x1|.x2|.x4{.trans}{.shared|.shared::cta}.b16 {d…}, [p]` [BadOperand]
        T.ptx.ldmatrix(False, 2, ".b16", sm.ptr_to([0]), r.ptr_to([0]))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
counts_old.py:9:5: error: `ldmatrix` has no modifier `.x3`; did you mean `.x1`? [IllegalForm]
        T.ptx.ldmatrix(False, 3, ".b16", sm.ptr_to([0]), r.ptr_to([0]))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the nearest form is `ldmatrix.sync.aligned.m8n8.x1|.x2|.x4{.trans}{.shared|.shared::cta}.b16 {d…}, [p]`
counts_old.py:10:5: error: `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32` with 1 operand; its form is `mma.sync.aligned.m16n8k8|.m16n8k16.row|.col.row|.col.f32.f16.f16.f32 {d…}, {a…}, {b…}, {c…}` [BadOperand]
        T.ptx.mma("m16n8k16", "row", "col", "float32", "float16", "float16", "float32", [r.ptr_to([0])])
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
counts_old.py:11:54: error: operand `cp_size` is 5, allowed: 4, 8, 16 [BadOperand]
        T.ptx.cp_async(sm.ptr_to([0]), A.ptr_to([0, 0]), 5)
                                                         ^
counts_old.py:12:5: error: `tcgen05.alloc` has no modifier `.cta_group::3`; did you mean `.cta_group::1`? [IllegalForm]
        T.ptx.tcgen05.alloc(sm.ptr_to([0]), 32, cta_group=3)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the nearest form is `tcgen05.alloc.cta_group::1|.cta_group::2.sync.aligned{.shared::cta}.b32 [dst], columns`
#=== destinations
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    sm = T.alloc_shared((64,), "float16")
    r = T.alloc_local((4,), "uint32")
    k: T.let = T.uint32(1)
    T.ptx["mov.b32"](k, r[0])
    T.ptx["mov.b32"](tx, r[0])
    T.ptx["mov.b32"](r[0] + 1, r[1])
    T.ptx["mov.b32"](3, r[1])
#--- expected
destinations.py:9:22: error: `d` of `mov.b32` is written, but this is not a variable or element of a buffer [ReadOnly]
        T.ptx["mov.b32"](k, r[0])
                         ^
  note: a `T.let` name and an expression have no place to write to
destinations.py:10:22: error: `d` of `mov.b32` is written, but this is not a variable or element of a buffer [ReadOnly]
        T.ptx["mov.b32"](tx, r[0])
                         ^~
  note: a `T.let` name and an expression have no place to write to
destinations.py:11:22: error: `d` of `mov.b32` is written, but this is not a variable or element of a buffer [ReadOnly]
        T.ptx["mov.b32"](r[0] + 1, r[1])
                         ^~~~~~~~
  note: a `T.let` name and an expression have no place to write to
destinations.py:12:22: error: `d` of `mov.b32` is written, but this is not a variable or element of a buffer [ReadOnly]
        T.ptx["mov.b32"](3, r[1])
                         ^
  note: a `T.let` name and an expression have no place to write to
#=== modifiers
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    sm = T.alloc_shared((64,), "float16")
    r = T.alloc_local((4,), "uint32")
    T.ptx["ldmatrix.sync.aligned.m8n8.x3.shared.b16"](r[0], r[1], r[2], sm.ptr_to([0]))
    T.ptx["ldmatrix.sync.aligned.m8n8.x2.global.b16"](r[0], r[1], sm.ptr_to([0]))
    T.ptx.add.rn.s32(r[0], r[1], r[2])
    T.ptx["mma.sync.aligned.m16n8k7.row.col.f32.f16.f16.f32"](r[0])
#--- expected
modifiers.py:8:5: error: `ldmatrix` has no modifier `.x3`; did you mean `.x1`? [IllegalForm]
        T.ptx["ldmatrix.sync.aligned.m8n8.x3.shared.b16"](r[0], r[1], r[2], sm.ptr_to([0]))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the nearest form is `ldmatrix.sync.aligned.m8n8.x1|.x2|.x4{.trans}{.shared|.shared::cta}.b16 {d…}, [p]`
modifiers.py:9:5: error: `ldmatrix` has no modifier `.global` [IllegalForm]
        T.ptx["ldmatrix.sync.aligned.m8n8.x2.global.b16"](r[0], r[1], sm.ptr_to([0]))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the nearest form is `ldmatrix.sync.aligned.m8n8.x1|.x2|.x4{.trans}{.shared|.shared::cta}.b16 {d…}, [p]`
modifiers.py:10:5: error: `.rn` does not go with the other modifiers of `add` [IllegalForm]
        T.ptx.add.rn.s32(r[0], r[1], r[2])
        ^~~~~~~~~~~~~~~~
  note: the nearest form is `add{.sat}.type d, a, b`
modifiers.py:11:5: error: `mma` has no modifier `.m16n8k7`; did you mean `.m16n8k8`? [IllegalForm]
        T.ptx["mma.sync.aligned.m16n8k7.row.col.f32.f16.f16.f32"](r[0])
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the nearest form is `mma.sync.aligned.m8n8k4.row|.col.row|.col.f32.f16.f16.f32 {d…}, {a…}, {b…}, {c…}`
#=== no_value
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    sm = T.alloc_shared((64,), "float16")
    r = T.alloc_local((4,), "uint32")
    x = T.ptx["mov.b32"](r[0], r[1])
    y = Tx.copy(A, A)
#--- expected
no_value.py:8:9: error: this call returns nothing, expected a value [BadType]
        x = T.ptx["mov.b32"](r[0], r[1])
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
no_value.py:9:9: error: this call returns nothing, expected a value [BadType]
        y = Tx.copy(A, A)
            ^~~~~~~~~~~~~
  note: a tile primitive writes into its first argument, as in `Tx.cta.exp(y, x)`
#=== older_accesses
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (64,), "uint32")
    T.device_entry()
    tx = T.thread_id([32])
    r = T.alloc_local((4,), "uint32")
    T.ptx.ld(A.ptr_to([tx]), "uint32", "u32", dst=r.ptr_to([0]), vec="v")
    T.ptx.ld(A.ptr_to([tx]), "uint32", "u32", dst=r.ptr_to([0]), vec="v3")
    T.ptx.st(A.ptr_to([tx]), src=r.ptr_to([0]), vec="4", ptx_type="u32", space="global")
#--- expected
older_accesses.py:7:70: error: `vec` is "v", expected "v2", "v4" or "v8" [BadArgument]
        T.ptx.ld(A.ptr_to([tx]), "uint32", "u32", dst=r.ptr_to([0]), vec="v")
                                                                         ^~~
older_accesses.py:8:70: error: `vec` is "v3", expected "v2", "v4" or "v8" [BadArgument]
        T.ptx.ld(A.ptr_to([tx]), "uint32", "u32", dst=r.ptr_to([0]), vec="v3")
                                                                         ^~~~
older_accesses.py:9:53: error: `vec` is "4", expected "v2", "v4" or "v8" [BadArgument]
        T.ptx.st(A.ptr_to([tx]), src=r.ptr_to([0]), vec="4", ptx_type="u32", space="global")
                                                        ^~~
#=== older_functions
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
older_functions.py:14:51: error: `remote=` of `T.ptx.mbarrier.arrive` with `space="shared::cta"`, expected "shared::cluster" [BadArgument]
        T.ptx.mbarrier.arrive(bar.ptr_to([0]), remote=1, space="shared::cta")
                                                      ^
older_functions.py:15:65: error: cannot convert `text` to `uint32` [BadType]
        T.ptx.mbarrier.arrive.expect_tx(bar.ptr_to([0]), 16, cta_id="next")
                                                                    ^~~~~~
older_functions.py:16:50: error: `T.ptx.mbarrier.arrive` has no parameter `often` [BadArgument]
        T.ptx.mbarrier.arrive(bar.ptr_to([0]), often=1)
                                                     ^
older_functions.py:17:5: error: `T.ptx.mbarrier.complete_tx` is not taken: an instruction is named by its opcode, as in `T.ptx["add.rn.f32"](d, a, b)` [UnknownName]
        T.ptx.mbarrier.complete_tx(bar.ptr_to([0]), 16)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~
older_functions.py:18:5: error: `T.ptx.mbarrier.try_wait_once` is not taken: an instruction is named by its opcode, as in `T.ptx["add.rn.f32"](d, a, b)` [UnknownName]
        T.ptx.mbarrier.try_wait_once(bar.ptr_to([0]), 0, 100)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
older_functions.py:19:65: error: `cache_hint=` of `T.ptx.cp_async` is not taken: an opcode has all modifiers, as in `T.ptx["cp.async.cg.shared.global.L2::cache_hint"](…)` [BadArgument]
        T.ptx.cp_async(s.ptr_to([0]), A.ptr_to([0]), 16, cache_hint="evict_last")
                                                                    ^~~~~~~~~~~~
older_functions.py:20:81: error: `fill_mode` is "one", expected "zero" [BadArgument]
        T.ptx.cp_async(s.ptr_to([0]), A.ptr_to([0]), 16, predicate=t < 3, fill_mode="one")
                                                                                    ^~~~~
older_functions.py:21:5: error: `cp.async` has no modifier `.L2::100B`; did you mean `.L2::128B`? [IllegalForm]
        T.ptx.cp_async(s.ptr_to([0]), A.ptr_to([0]), 16, prefetch_size=100)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the nearest form is `cp.async.cg.shared|.shared::cta.global{.L2::cache_hint}{.L2::64B|.L2::128B|.L2::256B} [dst], [src], cp_size{, src_size}{, policy}`
older_functions.py:22:5: error: `T.ptx.cp_async.bulk.tensor.g2s_cta` is not taken: `Tx.copy_async` with `mbar=` or `dispatch="tma"` makes map and instruction; by hand: the opcode, with a map of `T.tensor_map` [UnknownName]
        T.ptx.cp_async.bulk.tensor.g2s_cta(2, s.ptr_to([0]), bar.ptr_to([0]), A.data, 1, "", 0, 0)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
older_functions.py:23:48: error: `T.ptx.tcgen05.commit` has no parameter `mask` [BadArgument]
        T.ptx.tcgen05.commit(bar.ptr_to([0]), mask=3)
                                                   ^
older_functions.py:24:5: error: `T.ptx.tcgen05.cp` without `shape` [BadArgument]
        T.ptx.tcgen05.cp(tile[0], desc[0], cta_group=1)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: it takes (addr, desc, shape, cta_group?, multicast?, decompress?, row?, col?)
older_functions.py:25:5: error: `tcgen05.cp` has no modifier `.96x128b`; did you mean `.16x128b`? [IllegalForm]
        T.ptx.tcgen05.cp(tile[0], desc[0], shape="96x128b")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the nearest form is `tcgen05.cp.cta_group::1|.cta_group::2.128x256b|.4x256b|.128x128b{.b8x16}{.b6x16_p32|.b4x16_p64} [taddr], desc`
older_functions.py:26:5: error: `T.ptx.tcgen05.mma` is not taken: the opcode has what the options say, as in `T.ptx["tcgen05.mma.cta_group::1.kind::f16"](…)` [UnknownName]
        T.ptx.tcgen05.mma(tile[0], desc[0], desc[0], tile[0], d_dtype="float32", cta_group=1)
        ^~~~~~~~~~~~~~~~~
older_functions.py:27:5: error: `T.ptx.tcgen05.encode_matrix_descriptor` is not taken: descriptors are made by `gemm_async` [UnknownName]
        T.ptx.tcgen05.encode_matrix_descriptor(desc.data, s.ptr_to([0]), ldo=1, sdo=1, swizzle=0)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
older_functions.py:28:5: error: `T.ptx.wgmma.mma_async.ss` is not taken: the opcode has what the options say, as in `T.ptx["wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"](…)` [UnknownName]
        T.ptx.wgmma.mma_async.ss(desc[0], desc[0], A[0], M=64, N=8, K=16)
        ^~~~~~~~~~~~~~~~~~~~~~~~
older_functions.py:29:5: error: `T.ptx.cvt` is not taken: an instruction is named by its opcode, as in `T.ptx["add.rn.f32"](d, a, b)` [UnknownName]
        T.ptx.cvt("uint32", A[0], A[1], atype="f32")
        ^~~~~~~~~
older_functions.py:30:5: error: `barrier.cluster.arrive` has no modifier `.sometimes` [IllegalForm]
        T.ptx.barrier.cluster.arrive("sometimes")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the nearest form is `barrier.cluster.arrive{.release|.relaxed}{.aligned}`
#=== options
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    sm = T.alloc_shared((64,), "float16")
    r = T.alloc_local((4,), "uint32")
    T.ptx["mov.b32"](r[0], r[1], guard=tx < 3)
    T.ptx["mov.b32"](r[0], r[1], pred=A[0, 0])
    T.ptx[3](r[0])
    T.ptx.tcgen05.alloc(r.ptr_to([0]))
    T.ptx.tcgen05.ld(r[0], r[1], shap="32x32b")
#--- expected
options.py:8:40: error: `mov.b32` has no option `guard`, expected `pred` or `keep` [BadArgument]
        T.ptx["mov.b32"](r[0], r[1], guard=tx < 3)
                                           ^~~~~~
options.py:9:39: error: a condition of type `float32`, expected `bool` or an integer [BadType]
        T.ptx["mov.b32"](r[0], r[1], pred=A[0, 0])
                                          ^~~~~~~
options.py:10:5: error: the opcode is int, expected a text [BadType]
        T.ptx[3](r[0])
        ^~~~~~~~
options.py:11:5: error: `T.ptx.tcgen05.alloc` without `n_cols` [BadArgument]
        T.ptx.tcgen05.alloc(r.ptr_to([0]))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: it takes (ptr, n_cols, cta_group?)
options.py:12:39: error: `T.ptx.tcgen05.ld` and `.st` have no parameter `shap` [BadArgument]
        T.ptx.tcgen05.ld(r[0], r[1], shap="32x32b")
                                          ^~~~~~~~
#=== pointers
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    sm = T.alloc_shared((64,), "float16")
    r = T.alloc_local((4,), "uint32")
    T.ptx.ldmatrix(False, 1, ".b16", sm.ptr_to([0]), r[0])
    T.ptx.mma("m16n8k16", "row", "col", "float32", "half", "float16", "float32", [], [], [], [])
    T.ptx.ldmatrix("x", 1, ".b16", sm.ptr_to([0]), r[0])
#--- expected
pointers.py:8:54: error: a register given by `uint32`, expected a pointer to it [BadOperand]
        T.ptx.ldmatrix(False, 1, ".b16", sm.ptr_to([0]), r[0])
                                                         ^~~~
pointers.py:9:52: error: `T.ptx.mma` of "half", expected one of float16, bfloat16, tfloat32, tf32, float32, float64, int32, int8, uint8, int4, uint4, float8_e4m3fn, float8_e5m2, e4m3, e5m2 [BadType]
        T.ptx.mma("m16n8k16", "row", "col", "float32", "half", "float16", "float32", [], [], [], [])
                                                       ^~~~~~
pointers.py:10:20: error: `trans` is str, expected True or False [BadType]
        T.ptx.ldmatrix("x", 1, ".b16", sm.ptr_to([0]), r[0])
                       ^~~
#=== tcgen05_counts
# Registers and numbers that do not fit the shape.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    addr = T.alloc_shared([1], "uint32")
    r = T.alloc_local((4,), "uint32")
    T.ptx.tcgen05.ld(addr[0], r[0], r[1], shape="16x128b", num=2)
    T.ptx.tcgen05.ld(addr[0], r[0], shape="16x512b", num=1)
    T.ptx.tcgen05.ld(addr[0], r[0], r[1], r[2], shape="16x32bx2", num=3)
    T.ptx.tcgen05.st(addr[0], r[0], shape="16x32bx2", num=2)
    T.ptx["tcgen05.ld.sync.aligned.16x32bx2.x1.b32"](r[0], addr[0], r[1])
#--- expected
tcgen05_counts.py:9:5: error: `tcgen05.ld.sync.aligned.16x128b.x2.b32` with 3 operands; its form is `tcgen05.ld.sync{.aligned}.32x32b|.16x64b|.16x128b|.16x256b.num{.pack::16b}.b32 {r…}, [taddr]` [BadOperand]
        T.ptx.tcgen05.ld(addr[0], r[0], r[1], shape="16x128b", num=2)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
tcgen05_counts.py:10:5: error: `tcgen05.ld` has no modifier `.16x512b`; did you mean `.16x128b`? [IllegalForm]
        T.ptx.tcgen05.ld(addr[0], r[0], shape="16x512b", num=1)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the nearest form is `tcgen05.ld.sync{.aligned}.32x32b|.16x64b|.16x128b|.16x256b.num{.pack::16b}.b32 {r…}, [taddr]`
tcgen05_counts.py:11:5: error: `tcgen05.ld` has no modifier `.x3`; did you mean `.x1`? [IllegalForm]
        T.ptx.tcgen05.ld(addr[0], r[0], r[1], r[2], shape="16x32bx2", num=3)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the nearest form is `tcgen05.ld.sync{.aligned}.16x32bx2.num{.pack::16b}.b32 {r…}, [taddr], half_split`
tcgen05_counts.py:12:5: error: `tcgen05.st.sync.aligned.16x32bx2.x2.b32` with 3 operands; its form is `tcgen05.st.sync{.aligned}.16x32bx2.num{.unpack::16b}.b32 [taddr], half_split, {r…}` [BadOperand]
        T.ptx.tcgen05.st(addr[0], r[0], shape="16x32bx2", num=2)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
tcgen05_counts.py:13:69: error: operand `half_split` of `tcgen05.ld` must be a constant [BadOperand]
        T.ptx["tcgen05.ld.sync.aligned.16x32bx2.x1.b32"](r[0], addr[0], r[1])
                                                                        ^~~~
#=== tcgen05_shapes
# Forms that no load or store of tensor memory has.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    addr = T.alloc_shared([1], "uint32")
    r = T.alloc_local((4,), "uint32")
    T.ptx["tcgen05.ld.sync.aligned.16x32bx2.x1.b32"](r[0], addr[0])
    T.ptx["tcgen05.ld.sync.aligned.32x32b.x1.unpack::16b.b32"](r[0], addr[0])
    T.ptx["tcgen05.st.sync.aligned.16x256b.x64.b32"](addr[0], r[0])
#--- expected
tcgen05_shapes.py:9:5: error: `tcgen05.ld.sync.aligned.16x32bx2.x1.b32` with 2 operands [BadOperand]
        T.ptx["tcgen05.ld.sync.aligned.16x32bx2.x1.b32"](r[0], addr[0])
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: its form is `tcgen05.ld.sync{.aligned}.16x32bx2.num{.pack::16b}.b32 {r…}, [taddr], half_split`; registers in braces count one by one
tcgen05_shapes.py:10:5: error: `.unpack::16b` does not go with the other modifiers of `tcgen05.ld` [IllegalForm]
        T.ptx["tcgen05.ld.sync.aligned.32x32b.x1.unpack::16b.b32"](r[0], addr[0])
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the nearest form is `tcgen05.ld.sync{.aligned}.32x32b|.16x64b|.16x128b|.16x256b.num{.pack::16b}.b32 {r…}, [taddr]`
tcgen05_shapes.py:11:5: error: `.16x256b` goes up to `.x32` [IllegalForm]
        T.ptx["tcgen05.st.sync.aligned.16x256b.x64.b32"](addr[0], r[0])
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the nearest form is `tcgen05.st.sync{.aligned}.32x32b|.16x64b|.16x128b|.16x256b.num{.unpack::16b}.b32 [taddr], {r…}`
#=== tensor_map
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (64, 128), "float16")
    m0 = T.tensor_map(A, box=(64,))
    m1 = T.tensor_map(A, box=(512, 64))
    m2 = T.tensor_map(A, box=(64, 4))
    m3 = T.tensor_map(A, box=(64, 64), swizzle=256)
    m4 = T.tensor_map(A, box=(64, 64), promotion=32)
    m5 = T.tensor_map(A, box=(64, 64), fill="inf")
    m6 = T.tensor_map(A.data, box=(64, 64))
    m7 = T.tensor_map(3, box=(64, 64))
    m8 = T.tensor_map(A, box=(1, 1, 1, 1, 1, 8), dims=(1, 1, 1, 1, 1, 8), strides=(8, 8, 8, 8, 8))
    T.device_entry()
    tx = T.thread_id([32])
    m9 = T.tensor_map(A, box=(64, 64))
    tile = T.alloc_shared((32, 64), "float16", align=1024)
    Tx.copy_async(tile[0:32, 0:64], A[0:32, 0:64], mbar=5)
#--- expected
tensor_map.py:4:10: error: a tensor map of 2 extents, 1 strides and a box of 1, expected one stride less than extents, and as many of the box [BadArgument]
        m0 = T.tensor_map(A, box=(64,))
             ^~~~~~~~~~~~~~~~~~~~~~~~~~
tensor_map.py:5:10: error: `box` of a tensor map is 512 in dimension 1, expected 1 to 256 [BadArgument]
        m1 = T.tensor_map(A, box=(512, 64))
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
tensor_map.py:6:10: error: rows of the box of a tensor map have 8 bytes, expected a multiple of 16 [BadArgument]
        m2 = T.tensor_map(A, box=(64, 4))
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
tensor_map.py:7:10: error: `swizzle` of a tensor map is 256, expected 0, 32, 64 or 128 [BadArgument]
        m3 = T.tensor_map(A, box=(64, 64), swizzle=256)
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
tensor_map.py:8:10: error: `promotion` of a tensor map is 32, expected 0, 64, 128 or 256 [BadArgument]
        m4 = T.tensor_map(A, box=(64, 64), promotion=32)
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
tensor_map.py:9:45: error: `fill` of a tensor map is "inf", expected "zero", "nan" or "none" [BadArgument]
        m5 = T.tensor_map(A, box=(64, 64), fill="inf")
                                                ^~~~~
tensor_map.py:10:10: error: `T.tensor_map` of a pointer without `dims=` [BadArgument]
        m6 = T.tensor_map(A.data, box=(64, 64))
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
tensor_map.py:11:23: error: `T.tensor_map` of int, expected a buffer in global memory or a pointer to one [BadType]
        m7 = T.tensor_map(3, box=(64, 64))
                          ^
tensor_map.py:12:10: error: a tensor map of 6 dimensions, expected 1 to 5 [BadArgument]
        m8 = T.tensor_map(A, box=(1, 1, 1, 1, 1, 8), dims=(1, 1, 1, 1, 1, 8), strides=(8, 8, 8, 8, 8))
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
tensor_map.py:15:10: error: `T.tensor_map` behind `T.device_entry()` [BadArgument]
        m9 = T.tensor_map(A, box=(64, 64))
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the launch makes tensor maps: bind them before it
#=== types
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    sm = T.alloc_shared((64,), "float16")
    r = T.alloc_local((4,), "uint32")
    x: T.float32
    T.ptx.add.s32(x, x, x)
    T.ptx.add.f32(x, x, r[0])
    T.ptx.ld.shared.f32(x, A.ptr_to([0, 0]))
    T.ptx.ld.shared.f32(x, x)
    T.ptx.ld.global_.f64(x, A.ptr_to([0, 0]))
    T.ptx.ldmatrix(False, 1, ".b16", A.ptr_to([0, 0]), r.ptr_to([0]))
    T.ptx.ldmatrix(False, 1, ".b16", sm.ptr_to([0]), sm.ptr_to([0]))
#--- expected
types.py:9:19: error: `x` is declared `.f32`; operand `d` of `add.s32` takes `.b32`, `.s32` or `.u32` [BadOperand]
        T.ptx.add.s32(x, x, x)
                      ^
types.py:10:25: error: `r` is declared `.u32`; operand `b` of `add.f32` takes `.b32` or `.f32` [BadOperand]
        T.ptx.add.f32(x, x, r[0])
                            ^~~~
types.py:11:28: error: `ld.shared.f32` addresses the shared space, `A` is in global [BadOperand]
        T.ptx.ld.shared.f32(x, A.ptr_to([0, 0]))
                               ^~~~~~~~~~~~~~~~
types.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
types.py:12:28: error: an address of `ld.shared.f32` has type `float32`, expected a pointer or `uint32` [BadOperand]
        T.ptx.ld.shared.f32(x, x)
                               ^
types.py:13:26: error: `x` is declared `.f32`; operand `d` of `ld.global.f64` takes `.b64` or `.f64`, or wider [BadOperand]
        T.ptx.ld.global_.f64(x, A.ptr_to([0, 0]))
                             ^
types.py:14:38: error: `ldmatrix.sync.aligned.m8n8.x1.shared.b16` addresses the shared space, `A` is in global [BadOperand]
        T.ptx.ldmatrix(False, 1, ".b16", A.ptr_to([0, 0]), r.ptr_to([0]))
                                         ^~~~~~~~~~~~~~~~
types.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
types.py:15:54: error: a register of `ldmatrix.sync.aligned.m8n8.x1.shared.b16` is given by the address of `sm` in shared, expected a pointer to local memory [BadOperand]
        T.ptx.ldmatrix(False, 1, ".b16", sm.ptr_to([0]), sm.ptr_to([0]))
                                                         ^~~~~~~~~~~~~~
#=== values
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    sm = T.alloc_shared((64,), "float16")
    r = T.alloc_local((4,), "uint32")
    T.ptx["cp.async.wait_group"](tx)
    T.ptx.setmaxnreg.inc.sync.aligned.u32(7)
#--- expected
values.py:8:34: error: operand `n` of `cp.async.wait_group` must be a constant [BadOperand]
        T.ptx["cp.async.wait_group"](tx)
                                     ^~
values.py:9:43: error: operand `count` is 7, allowed: 24..256 in steps of 8 [BadOperand]
        T.ptx.setmaxnreg.inc.sync.aligned.u32(7)
                                              ^
