@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    for i in T.thread_binding(4):
        pass
#--- expected
bad_thread_binding.py:5:14: error: `T.thread_binding` without `thread` [BadArgument]
        for i in T.thread_binding(4):
                 ^~~~~~~~~~~~~~~~~~~
