#=== again
@T.prim_func
def f(A: T.Buffer((16,), "int32")):
    tx = T.env_thread("threadIdx.x")
    T.launch_thread(tx, 16)
    T.launch_thread(tx, 32)
    A[tx] = 1
#--- expected
again.py:5:21: error: `T.launch_thread` of a value that is not the name of a `T.env_thread`, or is launched already [BadArgument]
        T.launch_thread(tx, 32)
                        ^~
#=== never
@T.prim_func
def f(A: T.Buffer((16,), "int32")):
    tx = T.env_thread("threadIdx.x")
    A[tx] = 1
#--- expected
never.py:3:10: error: `tx` is used before it is bound [NotBound]
        tx = T.env_thread("threadIdx.x")
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~
never.py:3:10: note: bound here
        tx = T.env_thread("threadIdx.x")
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== tag
@T.prim_func
def f(A: T.Buffer((16,), "int32")):
    tx = T.env_thread("threadIdx.w")
#--- expected
tag.py:3:10: error: `threadIdx.w` is not a hardware id: expected `blockIdx`, `threadIdx` or `clusterCtaIdx` with `.x`, `.y` or `.z` [BadScopeIds]
        tx = T.env_thread("threadIdx.w")
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== legacy
@T.prim_func
def f(A: T.Buffer((16,), "int32")):
    tx = T.env_thread("threadIdx.x")
    T.launch_thread(tx, 32)
    a = T.decl_buffer([8], "float16", scope="local")
    b = T.decl_buffer([8], "int8", scope="local")
    s = T.alloc_buffer([64], "int8", scope="shared")
    T.ptx_mma("m16n8", "row", "col", "fp16", "fp16", "fp32", a.data, 0, a.data, 0, a.data, 0, False)
    T.ptx_mma("m16n8k16", "row", "col", "fp15", "fp16", "fp32", a.data, 0, a.data, 0, a.data, 0, False)
    T.ptx_mma("m16n8k16", "row", "col", "fp16", "fp16", "fp32", a.data, 0, a.data, 0, a.data, 0, True)
    T.ptx_mma("m16n8k16", "row", "col", "fp16", "fp16", "fp32", 5, 0, a.data, 0, a.data, 0, False)
    T.ptx_ldmatrix(True, 4, ".b16", b.data, 0, s.data, 0)
#--- expected
legacy.py:8:15: error: `T.ptx_mma` of the shape "m16n8", expected one such as "m16n8k16" [BadArgument]
        T.ptx_mma("m16n8", "row", "col", "fp16", "fp16", "fp32", a.data, 0, a.data, 0, a.data, 0, False)
                  ^~~~~~~
legacy.py:9:41: error: `T.ptx_mma` of "fp15", expected fp16, bf16, tf32, fp32, fp64, e4m3, e5m2, int8, uint8, int4, uint4 or int32 [BadType]
        T.ptx_mma("m16n8k16", "row", "col", "fp15", "fp16", "fp32", a.data, 0, a.data, 0, a.data, 0, False)
                                            ^~~~~~
legacy.py:10:5: error: `T.ptx_mma` that saturates or has an operator; the opcode has it, as in `T.ptx["mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32"](…)` [BadArgument]
        T.ptx_mma("m16n8k16", "row", "col", "fp16", "fp16", "fp32", a.data, 0, a.data, 0, a.data, 0, True)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
legacy.py:11:65: error: registers of 32 bits in an array given by `int32`, expected a pointer to elements that fill them [BadType]
        T.ptx_mma("m16n8k16", "row", "col", "fp16", "fp16", "fp32", 5, 0, a.data, 0, a.data, 0, False)
                                                                    ^
legacy.py:12:5: error: `T.ptx_ldmatrix` transposes elements of 16 bits, and these have 8; `Tx.warp.copy` moves them [BadArgument]
        T.ptx_ldmatrix(True, 4, ".b16", b.data, 0, s.data, 0)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
