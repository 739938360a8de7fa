@T.prim_func
def f(a: T.handle, n: T.int32):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    tx = 3
    for i in range(4):
        i = i + 1
    k: T.let = tx
    k = 2
    k += 1
    n = 7
#--- expected
bad_read_only.py:6:5: error: `tx` is a scope id and cannot be assigned [ReadOnly]
        tx = 3
        ^~
bad_read_only.py:5:10: note: bound here
        tx = T.thread_id([32])
             ^~~~~~~~~~~~~~~~~
bad_read_only.py:8:9: error: `i` is a loop variable and cannot be assigned [ReadOnly]
            i = i + 1
            ^
bad_read_only.py:7:5: note: bound here
        for i in range(4):
        ^~~~~~~~~~~~~~~~~
bad_read_only.py:10:5: error: `k` is bound by `T.let` and cannot be assigned [ReadOnly]
        k = 2
        ^
bad_read_only.py:9:5: note: bound here
        k: T.let = tx
        ^~~~~~~~~~~~~
bad_read_only.py:11:5: error: `k` is bound by `T.let` and cannot be assigned [ReadOnly]
        k += 1
        ^
bad_read_only.py:9:5: note: bound here
        k: T.let = tx
        ^~~~~~~~~~~~~
bad_read_only.py:12:5: error: `n` is a parameter and cannot be assigned [ReadOnly]
        n = 7
        ^
bad_read_only.py:2:20: note: bound here
    def f(a: T.handle, n: T.int32):
                       ^~~~~~~~~~
