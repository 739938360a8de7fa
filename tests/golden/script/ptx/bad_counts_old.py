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
bad_counts_old.py:8:5: error: `ldmatrix.sync.aligned.m8n8.x2.shared.b16` with 2 operands; its form is `ldmatrix.sync.aligned.m8n8.x1|.x2|.x4{.trans}{.shared|.shared::cta}.b16 {d…}, [p]` [BadOperand]
        T.ptx.ldmatrix(False, 2, ".b16", sm.ptr_to([0]), r.ptr_to([0]))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_counts_old.py:9:5: error: `ldmatrix` has no modifier `.x3`; did you mean `.x1`? [IllegalForm]
        T.ptx.ldmatrix(False, 3, ".b16", sm.ptr_to([0]), r.ptr_to([0]))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the nearest form is `ldmatrix.sync.aligned.m8n8.x1|.x2|.x4{.trans}{.shared|.shared::cta}.b16 {d…}, [p]`
bad_counts_old.py:10:5: error: `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32` with 1 operand; its form is `mma.sync.aligned.m16n8k8|.m16n8k16.row|.col.row|.col.f32.f16.f16.f32 {d…}, {a…}, {b…}, {c…}` [BadOperand]
        T.ptx.mma("m16n8k16", "row", "col", "float32", "float16", "float16", "float32", [r.ptr_to([0])])
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_counts_old.py:11:54: error: operand `cp_size` is 5, allowed: 4, 8, 16 [BadOperand]
        T.ptx.cp_async(sm.ptr_to([0]), A.ptr_to([0, 0]), 5)
                                                         ^
bad_counts_old.py:12:5: error: `tcgen05.alloc` has no modifier `.cta_group::3`; did you mean `.cta_group::1`? [IllegalForm]
        T.ptx.tcgen05.alloc(sm.ptr_to([0]), 32, cta_group=3)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the nearest form is `tcgen05.alloc.cta_group::1|.cta_group::2.sync.aligned{.shared::cta}.b32 [dst], columns`
