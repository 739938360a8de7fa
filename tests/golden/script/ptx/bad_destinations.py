@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    sm = T.alloc_shared((64,), "float16")
    r = T.alloc_local((4,), "uint32")
    k: T.let = T.uint32(1)
    T.ptx["mov.b32"](k, r[0])
    T.ptx["mov.b32"](tx, r[0])
    T.ptx["mov.b32"](r[0] + 1, r[1])
    T.ptx["mov.b32"](3, r[1])
#--- expected
bad_destinations.py:9:22: error: `d` of `mov.b32` is written, but this is not a variable or element of a buffer [ReadOnly]
        T.ptx["mov.b32"](k, r[0])
                         ^
  note: a `T.let` name and an expression have no place to write to
bad_destinations.py:10:22: error: `d` of `mov.b32` is written, but this is not a variable or element of a buffer [ReadOnly]
        T.ptx["mov.b32"](tx, r[0])
                         ^~
  note: a `T.let` name and an expression have no place to write to
bad_destinations.py:11:22: error: `d` of `mov.b32` is written, but this is not a variable or element of a buffer [ReadOnly]
        T.ptx["mov.b32"](r[0] + 1, r[1])
                         ^~~~~~~~
  note: a `T.let` name and an expression have no place to write to
bad_destinations.py:12:22: error: `d` of `mov.b32` is written, but this is not a variable or element of a buffer [ReadOnly]
        T.ptx["mov.b32"](3, r[1])
                         ^
  note: a `T.let` name and an expression have no place to write to
