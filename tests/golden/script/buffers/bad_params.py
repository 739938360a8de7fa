@T.prim_func
def f(A, b: 3, c: T.let, d: T.Buffer((4,), "flaot32"), e: T.Buffer((-1,)), *args, **kw):
    T.device_entry()
    tx = T.thread_id([32])
    A[0] = 1.0
#--- expected
bad_params.py:2:7: error: parameter `A` has no annotation, expected `T.handle`, `T.Buffer(…)` or a type [BadType]
    def f(A, b: 3, c: T.let, d: T.Buffer((4,), "flaot32"), e: T.Buffer((-1,)), *args, **kw):
          ^
bad_params.py:2:10: error: parameter `b` is annotated with int, expected `T.handle`, `T.Buffer(…)` or a type such as `T.int32` [BadType]
    def f(A, b: 3, c: T.let, d: T.Buffer((4,), "flaot32"), e: T.Buffer((-1,)), *args, **kw):
             ^~~~
bad_params.py:2:16: error: this annotation cannot be used for parameter `c` [BadType]
    def f(A, b: 3, c: T.let, d: T.Buffer((4,), "flaot32"), e: T.Buffer((-1,)), *args, **kw):
                   ^~~~~~~~
bad_params.py:2:26: error: `flaot32` is not an element type; did you mean `float32`? [UnknownName]
    def f(A, b: 3, c: T.let, d: T.Buffer((4,), "flaot32"), e: T.Buffer((-1,)), *args, **kw):
                             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_params.py:2:56: error: an extent of -1, expected 1 or more [BadExtent]
    def f(A, b: 3, c: T.let, d: T.Buffer((4,), "flaot32"), e: T.Buffer((-1,)), *args, **kw):
                                                           ^~~~~~~~~~~~~~~~~~
bad_params.py:2:76: error: `*args` as a parameter of a kernel [Syntax]
    def f(A, b: 3, c: T.let, d: T.Buffer((4,), "flaot32"), e: T.Buffer((-1,)), *args, **kw):
                                                                               ^~~~~
bad_params.py:2:83: error: `**kw` as a parameter of a kernel [Syntax]
    def f(A, b: 3, c: T.let, d: T.Buffer((4,), "flaot32"), e: T.Buffer((-1,)), *args, **kw):
                                                                                      ^~~~
