#=== arguments
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
arguments.py:10:5: error: `put` without `i` [BadArgument]
        put(A)
        ^~~~~~
arguments.py:2:12: note: the parameter
    def put(B, i):
               ^
arguments.py:11:15: error: `put` with 3 positional arguments, expected 2 [BadArgument]
        put(A, 1, 2)
                  ^
arguments.py:12:5: error: `put` without `i` [BadArgument]
        put(A, j=1)
        ^~~~~~~~~~~
arguments.py:2:12: note: the parameter
    def put(B, i):
               ^
#=== error_inside
@T.inline
def put(B, i):
    B[i, 0] = 1.0
    x = B[0, i] / 2

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    put(A, 0)
    put(A, 20)
#--- expected
error_inside.py:3:5: error: index 20 in dimension 0 of `A`, which has extent 16 [OutOfBounds]
        B[i, 0] = 1.0
        ^~~~~~~
error_inside.py:8:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
error_inside.py:4:9: error: index 20 in dimension 1 of `A`, which has extent 16 [OutOfBounds]
        x = B[0, i] / 2
            ^~~~~~~
error_inside.py:8:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== host_runtime
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
host_runtime.py:2:8: error: a value of run time, expected one that is known when the kernel is compiled [BadType]
        if n > 3:
           ^~~~~
host_runtime.py:11:15: note: in a call of `pick`
        A[0, 0] = pick(tx)
                  ^~~~~~~~
#=== outside
@T.inline
def twice(x):
    y = x + x

n = twice(1)

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    A[tx, 0] = n
#--- expected
outside.py:12:16: error: this value is not known at compile time: the inline function `twice` is called outside of a kernel [Opaque]
        A[tx, 0] = n
                   ^
outside.py:5:1: note: it comes from here
    n = twice(1)
    ^~~~~~~~~~~~
#=== recursion
@T.inline
def loop(B):
    loop(B)

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    loop(A)
#--- expected
recursion.py:3:5: error: inline functions call each other without end [Budget]
        loop(B)
        ^~~~~~~
#=== value
@T.inline
def put(B):
    B[0, 0] = 1.0

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = put(A)
    A[0, 0] = x
#--- expected
value.py:10:9: error: this call returns nothing, expected a value [BadType]
        x = put(A)
            ^~~~~~
