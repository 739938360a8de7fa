@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    T.device_entry()
#--- expected
bad_second_entry.py:6:5: error: a second `T.device_entry()` [BadScopeIds]
        T.device_entry()
        ^~~~~~~~~~~~~~~~
