@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    A[0, 0] = T.max(1)
    A[0, 0] = T.sqrt(A[0, 0], 2.0)
    T.alloc_shared()
    T.alloc_shared((4,), "float32", scop="shared")
    T.cuda.cta_sync(1)
    T.cast(tx)
    T.cast(tx, "float32", value=3)
#--- expected
bad_argument_counts.py:6:15: error: `T.max` without `b` [BadArgument]
        A[0, 0] = T.max(1)
                  ^~~~~~~~
  note: it takes (a, b)
bad_argument_counts.py:7:31: error: `T.sqrt` with 2 arguments, expected at most 1 [BadArgument]
        A[0, 0] = T.sqrt(A[0, 0], 2.0)
                                  ^~~
  note: it takes (x)
bad_argument_counts.py:8:5: error: `T.alloc_shared` without `shape` [BadArgument]
        T.alloc_shared()
        ^~~~~~~~~~~~~~~~
  note: it takes (shape, dtype?, data?, strides?, elem_offset?, scope?, align?, offset_factor?, buffer_type?, axis_separators?, layout?, byte_offset?, allocated_addr?)
bad_argument_counts.py:9:37: error: `T.alloc_shared` has no parameter `scop`; did you mean `scope`? [BadArgument]
        T.alloc_shared((4,), "float32", scop="shared")
                                        ^~~~
  note: it takes (shape, dtype?, data?, strides?, elem_offset?, scope?, align?, offset_factor?, buffer_type?, axis_separators?, layout?, byte_offset?, allocated_addr?)
bad_argument_counts.py:10:21: error: `T.cuda.cta_sync` with 1 argument, expected at most 0 [BadArgument]
        T.cuda.cta_sync(1)
                        ^
  note: it takes ()
bad_argument_counts.py:11:5: error: `T.cast` without `dtype` [BadArgument]
        T.cast(tx)
        ^~~~~~~~~~
  note: it takes (value, dtype)
bad_argument_counts.py:12:27: error: `value` of `T.cast` is given twice [BadArgument]
        T.cast(tx, "float32", value=3)
                              ^~~~~
