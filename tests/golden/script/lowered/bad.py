#=== copy_bytes
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16,), layout=None)
    T.device_entry()
    x = T.launch_thread("threadIdx.x", 32)
    T.cuda.copy_bytes(A.data, A.data, 3)
    T.cuda.copy_bytes(A.data, 1, 16)
    T.cuda.copy_bytes(A.data, A.data, x)
#--- expected
copy_bytes.py:6:39: error: `bytes` of `T.cuda.copy_bytes` is 3, expected 1, 2, 4, 8, 16 or 32 [BadArgument]
        T.cuda.copy_bytes(A.data, A.data, 3)
                                          ^
  note: it takes `T.cuda.copy_bytes(dst, src, bytes)`
copy_bytes.py:7:31: error: `src` of `T.cuda.copy_bytes` is `int32`, expected a pointer [BadType]
        T.cuda.copy_bytes(A.data, 1, 16)
                                  ^
  note: it takes `T.cuda.copy_bytes(dst, src, bytes)`
copy_bytes.py:8:39: error: `bytes` of `T.cuda.copy_bytes` is known at run time only, expected 1, 2, 4, 8, 16 or 32 [BadArgument]
        T.cuda.copy_bytes(A.data, A.data, x)
                                          ^
  note: it takes `T.cuda.copy_bytes(dst, src, bytes)`
#=== launch
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16,), layout=None)
    T.device_entry()
    t = T.launch_thread("threadIdx.w", 32)
#--- expected
launch.py:5:9: error: `threadIdx.w` is not a hardware id: expected `blockIdx`, `threadIdx` or `clusterCtaIdx` with `.x`, `.y` or `.z` [BadScopeIds]
        t = T.launch_thread("threadIdx.w", 32)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== mixed
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (64,), "float32")
    T.device_entry()
    block = T.launch_thread("blockIdx.x", 2)
    t = T.thread_id([32])
    A[t] = 1.0
#--- expected
mixed.py:6:9: error: scope id `thread_id` in a lowered program [BrokenIr]
        t = T.thread_id([32])
            ^~~~~~~~~~~~~~~~~
  note: `T.launch_thread` makes it a lowered one, without tile calls and layouts; a tile program has `T.cta_id` and `T.thread_id` only
#=== tile
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16,), layout=None)
    T.device_entry()
    x = T.launch_thread("threadIdx.x", 32)
    Tx.copy(A, A)
#--- expected
tile.py:6:5: error: tile call `copy` in a lowered program [BrokenIr]
        Tx.copy(A, A)
        ^~~~~~~~~~~~~
