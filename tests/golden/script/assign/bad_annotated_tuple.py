@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "int32")
    T.device_entry()
    tx = T.thread_id([16])
    (x, y): T.let = (tx, tx + 1)
    A[x, y] = 0
#--- expected
bad_annotated_tuple.py:6:6: error: cannot annotate a tuple [Syntax]
        (x, y): T.let = (tx, tx + 1)
         ^~~~
  note: write one statement for each name
