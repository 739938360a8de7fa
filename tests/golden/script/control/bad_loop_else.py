@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    for i in range(4):
        pass
    else:
        A[0, 0] = 1.0
    while tx < 3:
        pass
    else:
        A[0, 0] = 2.0
#--- expected
bad_loop_else.py:6:5: error: `else` of a loop in a kernel [Syntax]
        for i in range(4):
        ^~~~~~~~~~~~~~~~~
bad_loop_else.py:10:5: error: `else` of a loop in a kernel [Syntax]
        while tx < 3:
        ^~~~~~~~~~~~
