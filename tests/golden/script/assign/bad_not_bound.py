@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    A[0, 0] = later
    later = 1
    if tx < 3:
        inside = 1
    A[0, 1] = inside
    for i in range(4):
        pass
    A[0, 2] = i
    z += 1
#--- expected
bad_not_bound.py:6:15: error: `later` has no value here [NotBound]
        A[0, 0] = later
                  ^~~~~
bad_not_bound.py:7:5: note: it gets one further down
        later = 1
        ^~~~~
bad_not_bound.py:10:15: error: `inside` has no value here [NotBound]
        A[0, 1] = inside
                  ^~~~~~
bad_not_bound.py:9:9: note: it is bound in a block that has ended, and gone with it
            inside = 1
            ^~~~~~
bad_not_bound.py:13:15: error: `i` has no value here [NotBound]
        A[0, 2] = i
                  ^
bad_not_bound.py:11:9: note: it is bound in a block that has ended, and gone with it
        for i in range(4):
            ^
bad_not_bound.py:14:5: error: `z` has no value here [UnknownName]
        z += 1
        ^
