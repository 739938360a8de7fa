@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "int32")
    T.device_entry()
    tx = T.thread_id([16])
    both: T.let = (tx, tx + 1)
    typed: T.let[T.int32] = [tx, 1]
    A[both[0], 0] = 0
#--- expected
bad_let_tuple.py:6:20: error: `both: T.let` binds one value, not a tuple [BadType]
        both: T.let = (tx, tx + 1)
                       ^~~~~~~~~~
  note: `both = (…)` without an annotation names a tuple of values
bad_let_tuple.py:7:29: error: `typed: T.let` binds one value, not a list [BadType]
        typed: T.let[T.int32] = [tx, 1]
                                ^~~~~~~
  note: `typed = (…)` without an annotation names a tuple of values
