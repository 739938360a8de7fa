#=== annotated_tuple
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "int32")
    T.device_entry()
    tx = T.thread_id([16])
    (x, y): T.let = (tx, tx + 1)
    A[x, y] = 0
#--- expected
annotated_tuple.py:6:6: error: cannot annotate a tuple [Syntax]
        (x, y): T.let = (tx, tx + 1)
         ^~~~
  note: write one statement for each name
#=== array_value
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x: T.float32[4] = 1.0
    y: T.let
    z: T.int32[tx]
#--- expected
array_value.py:6:23: error: an initial value for the array `x`, which cannot have one [BadBuffer]
        x: T.float32[4] = 1.0
                          ^~~
array_value.py:7:5: error: `y` is immutable and has no value [NotBound]
        y: T.let
        ^~~~~~~~
#=== attribute
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    A.shape = (1, 2)
    f(1)[0] = 2
    T.x = 3
#--- expected
attribute.py:6:5: error: cannot assign an attribute of buffer [ReadOnly]
        A.shape = (1, 2)
        ^~~~~~~
attribute.py:7:5: error: `f` has no value here [UnknownName]
        f(1)[0] = 2
        ^
attribute.py:8:5: error: cannot assign an attribute of namespace [ReadOnly]
        T.x = 3
        ^~~
#=== chain
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = y = 1
    A[0, 0] = x + y
#--- expected
chain.py:6:9: error: found a second `=`, expected one assignment per statement in a kernel [Syntax]
        x = y = 1
            ^
