@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    p = T.address_of(tx)
    q = T.address_of(A[0, 0] + 1)
    r = T.address_of(A[0:2, 0])
#--- expected
bad_address.py:6:22: error: the address of an expression, expected an element of a buffer [BadType]
        p = T.address_of(tx)
                         ^~
bad_address.py:7:22: error: the address of an expression, expected an element of a buffer [BadType]
        q = T.address_of(A[0, 0] + 1)
                         ^~~~~~~~~~~
bad_address.py:8:22: error: the address of region, expected an element of a buffer [BadType]
        r = T.address_of(A[0:2, 0])
                         ^~~~~~~~~
