from tvm.script import tirx as T


@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (1,), "int32")
    T.device_entry()
    T.cta_id([1])
    T.thread_id([1])
    for i in range(-(2**31), 2**31 - 1):
        B[0] = i
    for i in T.serial(-(2**31), 2**31 - 1, step=2):
        B[0] = i
#--- expected
bad_too_many_rounds.py:10:14: error: a loop of 4294967295 rounds, more than `int32` counts [Overflow]
        for i in range(-(2**31), 2**31 - 1):
                 ^~~~~~~~~~~~~~~~~~~~~~~~~~
  note: give a bound with more bits: `T.int64(0)`
bad_too_many_rounds.py:12:14: error: a loop of 2147483648 rounds, more than `int32` counts [Overflow]
        for i in T.serial(-(2**31), 2**31 - 1, step=2):
                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: give a bound with more bits: `T.int64(0)`
