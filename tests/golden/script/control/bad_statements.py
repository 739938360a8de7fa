@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    try:
        pass
    except ValueError:
        pass
    class X:
        pass
    del A
    global y
    raise ValueError("x")
    with open("x") as f0:
        pass
#--- expected
bad_statements.py:6:5: error: this statement cannot stand in a kernel [Syntax]
        try:
        ^~~
bad_statements.py:10:5: error: this statement cannot stand in a kernel [Syntax]
        class X:
        ^~~~~~~
bad_statements.py:12:5: error: this statement cannot stand in a kernel [Syntax]
        del A
        ^~~~~
bad_statements.py:13:5: error: this statement cannot stand in a kernel [Syntax]
        global y
        ^~~~~~~~
bad_statements.py:14:5: error: this statement cannot stand in a kernel [Syntax]
        raise ValueError("x")
        ^~~~~~~~~~~~~~~~~~~~~
bad_statements.py:15:10: error: this value is not known at compile time: `open` is not modelled [Opaque]
        with open("x") as f0:
             ^~~~~~~~~
