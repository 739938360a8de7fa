@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    break
    if tx < 2:
        continue
#--- expected
bad_break_outside.py:6:5: error: `break` outside of a loop [Syntax]
        break
        ^~~~~
bad_break_outside.py:8:9: error: `continue` outside of a loop [Syntax]
            continue
            ^~~~~~~~
