@T.inline
def put(B, i):
    B[i, 0] = 1.0

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    put(A)
    put(A, 1, 2)
    put(A, j=1)
#--- expected
bad_arguments.py:10:5: error: `put` without `i` [BadArgument]
        put(A)
        ^~~~~~
bad_arguments.py:2:12: note: the parameter
    def put(B, i):
               ^
bad_arguments.py:11:15: error: `put` with 3 positional arguments, expected 2 [BadArgument]
        put(A, 1, 2)
                  ^
bad_arguments.py:12:5: error: `put` without `i` [BadArgument]
        put(A, j=1)
        ^~~~~~~~~~~
bad_arguments.py:2:12: note: the parameter
    def put(B, i):
               ^
