# A negative bound counts from the end, as in Python.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    S0 = T.alloc_shared((16, 16), "float32")
    sub = S0.sub[0:4, :]
    Tx.cta.copy(sub[-2:2, :], A[0:4, :])
    Tx.cta.copy(S0[0:4, :], A[-2:2, :], fill_mode="zero")
    Tx.cta.copy(S0[0:16, :], A[-20:, :], fill_mode="zero")
    Tx.cta.copy(S0[0:4, :], A[4:-12, :])
#--- expected
bad_negative_slices.py:9:17: error: 2:2 in dimension 0 of `sub`, which has extent 4, is empty [OutOfBounds]
        Tx.cta.copy(sub[-2:2, :], A[0:4, :])
                    ^~~~~~~~~~~~
  note: a negative bound counts from the end of the dimension
bad_negative_slices.py:8:11: note: declared here
        sub = S0.sub[0:4, :]
              ^~~~~~~~~~~~~~
bad_negative_slices.py:10:29: error: 14:2 in dimension 0 of `A`, which has extent 16, is empty [OutOfBounds]
        Tx.cta.copy(S0[0:4, :], A[-2:2, :], fill_mode="zero")
                                ^~~~~~~~~~
  note: a negative bound counts from the end of the dimension
bad_negative_slices.py:4:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_negative_slices.py:11:30: error: -4:16 in dimension 0 of `A`, which has extent 16 [OutOfBounds]
        Tx.cta.copy(S0[0:16, :], A[-20:, :], fill_mode="zero")
                                 ^~~~~~~~~~
  note: a negative bound counts from the end of the dimension
bad_negative_slices.py:4:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_negative_slices.py:12:29: error: 4:4 in dimension 0 of `A`, which has extent 16, is empty [OutOfBounds]
        Tx.cta.copy(S0[0:4, :], A[4:-12, :])
                                ^~~~~~~~~~~
  note: a negative bound counts from the end of the dimension
bad_negative_slices.py:4:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
