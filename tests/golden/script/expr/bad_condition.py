@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    if A[0, 0]:
        pass
    while "x":
        pass
    if A:
        pass
    if A[0:4, 0]:
        pass
    x = 1 if A[0, 0] else 2
#--- expected
bad_condition.py:6:8: error: a condition of type `float32`, expected `bool` or an integer [BadType]
        if A[0, 0]:
           ^~~~~~~
bad_condition.py:8:11: error: a condition of type `text`, expected `bool` or an integer [BadType]
        while "x":
              ^~~
bad_condition.py:10:8: error: `A` is a buffer, expected a number: give indices for an element, or use `Tx` for the whole tile, as in `Tx.cta.exp(y, x)` [BadType]
        if A:
           ^
bad_condition.py:3:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_condition.py:12:8: error: region as a value of the kernel, expected a number or an expression [BadType]
        if A[0:4, 0]:
           ^~~~~~~~~
bad_condition.py:14:9: error: a condition of type `float32`, expected `bool` or an integer [BadType]
        x = 1 if A[0, 0] else 2
            ^~~~~~~~~~~~~~~~~~~
