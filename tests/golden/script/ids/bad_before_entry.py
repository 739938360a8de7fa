@T.prim_func
def f(a: T.handle):
    tx = T.thread_id([32])
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    T.thread_id([32])
#--- expected
bad_before_entry.py:3:10: error: `T.thread_id` before `T.device_entry()` [BadScopeIds]
        tx = T.thread_id([32])
             ^~~~~~~~~~~~~~~~~
  note: put `T.device_entry()` behind the buffers of the parameters: what follows it runs on the GPU
