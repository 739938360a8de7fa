# The type of a pointer is the type of what it points to.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float16")
    T.device_entry()
    tx = T.thread_id([32])
    p: T.handle("float32") = A.ptr_to([0, 0])
    q: T.let[T.handle("int8")] = A.data
    r: T.handle(dtype="float32", storage_scope="global") = A.data
    s: T.handle("float16", size=4) = A.data
    t: T.handle("float16") = A.ptr_to([0, 0])
    u: T.handle = A.ptr_to([0, 0])
    v: T.handle("float16") = tx
#--- expected
bad_pointer_types.py:7:30: error: `p` is annotated as `handle(float32)`, but its value is `handle(float16)` [BadType]
        p: T.handle("float32") = A.ptr_to([0, 0])
                                 ^~~~~~~~~~~~~~~~
  note: `T.decl_buffer(shape, dtype, data=B.data)` reads the memory of `B` as another type
bad_pointer_types.py:8:34: error: `q` is annotated as `handle(int8)`, but its value is `handle(float16)` [BadType]
        q: T.let[T.handle("int8")] = A.data
                                     ^~~~~~
  note: `T.decl_buffer(shape, dtype, data=B.data)` reads the memory of `B` as another type
bad_pointer_types.py:9:60: error: `r` is annotated as `handle(float32)`, but its value is `handle(float16)` [BadType]
        r: T.handle(dtype="float32", storage_scope="global") = A.data
                                                               ^~~~~~
  note: `T.decl_buffer(shape, dtype, data=B.data)` reads the memory of `B` as another type
bad_pointer_types.py:10:33: error: `T.handle` has no parameter `size`; it takes dtype, storage_scope [BadArgument]
        s: T.handle("float16", size=4) = A.data
                                    ^
bad_pointer_types.py:13:30: error: `v` is `int32`, expected a pointer [BadType]
        v: T.handle("float16") = tx
                                 ^~
