# What follows from the missing entry is not reported.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    block = T.cta_id([4])
    begin: T.let = block * 4
    S0 = T.alloc_shared((4, 16), "float32")
    Tx.cta.copy(S0[:, :], A[begin : begin + 4, :])
#--- expected
bad_no_device_entry.py:5:13: error: `T.cta_id` before `T.device_entry()` [BadScopeIds]
        block = T.cta_id([4])
                ^~~~~~~~~~~~~
  note: put `T.device_entry()` behind the buffers of the parameters: what follows it runs on the GPU
