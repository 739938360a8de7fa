@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    by = T.cta_id(["x"])
    tz = T.thread_id([1.5])
    tx = T.thread_id([32], preferred=[2])
    A[0, 0] = 1.0
#--- expected
bad_extents.py:5:19: error: `text` where an integer is needed [BadType]
        by = T.cta_id(["x"])
                      ^~~~~
bad_extents.py:6:22: error: `float32` where an integer is needed [BadType]
        tz = T.thread_id([1.5])
                         ^~~~~
bad_extents.py:7:38: error: `T.thread_id` has no parameter `preferred` [BadArgument]
        tx = T.thread_id([32], preferred=[2])
                                         ^~~
