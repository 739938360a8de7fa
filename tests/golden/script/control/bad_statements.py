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
bad_statements.py:6:5: error: `try` cannot stand in a kernel [Syntax]
        try:
        ^~~
  note: what Python does before the launch stands outside, in a builder
bad_statements.py:10:5: error: `class` cannot stand in a kernel [Syntax]
        class X:
        ^~~~~~~
  note: what Python does before the launch stands outside, in a builder
bad_statements.py:12:5: error: `del` cannot stand in a kernel [Syntax]
        del A
        ^~~~~
  note: what Python does before the launch stands outside, in a builder
bad_statements.py:13:5: error: `global` cannot stand in a kernel [Syntax]
        global y
        ^~~~~~~~
  note: what Python does before the launch stands outside, in a builder
bad_statements.py:14:5: error: `raise` cannot stand in a kernel [Syntax]
        raise ValueError("x")
        ^~~~~~~~~~~~~~~~~~~~~
  note: what Python does before the launch stands outside, in a builder
bad_statements.py:15:10: error: this value is not known at compile time: `open` is not modelled [Opaque]
        with open("x") as f0:
             ^~~~~~~~~
