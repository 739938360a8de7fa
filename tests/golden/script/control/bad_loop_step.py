@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    for i in range(0, 8, -1):
        A[0, i] = 0.0
    for i in range(0, 8, tx):
        A[0, i] = 0.0
    for i in T.serial(0.5):
        pass
    for i in T.serial(4, dtype="float32"):
        pass
#--- expected
bad_loop_step.py:6:14: error: a step of -1, expected 1 or more [BadArgument]
        for i in range(0, 8, -1):
                 ^~~~~~~~~~~~~~~
  note: count up, and index from the end: `for i in range(n)`, `x[n - 1 - i]`
bad_loop_step.py:8:14: error: the step is a value of run time, expected an integer that is known at compile time [BadType]
        for i in range(0, 8, tx):
                 ^~~~~~~~~~~~~~~
bad_loop_step.py:10:14: error: `float32` where an integer is needed [BadType]
        for i in T.serial(0.5):
                 ^~~~~~~~~~~~~
bad_loop_step.py:12:32: error: a loop variable of type `float32`, expected an integer [BadType]
        for i in T.serial(4, dtype="float32"):
                                   ^~~~~~~~~
