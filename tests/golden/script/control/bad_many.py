# Several errors at once; what follows from one is not reported again.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = tx / 2
    y = x + 1
    A[0, y] = undefined
    A[0, 16] = 1.0
    z = T.sqrtt(2.0)
    w = z + z
    if tx < 3:
        A[0, 0, 0] = w
        tx = 4
    q = T.alloc_buffer((4,), "float32", scope="glob")
    q[0] = 1.0
#--- expected
bad_many.py:7:9: error: `/` of `int32` [BadType]
        x = tx / 2
            ^~~~~~
  note: `/` divides floats; `//` is integer division, rounding down
bad_many.py:9:15: error: `undefined` has no value here [UnknownName]
        A[0, y] = undefined
                  ^~~~~~~~~
bad_many.py:10:5: error: index 16 in dimension 1 of `A`, which has extent 16 [OutOfBounds]
        A[0, 16] = 1.0
        ^~~~~~~~
bad_many.py:4:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_many.py:11:11: error: `T` has no `sqrtt`; did you mean `sqrt`? [UnknownName]
        z = T.sqrtt(2.0)
              ^~~~~
bad_many.py:15:9: error: `tx` is a scope id and cannot be assigned [ReadOnly]
            tx = 4
            ^~
bad_many.py:6:10: note: bound here
        tx = T.thread_id([32])
             ^~~~~~~~~~~~~~~~~
bad_many.py:16:47: error: scope "glob", expected global, shared, shared.dyn, local or tmem [BadBuffer]
        q = T.alloc_buffer((4,), "float32", scope="glob")
                                                  ^~~~~~
