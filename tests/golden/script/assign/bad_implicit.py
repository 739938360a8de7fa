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
bad_implicit.py:10:9: error: `x` is `int32` and gets `float32`, whose fraction would be lost [BadType]
            x += A[k]
            ^~~~~~~~~
bad_implicit.py:8:5: note: it has the type of its first value; write `x: T.float32 = …`
        x = 0
        ^~~~~
  note: `T.cast(x, "int32")` converts it, toward 0
bad_implicit.py:11:9: error: the constant 2.5 does not fit `int32` [BadType]
        x = 2.5
            ^~~
  note: `T.cast(x, "int32")` drops the fraction
bad_implicit.py:12:18: error: `y` is `int32` and gets `float32`, whose fraction would be lost [BadType]
        y: T.int32 = A[0]
                     ^~~~
  note: `T.cast(x, "int32")` converts it, toward 0
bad_implicit.py:13:25: error: `z` is `int32` and gets `float32`, whose fraction would be lost [BadType]
        z: T.let[T.int32] = A[0] * 2.0
                            ^~~~~~~~~~
  note: `T.cast(x, "int32")` converts it, toward 0
bad_implicit.py:14:13: error: `I` holds `int32` and gets `float32`, whose fraction would be lost [BadType]
        I[tx] = A[tx]
                ^~~~~
bad_implicit.py:4:9: note: declared here
        I = T.match_buffer(i, (16,), "int32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `T.cast(x, "int32")` converts it, toward 0
bad_implicit.py:15:13: error: the constant 0.5 does not fit `int32` [BadType]
        I[tx] = 0.5
                ^~~
  note: `T.cast(x, "int32")` drops the fraction
bad_implicit.py:16:19: error: `I` holds `int32` and gets `float32`, whose fraction would be lost [BadType]
        I.vstore([0], A.vload([0], dtype="float32x4"))
                      ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_implicit.py:4:9: note: declared here
        I = T.match_buffer(i, (16,), "int32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `T.cast(x, "int32")` converts it, toward 0
bad_implicit.py:18:5: error: `count` is `int32` and gets `int64`, which does not fit [BadType]
        count += n
        ^~~~~~~~~~
bad_implicit.py:17:5: note: it has the type of its first value; write `count: T.int64 = …`
        count = 0
        ^~~~~~~~~
  note: `T.cast(x, "int32")` converts it all the same
bad_implicit.py:20:5: error: `total` is `float32` and gets `float64`, which does not fit [BadType]
        total += W[0]
        ^~~~~~~~~~~~~
bad_implicit.py:19:5: note: it has the type of its first value; write `total: T.float64 = …`
        total = 0.0
        ^~~~~~~~~~~
  note: `T.cast(x, "float32")` converts it all the same
bad_implicit.py:21:20: error: `flag` is `bool` and gets `float32`, whose fraction would be lost [BadType]
        flag: T.bool = A[0]
                       ^~~~
  note: `x != 0` makes a condition of it
bad_implicit.py:22:23: error: the constant 1000000 does not fit `float16` [BadType]
        half: T.float16 = 1e6
                          ^~~
  note: the largest `float16` is 65504
bad_implicit.py:23:14: error: `*` of `float16` and the constant 1000000, which `float16` does not hold [BadType]
        narrow = T.cast(A[0], "float16") * 1e6
                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_implicit.py:24:38: error: `float32` where `int32` is needed [BadType]
        T.cuda.atomic_add(I.ptr_to([0]), A[0])
                                         ^~~~
  note: `T.cast(x, "int32")` converts it, toward 0
bad_implicit.py:25:51: error: `float32` where `int32` is needed [BadType]
        s: T.let = T.cuda.shfl_sync(0xffffffff, A[0], A[1])
                                                      ^~~~
  note: `T.cast(x, "int32")` converts it, toward 0
bad_implicit.py:26:35: error: the constant 8589934591 does not fit `uint32` [BadType]
        m: T.let = T.cuda.ballot_sync(0x1ffffffff, True)
                                      ^~~~~~~~~~~
