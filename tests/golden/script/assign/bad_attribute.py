@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    A.shape = (1, 2)
    f(1)[0] = 2
    T.x = 3
#--- expected
bad_attribute.py:6:5: error: cannot assign an attribute of buffer [ReadOnly]
        A.shape = (1, 2)
        ^~~~~~~
bad_attribute.py:7:5: error: `f` has no value here [UnknownName]
        f(1)[0] = 2
        ^
bad_attribute.py:8:5: error: cannot assign an attribute of namespace [ReadOnly]
        T.x = 3
        ^~~
