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
bad_modifiers.py:8:5: error: `ldmatrix` has no modifier `.x3`; did you mean `.x1`? [IllegalForm]
        T.ptx["ldmatrix.sync.aligned.m8n8.x3.shared.b16"](r[0], r[1], r[2], sm.ptr_to([0]))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the nearest form is `ldmatrix.sync.aligned.m8n8.x1|.x2|.x4{.trans}{.shared|.shared::cta}.b16 {d…}, [p]`
bad_modifiers.py:9:5: error: `ldmatrix` has no modifier `.global` [IllegalForm]
        T.ptx["ldmatrix.sync.aligned.m8n8.x2.global.b16"](r[0], r[1], sm.ptr_to([0]))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the nearest form is `ldmatrix.sync.aligned.m8n8.x1|.x2|.x4{.trans}{.shared|.shared::cta}.b16 {d…}, [p]`
bad_modifiers.py:10:5: error: `.rn` does not go with the other modifiers of `add` [IllegalForm]
        T.ptx.add.rn.s32(r[0], r[1], r[2])
        ^~~~~~~~~~~~~~~~
  note: the nearest form is `add{.sat}.type d, a, b`
bad_modifiers.py:11:5: error: `mma` has no modifier `.m16n8k7`; did you mean `.m16n8k8`? [IllegalForm]
        T.ptx["mma.sync.aligned.m16n8k7.row.col.f32.f16.f16.f32"](r[0])
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the nearest form is `mma.sync.aligned.m8n8k4.row|.col.row|.col.f32.f16.f16.f32 {d…}, {a…}, {b…}, {c…}`