#=== extent
@T.prim_func
def f(a: T.handle):
    m = T.int32()
    A = T.match_buffer(a, (m, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    m = 3
    A[0, 0] = m
#--- expected
extent.py:7:5: error: `m` is an extent of a shape and cannot be assigned [ReadOnly]
        m = 3
        ^
extent.py:3:9: note: bound here
        m = T.int32()
            ^~~~~~~~~
#=== implicit
@T.prim_func
def f(a: T.handle, i: T.handle, w: T.handle, n: T.int64):
    A = T.match_buffer(a, (16,), "float32")
    I = T.match_buffer(i, (16,), "int32")
    W = T.match_buffer(w, (16,), "float64")
    T.device_entry()
    tx = T.thread_id([32])
    x = 0
    for k in range(4):
        x += A[k]
    x = 2.5
    y: T.int32 = A[0]
    z: T.let[T.int32] = A[0] * 2.0
    I[tx] = A[tx]
    I[tx] = 0.5
    I.vstore([0], A.vload([0], dtype="float32x4"))
    count = 0
    count += n
    total = 0.0
    total += W[0]
    flag: T.bool = A[0]
    half: T.float16 = 1e6
    narrow = T.cast(A[0], "float16") * 1e6
    T.cuda.atomic_add(I.ptr_to([0]), A[0])
    s: T.let = T.cuda.shfl_sync(0xffffffff, A[0], A[1])
    m: T.let = T.cuda.ballot_sync(0x1ffffffff, True)
#--- expected
implicit.py:10:9: error: `x` is `int32` and gets `float32`, whose fraction would be lost [BadType]
            x += A[k]
            ^~~~~~~~~
implicit.py:8:5: note: it has the type of its first value; write `x: T.float32 = …`
        x = 0
        ^~~~~
  note: `T.cast(x, "int32")` converts it, toward 0
implicit.py:11:9: error: the constant 2.5 does not fit `int32` [BadType]
        x = 2.5
            ^~~
  note: `T.cast(x, "int32")` drops the fraction
implicit.py:12:18: error: `y` is `int32` and gets `float32`, whose fraction would be lost [BadType]
        y: T.int32 = A[0]
                     ^~~~
  note: `T.cast(x, "int32")` converts it, toward 0
implicit.py:13:25: error: `z` is `int32` and gets `float32`, whose fraction would be lost [BadType]
        z: T.let[T.int32] = A[0] * 2.0
                            ^~~~~~~~~~
  note: `T.cast(x, "int32")` converts it, toward 0
implicit.py:14:13: error: `I` holds `int32` and gets `float32`, whose fraction would be lost [BadType]
        I[tx] = A[tx]
                ^~~~~
implicit.py:4:9: note: declared here
        I = T.match_buffer(i, (16,), "int32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `T.cast(x, "int32")` converts it, toward 0
implicit.py:15:13: error: the constant 0.5 does not fit `int32` [BadType]
        I[tx] = 0.5
                ^~~
  note: `T.cast(x, "int32")` drops the fraction
implicit.py:16:19: error: `I` holds `int32` and gets `float32`, whose fraction would be lost [BadType]
        I.vstore([0], A.vload([0], dtype="float32x4"))
                      ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
implicit.py:4:9: note: declared here
        I = T.match_buffer(i, (16,), "int32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `T.cast(x, "int32")` converts it, toward 0
implicit.py:18:5: error: `count` is `int32` and gets `int64`, which does not fit [BadType]
        count += n
        ^~~~~~~~~~
implicit.py:17:5: note: it has the type of its first value; write `count: T.int64 = …`
        count = 0
        ^~~~~~~~~
  note: `T.cast(x, "int32")` converts it all the same
implicit.py:20:5: error: `total` is `float32` and gets `float64`, which does not fit [BadType]
        total += W[0]
        ^~~~~~~~~~~~~
implicit.py:19:5: note: it has the type of its first value; write `total: T.float64 = …`
        total = 0.0
        ^~~~~~~~~~~
  note: `T.cast(x, "float32")` converts it all the same
implicit.py:21:20: error: `flag` is `bool` and gets `float32`, whose fraction would be lost [BadType]
        flag: T.bool = A[0]
                       ^~~~
  note: `x != 0` makes a condition of it
implicit.py:22:23: error: the constant 1000000 does not fit `float16` [BadType]
        half: T.float16 = 1e6
                          ^~~
  note: the largest `float16` is 65504
implicit.py:23:14: error: `*` of `float16` and the constant 1000000, which `float16` does not hold [BadType]
        narrow = T.cast(A[0], "float16") * 1e6
                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
implicit.py:24:38: error: `float32` where `int32` is needed [BadType]
        T.cuda.atomic_add(I.ptr_to([0]), A[0])
                                         ^~~~
  note: `T.cast(x, "int32")` converts it, toward 0
implicit.py:25:51: error: `float32` where `int32` is needed [BadType]
        s: T.let = T.cuda.shfl_sync(0xffffffff, A[0], A[1])
                                                      ^~~~
  note: `T.cast(x, "int32")` converts it, toward 0
implicit.py:26:35: error: the constant 8589934591 does not fit `uint32` [BadType]
        m: T.let = T.cuda.ballot_sync(0x1ffffffff, True)
                                      ^~~~~~~~~~~
#=== let_tuple
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "int32")
    T.device_entry()
    tx = T.thread_id([16])
    both: T.let = (tx, tx + 1)
    typed: T.let[T.int32] = [tx, 1]
    A[both[0], 0] = 0
#--- expected
let_tuple.py:6:20: error: `both: T.let` binds one value, not a tuple [BadType]
        both: T.let = (tx, tx + 1)
                       ^~~~~~~~~~
  note: `both = (…)` without an annotation names a tuple of values
let_tuple.py:7:29: error: `typed: T.let` binds one value, not a list [BadType]
        typed: T.let[T.int32] = [tx, 1]
                                ^~~~~~~
  note: `typed = (…)` without an annotation names a tuple of values
#=== not_bound
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    A[0, 0] = later
    later = 1
    if tx < 3:
        inside = 1
    A[0, 1] = inside
    for i in range(4):
        pass
    A[0, 2] = i
    z += 1
#--- expected
not_bound.py:6:15: error: `later` has no value here [NotBound]
        A[0, 0] = later
                  ^~~~~
not_bound.py:7:5: note: it gets one further down
        later = 1
        ^~~~~
not_bound.py:10:15: error: `inside` has no value here [NotBound]
        A[0, 1] = inside
                  ^~~~~~
not_bound.py:9:9: note: it is bound in a block that has ended, and gone with it
            inside = 1
            ^~~~~~
not_bound.py:13:15: error: `i` has no value here [NotBound]
        A[0, 2] = i
                  ^
not_bound.py:11:9: note: it is bound in a block that has ended, and gone with it
        for i in range(4):
            ^
not_bound.py:14:5: error: `z` has no value here [UnknownName]
        z += 1
        ^
#=== pointer_again
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    p = A.data
    p = A.ptr_to([1, 0])
    A = T.alloc_shared((4,), "float32")
    A[0] = 1.0
#--- expected
pointer_again.py:7:5: error: `p` is a pointer (bound once) and cannot be assigned [ReadOnly]
        p = A.ptr_to([1, 0])
        ^
pointer_again.py:6:5: note: bound here
        p = A.data
        ^~~~~~~~~~
#=== pointer_types
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
pointer_types.py:7:30: error: `p` is annotated as `handle(float32)`, but its value is `handle(float16)` [BadType]
        p: T.handle("float32") = A.ptr_to([0, 0])
                                 ^~~~~~~~~~~~~~~~
  note: `T.decl_buffer(shape, dtype, data=B.data)` reads the memory of `B` as another type
pointer_types.py:8:34: error: `q` is annotated as `handle(int8)`, but its value is `handle(float16)` [BadType]
        q: T.let[T.handle("int8")] = A.data
                                     ^~~~~~
  note: `T.decl_buffer(shape, dtype, data=B.data)` reads the memory of `B` as another type
pointer_types.py:9:60: error: `r` is annotated as `handle(float32)`, but its value is `handle(float16)` [BadType]
        r: T.handle(dtype="float32", storage_scope="global") = A.data
                                                               ^~~~~~
  note: `T.decl_buffer(shape, dtype, data=B.data)` reads the memory of `B` as another type
pointer_types.py:10:33: error: `T.handle` has no parameter `size`; it takes dtype, storage_scope [BadArgument]
        s: T.handle("float16", size=4) = A.data
                                    ^
pointer_types.py:13:30: error: `v` is `int32`, expected a pointer [BadType]
        v: T.handle("float16") = tx
                                 ^~
#=== read_only
@T.prim_func
def f(a: T.handle, n: T.int32):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    tx = 3
    for i in range(4):
        i = i + 1
    k: T.let = tx
    k = 2
    k += 1
    n = 7
#--- expected
read_only.py:6:5: error: `tx` is a scope id and cannot be assigned [ReadOnly]
        tx = 3
        ^~
read_only.py:5:10: note: bound here
        tx = T.thread_id([32])
             ^~~~~~~~~~~~~~~~~
read_only.py:8:9: error: `i` is a loop variable and cannot be assigned [ReadOnly]
            i = i + 1
            ^
read_only.py:7:5: note: bound here
        for i in range(4):
        ^~~~~~~~~~~~~~~~~
read_only.py:10:5: error: `k` is bound by `T.let` and cannot be assigned [ReadOnly]
        k = 2
        ^
read_only.py:9:5: note: bound here
        k: T.let = tx
        ^~~~~~~~~~~~~
read_only.py:11:5: error: `k` is bound by `T.let` and cannot be assigned [ReadOnly]
        k += 1
        ^
read_only.py:9:5: note: bound here
        k: T.let = tx
        ^~~~~~~~~~~~~
read_only.py:12:5: error: `n` is a parameter and cannot be assigned [ReadOnly]
        n = 7
        ^
read_only.py:2:20: note: bound here
    def f(a: T.handle, n: T.int32):
                       ^~~~~~~~~~
#=== region_store
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    A[0:4, 0] = 1.0
    A[0] = 2.0
    A[0:2, 0] += 1.0
#--- expected
region_store.py:6:5: error: a store to a region of `A`, expected one index per dimension [RankMismatch]
        A[0:4, 0] = 1.0
        ^~~~~~~~~
  note: use a tile primitive (`Tx.copy`, `Tx.fill`) for regions
region_store.py:7:5: error: a store to a region of `A`, expected one index per dimension [RankMismatch]
        A[0] = 2.0
        ^~~~
  note: use a tile primitive (`Tx.copy`, `Tx.fill`) for regions
region_store.py:8:5: error: `+=` of a region; give all indices [BadType]
        A[0:2, 0] += 1.0
        ^~~~~~~~~
#=== swap_types
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = 1
    x = A.data
    x = A
    x = "text"
#--- expected
swap_types.py:7:9: error: cannot convert `handle(float32)` to `int32` [BadType]
        x = A.data
            ^~~~~~
#=== unpack
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    a0, b0 = 1, 2, 3
    c0, d0 = tx
    e0, f0, *g0 = (1,)
#--- expected
unpack.py:6:5: error: 3 values for 2 names [HostError]
        a0, b0 = 1, 2, 3
        ^~~~~~
unpack.py:7:5: error: cannot iterate over expression [Opaque]
        c0, d0 = tx
        ^~~~~~
unpack.py:8:5: error: 1 value for 3 names [HostError]
        e0, f0, *g0 = (1,)
        ^~~~~~~~~~~
