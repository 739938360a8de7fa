@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (64,), "float32")
    T.device_entry()
    block = T.launch_thread("blockIdx.x", 2)
    t = T.thread_id([32])
    A[t] = 1.0
#--- expected
bad_mixed.py:6:9: error: scope id `thread_id` in a lowered program [BrokenIr]
        t = T.thread_id([32])
            ^~~~~~~~~~~~~~~~~
  note: `T.launch_thread` makes it a lowered one, without tile calls and layouts; a tile program has `T.cta_id` and `T.thread_id` only
