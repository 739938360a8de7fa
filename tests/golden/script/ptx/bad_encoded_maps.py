#=== host
@T.prim_func
def f(A: T.Buffer((16, 64), "float16")):
    T.call_packed("runtime.other", A.data)
    a = T.tvm_stack_alloca("shape", 3)
    T.call_packed("runtime.cuTensorMapEncodeTiled", A.data, "float16", 2, A.data, 64, 16, 128, 64, 8, 1, 1, 0, 3, 1, 1)
    m = T.tvm_stack_alloca("tensormap", 1)
    T.call_packed("runtime.cuTensorMapEncodeTiled", m, "float16", 2, A.data, 64, 16, 128, 64, 8)
    T.device_entry()
    T.cta_id([1])
    T.thread_id([32])
#--- expected
host.py:3:19: error: `T.call_packed` calls the host, and kernels run without one; of its functions, "runtime.cuTensorMapEncodeTiled" is taken [UnknownName]
        T.call_packed("runtime.other", A.data)
                      ^~~~~~~~~~~~~~~
host.py:4:9: error: `T.tvm_stack_alloca` is taken of one tensor map, `T.tvm_stack_alloca("tensormap", 1)` [BadArgument]
        a = T.tvm_stack_alloca("shape", 3)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
host.py:5:53: error: `T.call_packed` into something else than the name of a `T.tvm_stack_alloca("tensormap", 1)` that is not encoded yet [BadArgument]
        T.call_packed("runtime.cuTensorMapEncodeTiled", A.data, "float16", 2, A.data, 64, 16, 128, 64, 8, 1, 1, 0, 3, 1, 1)
                                                        ^~~~~~
host.py:7:5: error: `T.call_packed` with 9 values for a tensor map of rank 2, expected a rank of 1 to 5, and 15 values: map, type, rank, pointer, extents, strides of all dimensions but the first, box, steps, interleaving, swizzle, promotion, fill [BadArgument]
        T.call_packed("runtime.cuTensorMapEncodeTiled", m, "float16", 2, A.data, 64, 16, 128, 64, 8)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== numbers
@T.prim_func
def f(A: T.Buffer((16, 64), "float16")):
    m = T.tvm_stack_alloca("tensormap", 1)
    T.call_packed("runtime.cuTensorMapEncodeTiled", m, "float32", 2, A.data, 64, 16, 128, 64, 8, 1, 1, 0, 3, 1, 1)
    n = T.tvm_stack_alloca("tensormap", 1)
    T.call_packed("runtime.cuTensorMapEncodeTiled", n, "float16", 2, A.data, 64, 16, 127, 64, 8, 1, 1, 0, 3, 1, 1)
    o = T.tvm_stack_alloca("tensormap", 1)
    T.call_packed("runtime.cuTensorMapEncodeTiled", o, "float16", 2, A.data, 64, 16, 128, 64, 8, 1, 2, 0, 3, 1, 1)
    p = T.tvm_stack_alloca("tensormap", 1)
    T.call_packed("runtime.cuTensorMapEncodeTiled", p, "float16", 2, A.data, 64, 16, 128, 64, 8, 1, 1, 1, 3, 1, 1)
    q = T.tvm_stack_alloca("tensormap", 1)
    T.call_packed("runtime.cuTensorMapEncodeTiled", q, "float16", 2, A.data, 64, 16, 128, 64, 512, 1, 1, 0, 3, 1, 1)
    T.device_entry()
    T.cta_id([1])
    T.thread_id([32])
#--- expected
numbers.py:4:70: error: a tensor map with elements of `float32` over `handle(float16)`, expected a pointer to such elements [BadType]
        T.call_packed("runtime.cuTensorMapEncodeTiled", m, "float32", 2, A.data, 64, 16, 128, 64, 8, 1, 1, 0, 3, 1, 1)
                                                                         ^~~~~~
numbers.py:6:86: error: a stride of 127 bytes of a tensor map, expected a multiple of the 2 of an element [BadArgument]
        T.call_packed("runtime.cuTensorMapEncodeTiled", n, "float16", 2, A.data, 64, 16, 127, 64, 8, 1, 1, 0, 3, 1, 1)
                                                                                         ^~~
numbers.py:8:101: error: a step of 2 between the elements of a tensor map, expected 1 [BadArgument]
        T.call_packed("runtime.cuTensorMapEncodeTiled", o, "float16", 2, A.data, 64, 16, 128, 64, 8, 1, 2, 0, 3, 1, 1)
                                                                                                        ^
numbers.py:10:104: error: the interleaving of a tensor map is 1, expected 0 [BadArgument]
        T.call_packed("runtime.cuTensorMapEncodeTiled", p, "float16", 2, A.data, 64, 16, 128, 64, 8, 1, 1, 1, 3, 1, 1)
                                                                                                           ^
numbers.py:12:5: error: `box` of a tensor map is 512 in dimension 1, expected 1 to 256 [BadArgument]
        T.call_packed("runtime.cuTensorMapEncodeTiled", q, "float16", 2, A.data, 64, 16, 128, 64, 512, 1, 1, 0, 3, 1, 1)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== open
@T.prim_func
def f(A: T.Buffer((16, 64), "float16")):
    m = T.tvm_stack_alloca("tensormap", 1)
    T.device_entry()
    T.cta_id([1])
    T.thread_id([32])
    T.ptx["prefetch.tensormap"](m)
#--- expected
open.py:7:33: error: `m` is used before it is bound [NotBound]
        T.ptx["prefetch.tensormap"](m)
                                    ^
open.py:3:9: note: bound here
        m = T.tvm_stack_alloca("tensormap", 1)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== device
@T.prim_func
def f(A: T.Buffer((16, 64), "float16")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([32])
    m = T.tvm_stack_alloca("tensormap", 1)
#--- expected
device.py:6:9: error: `T.tvm_stack_alloca` behind `T.device_entry()` [BadArgument]
        m = T.tvm_stack_alloca("tensormap", 1)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the launch makes tensor maps: bind them before it
