# A constant of a tile computation fits if the type holds its bits: an unsigned one down to its negative half.
@T.prim_func
def f(a: T.handle, b: T.handle):
    A = T.match_buffer(a, (32, 4), "uint8")
    B = T.match_buffer(b, (32, 4), "uint32")
    T.device_entry()
    T.cta_id([1])
    T.thread_id([32])
    R = T.alloc_buffer((32, 4), "uint8", scope="local", layout="auto")
    Q = T.alloc_buffer((32, 4), "uint32", scope="local", layout="auto")
    Tx.warp.copy(R, A)
    Tx.warp.copy(Q, B)
    Tx.warp.add(R, R, -128)
    Tx.warp.add(R, R, 255)
    Tx.warp.add(R, R, -129)
    Tx.warp.add(R, R, 256)
    Tx.warp.add(Q, Q, -2147483648)
    Tx.warp.add(Q, Q, 4294967295)
    Tx.warp.add(Q, Q, -2147483649)
    Tx.warp.add(Q, Q, 4294967296)
    Tx.warp.copy(A, R)
#--- expected
bad_constant_range.py:15:5: error: `add` with the constant -129, which `uint8` does not hold [BadTileCall]
        Tx.warp.add(R, R, -129)
        ^~~~~~~~~~~~~~~~~~~~~~~
bad_constant_range.py:16:5: error: `add` with the constant 256, which `uint8` does not hold [BadTileCall]
        Tx.warp.add(R, R, 256)
        ^~~~~~~~~~~~~~~~~~~~~~
bad_constant_range.py:19:5: error: `add` with the constant -2147483649, which `uint32` does not hold [BadTileCall]
        Tx.warp.add(Q, Q, -2147483649)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_constant_range.py:20:5: error: `add` with the constant 4294967296, which `uint32` does not hold [BadTileCall]
        Tx.warp.add(Q, Q, 4294967296)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
