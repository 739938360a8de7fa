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
bad_types.py:9:19: error: `x` is declared `.f32`; operand `d` of `add.s32` takes `.b32`, `.s32` or `.u32` [BadOperand]
        T.ptx.add.s32(x, x, x)
                      ^
bad_types.py:10:25: error: `r` is declared `.u32`; operand `b` of `add.f32` takes `.b32` or `.f32` [BadOperand]
        T.ptx.add.f32(x, x, r[0])
                            ^~~~
bad_types.py:11:28: error: `ld.shared.f32` addresses the shared space, `A` is in global [BadOperand]
        T.ptx.ld.shared.f32(x, A.ptr_to([0, 0]))
                               ^~~~~~~~~~~~~~~~
bad_types.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_types.py:12:28: error: an address of `ld.shared.f32` has type `float32`, expected a pointer or `uint32` [BadOperand]
        T.ptx.ld.shared.f32(x, x)
                               ^
bad_types.py:13:26: error: `x` is declared `.f32`; operand `d` of `ld.global.f64` takes `.b64` or `.f64`, or wider [BadOperand]
        T.ptx.ld.global_.f64(x, A.ptr_to([0, 0]))
                             ^
bad_types.py:14:38: error: `ldmatrix.sync.aligned.m8n8.x1.shared.b16` addresses the shared space, `A` is in global [BadOperand]
        T.ptx.ldmatrix(False, 1, ".b16", A.ptr_to([0, 0]), r.ptr_to([0]))
                                         ^~~~~~~~~~~~~~~~
bad_types.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_types.py:15:54: error: a register of `ldmatrix.sync.aligned.m8n8.x1.shared.b16` is given by the address of `sm` in shared, expected a pointer to local memory [BadOperand]
        T.ptx.ldmatrix(False, 1, ".b16", sm.ptr_to([0]), sm.ptr_to([0]))
                                                         ^~~~~~~~~~~~~~
