def pick(n):
    if n > 3:
        return 1
    return 2

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    A[0, 0] = pick(tx)
#--- expected
bad_host_runtime.py:2:8: error: a value of run time, expected one that is known when the kernel is compiled [BadType]
        if n > 3:
           ^~~~~
bad_host_runtime.py:11:15: note: in a call of `pick`
        A[0, 0] = pick(tx)
                  ^~~~~~~~
