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
bad_counts.py:8:5: error: `ldmatrix.sync.aligned.m8n8.x2.shared.b16` with 2 operands [BadOperand]
        T.ptx["ldmatrix.sync.aligned.m8n8.x2.shared.b16"](r[0], sm.ptr_to([0]))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: its form is `ldmatrix.sync.aligned.m8n8.x1|.x2|.x4{.trans}{.shared|.shared::cta}.b16 {d…}, [p]`; registers in braces count one by one
bad_counts.py:9:5: error: `add.s32` with 2 operands [BadOperand]
        T.ptx.add.s32(r[0], r[1])
        ^~~~~~~~~~~~~~~~~~~~~~~~~
  note: its form is `add{.sat}.type d, a, b`
bad_counts.py:10:5: error: `cp.async.commit_group` with 1 operand [BadOperand]
        T.ptx.cp.async_.commit_group(1)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: its form is `cp.async.commit_group`
