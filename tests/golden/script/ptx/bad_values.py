@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    sm = T.alloc_shared((64,), "float16")
    r = T.alloc_local((4,), "uint32")
    T.ptx["cp.async.wait_group"](tx)
    T.ptx.setmaxnreg.inc.sync.aligned.u32(7)
#--- expected
bad_values.py:8:34: error: operand `n` of `cp.async.wait_group` must be a constant [BadOperand]
        T.ptx["cp.async.wait_group"](tx)
                                     ^~
bad_values.py:9:43: error: operand `count` is 7, allowed: 24..256 in steps of 8 [BadOperand]
        T.ptx.setmaxnreg.inc.sync.aligned.u32(7)
                                              ^
