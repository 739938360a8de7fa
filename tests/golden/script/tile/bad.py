#=== arguments
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    s0 = T.alloc_shared((16, 16), "float32")
    Tx.copy(s0)
    Tx.copy(s0, A, A, A)
    Tx.copy(s0, 3)
    Tx.copy(s0, A, src=A)
    Tx.copy("x", A)
    Tx.fill(s0)
    Tx.sum(s0, A, accum=3)
    Tx.copy(s0, A, workspace=3)
    Tx.copy(s0, A, dispatch=4)
#--- expected
arguments.py:7:5: error: `copy` without `src` [BadTileCall]
        Tx.copy(s0)
        ^~~~~~~~~~~
  note: it takes (dst, src, predicate=None)
arguments.py:8:23: error: `copy` with 4 arguments, expected at most 3 [BadTileCall]
        Tx.copy(s0, A, A, A)
                          ^
  note: it takes (dst, src, predicate=None)
arguments.py:9:17: error: `src` is int, expected a buffer or a region of one [BadTileCall]
        Tx.copy(s0, 3)
                    ^
arguments.py:10:24: error: `src` of `copy` is given twice [BadTileCall]
        Tx.copy(s0, A, src=A)
                           ^
arguments.py:11:13: error: `dst` is str, expected a buffer or a region of one [BadTileCall]
        Tx.copy("x", A)
                ^~~
arguments.py:12:5: error: `fill` without `value` [BadTileCall]
        Tx.fill(s0)
        ^~~~~~~~~~~
  note: it takes (dst, value)
arguments.py:14:30: error: `workspace` is int, expected a dict [BadTileCall]
        Tx.copy(s0, A, workspace=3)
                                 ^
arguments.py:15:29: error: `dispatch` is int, expected a text [BadType]
        Tx.copy(s0, A, dispatch=4)
                                ^
#=== barriers
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([128])
    if tx == 0:
        T.cuda.cta_sync()
    if tx < 16:
        T.cuda.warp_sync()
    if tx < 64:
        T.cuda.warpgroup_sync(1)
        T.cuda.warp_sync()
    if A[0, 0] > 0.0:
        T.tvm_storage_sync("shared")
    if tx < 64:
        T.tvm_storage_sync("shared")
#--- expected
barriers.py:7:9: error: `T.cuda.cta_sync` is reached by thread 0 of 128, expected whole ctas [Divergent]
            T.cuda.cta_sync()
            ^~~~~~~~~~~~~~~~~
barriers.py:6:8: note: `tx == 0` leaves out the others
        if tx == 0:
           ^~~~~~~
  note: put it outside the `if`, or let the condition hold for whole ctas
barriers.py:9:9: error: `T.cuda.warp_sync` is reached by threads 0-15 of 128, expected whole warps [Divergent]
            T.cuda.warp_sync()
            ^~~~~~~~~~~~~~~~~~
barriers.py:8:8: note: `tx < 16` leaves out the others
        if tx < 16:
           ^~~~~~~
  note: put it outside the `if`, or let the condition hold for whole warps
barriers.py:11:9: error: `T.cuda.warpgroup_sync` is reached by warps 0-1 of 4, expected whole warpgroups [Divergent]
            T.cuda.warpgroup_sync(1)
            ^~~~~~~~~~~~~~~~~~~~~~~~
barriers.py:10:8: note: `tx < 64` leaves out the others
        if tx < 64:
           ^~~~~~~
  note: put it outside the `if`, or let the condition hold for whole warpgroups
barriers.py:16:9: error: `T.tvm_storage_sync` is reached by warps 0-1 of 4, expected whole ctas [Divergent]
            T.tvm_storage_sync("shared")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
barriers.py:15:8: note: `tx < 64` leaves out the others
        if tx < 64:
           ^~~~~~~
  note: put it outside the `if`, or let the condition hold for whole ctas
#=== cast_settings
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def f(A: T.Buffer((32, 2), "float32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    r = T.alloc_local([2], "float32")
    h = T.alloc_local([2], "float16")
    Tx.copy(r, A[t])
    Tx.cast(h, r, round="rs")
    Tx.cast(h, r, saturate="yes")
    Tx.cast(r, h, fast=True)
    Tx.copy(A[t], r)
#--- expected
cast_settings.py:13:5: error: `round` of `cast` is `"rs"`, expected "rn", "rz", "rm", "rp" or "rna" [BadTileCall]
        Tx.cast(h, r, round="rs")
        ^~~~~~~~~~~~~~~~~~~~~~~~~
cast_settings.py:14:5: error: `saturate` of `cast` is `"yes"`, expected `True` or `False` [BadTileCall]
        Tx.cast(h, r, saturate="yes")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
cast_settings.py:15:5: error: `cast` has no setting `fast` [UnknownName]
        Tx.cast(r, h, fast=True)
        ^~~~~~~~~~~~~~~~~~~~~~~~
  note: its settings: round, saturate
#=== constant_range
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
constant_range.py:15:5: error: `add` with the constant -129, which `uint8` does not hold [BadTileCall]
        Tx.warp.add(R, R, -129)
        ^~~~~~~~~~~~~~~~~~~~~~~
constant_range.py:16:5: error: `add` with the constant 256, which `uint8` does not hold [BadTileCall]
        Tx.warp.add(R, R, 256)
        ^~~~~~~~~~~~~~~~~~~~~~
constant_range.py:19:5: error: `add` with the constant -2147483649, which `uint32` does not hold [BadTileCall]
        Tx.warp.add(Q, Q, -2147483649)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
constant_range.py:20:5: error: `add` with the constant 4294967296, which `uint32` does not hold [BadTileCall]
        Tx.warp.add(Q, Q, 4294967296)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== conversions
@T.prim_func
def f(a: T.handle, i: T.handle):
    A = T.match_buffer(a, (16,), "float32")
    I = T.match_buffer(i, (16,), "int32")
    T.device_entry()
    tx = T.thread_id([32])
    r = T.alloc_local((16,), "float32")
    k = T.alloc_local((16,), "int32")
    b = T.alloc_local((16,), "int8")
    h = T.alloc_local((16,), "float16")
    Tx.fill(k, 0.5)
    Tx.fill(k, A[0])
    Tx.add(k, r, r)
    Tx.add(k, k, 0.5)
    Tx.sqrt(k, k)
    Tx.select(k, r, k, k)
    Tx.fill(b, 300)
    Tx.add(b, b, -129)
    Tx.fill(h, 1e6)
    # good
    Tx.fill(k, 2.0)
    Tx.cast(k, r)
    Tx.add(r, k, r)
    Tx.select(r, k, r, r)
    Tx.fill(h, 0.1)
#--- expected
conversions.py:11:5: error: `fill` with the constant 0.5, which `int32` does not hold [BadTileCall]
        Tx.fill(k, 0.5)
        ^~~~~~~~~~~~~~~
conversions.py:12:5: error: `fill` is given `float32`, and `k` holds `int32` [BadTileCall]
        Tx.fill(k, A[0])
        ^~~~~~~~~~~~~~~~
  note: `cast` alone makes integers of floats: put the result into a tile of floats first
conversions.py:13:5: error: `add` computes in `float32`, and `k` holds `int32` [BadTileCall]
        Tx.add(k, r, r)
        ^~~~~~~~~~~~~~~
  note: `cast` alone makes integers of floats: put the result into a tile of floats first
conversions.py:14:5: error: `add` computes in `float32`, and `k` holds `int32` [BadTileCall]
        Tx.add(k, k, 0.5)
        ^~~~~~~~~~~~~~~~~
  note: `cast` alone makes integers of floats: put the result into a tile of floats first
conversions.py:15:5: error: `sqrt` computes in `float32`, and `k` holds `int32` [BadTileCall]
        Tx.sqrt(k, k)
        ^~~~~~~~~~~~~
  note: `cast` alone makes integers of floats: put the result into a tile of floats first
conversions.py:16:5: error: `select` is given `float32`, and `k` holds `int32` [BadTileCall]
        Tx.select(k, r, k, k)
        ^~~~~~~~~~~~~~~~~~~~~
  note: `cast` alone makes integers of floats: put the result into a tile of floats first
conversions.py:17:5: error: `fill` with the constant 300, which `int8` does not hold [BadTileCall]
        Tx.fill(b, 300)
        ^~~~~~~~~~~~~~~
conversions.py:18:5: error: `add` with the constant -129, which `int8` does not hold [BadTileCall]
        Tx.add(b, b, -129)
        ^~~~~~~~~~~~~~~~~~
conversions.py:19:5: error: `fill` with the constant 1000000, which `float16` does not hold [BadTileCall]
        Tx.fill(h, 1e6)
        ^~~~~~~~~~~~~~~
#=== copy_fill
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (10, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    S0 = T.alloc_shared((16, 16), "float32")
    Tx.cta.copy_async(S0, A[0:16, 0:16])
    Tx.cta.copy_async(S0[0:17, :], A[0:17, :], fill_mode="zero")
    Tx.cta.copy_async(S0[0:17, :], A[0:17, :])
    Tx.cta.copy(S0, A[0:16, 0:16], clip=True)
    Tx.cta.copy(A[0:16, 0:16], S0, fill_value=0)
    Tx.cta.sum(S0[0:16, 0], A[0:16, 0:16], fill_mode="zero")
#--- expected
copy_fill.py:7:27: error: 0:16 in dimension 0 of `A`, which has extent 10 [OutOfBounds]
        Tx.cta.copy_async(S0, A[0:16, 0:16])
                              ^~~~~~~~~~~~~
copy_fill.py:3:9: note: declared here
        A = T.match_buffer(a, (10, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: a copy may read past the end with `fill_value=…`, and leaves it alone with `clip=True`
copy_fill.py:9:23: error: 0:17 in dimension 0 of `S0`, which has extent 16 [OutOfBounds]
        Tx.cta.copy_async(S0[0:17, :], A[0:17, :])
                          ^~~~~~~~~~~
copy_fill.py:6:10: note: declared here
        S0 = T.alloc_shared((16, 16), "float32")
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: a copy may read past the end with `fill_value=…`, and leaves it alone with `clip=True`
copy_fill.py:10:21: error: 0:16 in dimension 0 of `A`, which has extent 10 [OutOfBounds]
        Tx.cta.copy(S0, A[0:16, 0:16], clip=True)
                        ^~~~~~~~~~~~~
copy_fill.py:3:9: note: declared here
        A = T.match_buffer(a, (10, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: a copy may read past the end with `fill_value=…`, and leaves it alone with `clip=True`
copy_fill.py:11:17: error: 0:16 in dimension 0 of `A`, which has extent 10 [OutOfBounds]
        Tx.cta.copy(A[0:16, 0:16], S0, fill_value=0)
                    ^~~~~~~~~~~~~
copy_fill.py:3:9: note: declared here
        A = T.match_buffer(a, (10, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: a copy may read past the end with `fill_value=…`, and leaves it alone with `clip=True`
copy_fill.py:12:29: error: 0:16 in dimension 0 of `A`, which has extent 10 [OutOfBounds]
        Tx.cta.sum(S0[0:16, 0], A[0:16, 0:16], fill_mode="zero")
                                ^~~~~~~~~~~~~
copy_fill.py:3:9: note: declared here
        A = T.match_buffer(a, (10, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: a copy may read past the end with `fill_value=…`, and leaves it alone with `clip=True`
#=== copy_fill_value
@T.prim_func
def f(a: T.handle, n: T.int32):
    A = T.match_buffer(a, (n, 16), "float16")
    T.device_entry()
    tx = T.thread_id([32])
    S0 = T.alloc_shared((16, 16), "float16")
    Tx.cta.copy(S0, A[0:16, 0:16], fill_value="nan")
    Tx.cta.copy(S0, A[0:16, 0:16], fill_value=70000)
    Tx.cta.copy(S0, A[0:16, 0:16], fill_value=n)
    Tx.cta.copy(S0, A[0:16, 0:16], fill_value=T.cast(tx, "float16"))
    Tx.cta.copy(S0, A[0:16, 0:16], fill_mode="zero", fill_value=1)
    Tx.cta.copy(A[0:16, 0:16], S0, clip=1)
#--- expected
copy_fill_value.py:7:5: error: `fill_value` of `copy` is `"nan"`, expected a number [BadTileCall]
        Tx.cta.copy(S0, A[0:16, 0:16], fill_value="nan")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
copy_fill_value.py:8:5: error: `fill_value` of `copy` is `70000`, which `float16` does not hold [BadTileCall]
        Tx.cta.copy(S0, A[0:16, 0:16], fill_value=70000)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
copy_fill_value.py:9:5: error: `fill_value` of `copy` has type `int32`, and the elements are `float16` [BadTileCall]
        Tx.cta.copy(S0, A[0:16, 0:16], fill_value=n)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `T.cast(value, "float16")` makes one of them
copy_fill_value.py:10:5: error: `fill_value` of `copy` is `T.Cast("float16", tx)`, which differs between threads of a cta; `copy` at cta scope needs one value [BadTileCall]
        Tx.cta.copy(S0, A[0:16, 0:16], fill_value=T.cast(tx, "float16"))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
copy_fill_value.py:11:5: error: `copy` with both `fill_mode` and `fill_value`, expected one of the two [BadTileCall]
        Tx.cta.copy(S0, A[0:16, 0:16], fill_mode="zero", fill_value=1)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
copy_fill_value.py:12:5: error: `clip` of `copy` is `1`, expected `True` or `False` [BadTileCall]
        Tx.cta.copy(A[0:16, 0:16], S0, clip=1)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== copy_mask
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(A: T.Buffer((32, 16), "float16"), M: T.Buffer((32, 16), "bool")):
    T.device_entry()
    tx = T.thread_id([32])
    S0 = T.alloc_shared((16, 16), "float16")
    I0 = T.alloc_shared((16, 16), "int8")
    Tx.cta.copy(S0, A[0:16, 0:16], predicate=I0)
    Tx.cta.copy(S0, A[0:16, 0:16], predicate=M[0:16, 0:8])
    Tx.cta.copy(S0, A[0:16, 0:16], M[0:16, 0:16], predicate=tx > 3)
    Tx.cta.copy(S0, A[0:16, 0:16], predicate=M[0:16, tx : tx + 1])
#--- expected
copy_mask.py:10:5: error: `predicate` of `copy` is a tile of `int8`, expected `bool` [BadTileCall]
        Tx.cta.copy(S0, A[0:16, 0:16], predicate=I0)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: comparisons such as `less` and `not_equal` make tiles of `bool`
copy_mask.py:11:5: error: `predicate` of `copy` is (16, 8) of `M`, which does not stretch to (16, 16) of `S0` [BadTileCall]
        Tx.cta.copy(S0, A[0:16, 0:16], predicate=M[0:16, 0:8])
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
copy_mask.py:12:5: error: `predicate` of `copy` is given twice, as a tile and as one condition [BadTileCall]
        Tx.cta.copy(S0, A[0:16, 0:16], M[0:16, 0:16], predicate=tx > 3)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
copy_mask.py:12:5: error: `predicate` of `copy` is `tx > 3`, which differs between threads of a cta; `copy` at cta scope needs one value [BadTileCall]
        Tx.cta.copy(S0, A[0:16, 0:16], M[0:16, 0:16], predicate=tx > 3)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
copy_mask.py:13:46: error: the start of dimension 1 of `M` is `tx`, which differs between threads of a cta; `copy` at cta scope needs one value [BadTileCall]
        Tx.cta.copy(S0, A[0:16, 0:16], predicate=M[0:16, tx : tx + 1])
                                                 ^~~~~~~~~~~~~~~~~~~~
#=== copy_mask_bounds
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(A: T.Buffer((30, 16), "float16"), M: T.Buffer((30, 1), "bool")):
    T.device_entry()
    bx = T.cta_id([2])
    T.thread_id([32])
    S0 = T.alloc_shared((16, 16), "float16")
    y: T.let = bx * 16
    Tx.cta.copy(S0, A[y : y + 16, 0:16], predicate=M[y : y + 16, 0:1], fill_value=0)
#--- expected
copy_mask_bounds.py:11:52: error: a region takes 16 from 16 in dimension 0 of `M`, which has extent 30, where bx = 1 [OutOfBounds]
        Tx.cta.copy(S0, A[y : y + 16, 0:16], predicate=M[y : y + 16, 0:1], fill_value=0)
                                                       ^~~~~~~~~~~~~~~~~~
copy_mask_bounds.py:5:41: note: declared here
    def f(A: T.Buffer((30, 16), "float16"), M: T.Buffer((30, 1), "bool")):
                                            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== copy_settings
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    S0 = T.alloc_shared((16, 16), "float32")
    Tx.cta.copy(S0, A, fill_mode="one")
    Tx.cta.copy(S0, A, fill_mode=0)
    Tx.cta.copy_async(S0, A, predicate="yes")
    Tx.cta.copy_async(S0, A, predicate=T.float32(1))
    Tx.cta.copy_async(S0, A, direct=1)
#--- expected
copy_settings.py:7:5: error: `fill_mode` of `copy` is `"one"`, expected "zero" [BadTileCall]
        Tx.cta.copy(S0, A, fill_mode="one")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
copy_settings.py:8:5: error: `fill_mode` of `copy` is `0`, expected "zero" [BadTileCall]
        Tx.cta.copy(S0, A, fill_mode=0)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
copy_settings.py:9:5: error: `predicate` of `copy_async` is `"yes"`, expected a condition [BadTileCall]
        Tx.cta.copy_async(S0, A, predicate="yes")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
copy_settings.py:10:5: error: `predicate` of `copy_async` is `T.float32(1.0)`, expected a condition [BadTileCall]
        Tx.cta.copy_async(S0, A, predicate=T.float32(1))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
copy_settings.py:11:5: error: `direct` of `copy_async` is `1`, expected `True` or `False` [BadTileCall]
        Tx.cta.copy_async(S0, A, direct=1)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== divergent
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([128])
    s0 = T.alloc_shared((16, 16), "float32")
    if tx < 16:
        Tx.warp.copy(s0, A)
    if tx < 32:
        Tx.wg.zero(s0)
        Tx.warp.copy(s0, A)
    if A[0, tx % 16] > 0.0:
        Tx.cta.copy(s0, A)
#--- expected
divergent.py:8:9: error: `copy` at warp scope is reached by threads 0-15 of 128, expected whole warps [Divergent]
            Tx.warp.copy(s0, A)
            ^~~~~~~~~~~~~~~~~~~
divergent.py:7:8: note: `tx < 16` leaves out the others
        if tx < 16:
           ^~~~~~~
  note: put it outside the `if`, or let the condition hold for whole warps
divergent.py:10:9: error: `zero` at warpgroup scope is reached by warp 0 of 4, expected whole warpgroups [Divergent]
            Tx.wg.zero(s0)
            ^~~~~~~~~~~~~~
divergent.py:9:8: note: `tx < 32` leaves out the others
        if tx < 32:
           ^~~~~~~
  note: put it outside the `if`, or let the condition hold for whole warpgroups
divergent.py:13:9: error: `copy` at cta scope is reached by some threads of all 128 threads, expected whole ctas [Divergent]
            Tx.cta.copy(s0, A)
            ^~~~~~~~~~~~~~~~~~
divergent.py:12:8: note: `A[0, tx % 16] > T.float32(0.0)` may differ between threads of a cta
        if A[0, tx % 16] > 0.0:
           ^~~~~~~~~~~~~~~~~~~
divergent.py:5:10: note: `tx` numbers threads
        tx = T.thread_id([128])
             ^~~~~~~~~~~~~~~~~~
  note: put it outside the `if`, or let the condition hold for whole ctas
#=== dtypes
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([128])
    s0 = T.alloc_shared((16, 16), "float16")
    Tx.cta.copy(s0, A)
    Tx.cta.add(s0, A, A)
#--- expected
dtypes.py:7:5: error: `copy` with `float16` of `s0` and `float32` of `A`, expected one element type [BadTileCall]
        Tx.cta.copy(s0, A)
        ^~~~~~~~~~~~~~~~~~
  note: `cast` changes the element type, in registers
#=== fast
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def f(A: T.Buffer((32, 2), "float32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    r = T.alloc_local([2], "float32")
    Tx.copy(r, A[t])
    Tx.exp(r, fast="yes")
    Tx.log1p(r, fast=True)
    Tx.copy(A[t], r)
#--- expected
fast.py:12:5: error: `fast` of `exp` is `"yes"`, expected `True` or `False` [BadTileCall]
        Tx.exp(r, fast="yes")
        ^~~~~~~~~~~~~~~~~~~~~
fast.py:13:5: error: `log1p` has no setting `fast` [UnknownName]
        Tx.log1p(r, fast=True)
        ^~~~~~~~~~~~~~~~~~~~~~
  note: `log1p` has no settings
#=== fill_value
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    Tx.fill(A, A[0:4, 0:4])
    Tx.fill(A, "x")
    Tx.fill(A, A.data)
#--- expected
fill_value.py:6:16: error: region as a value of the kernel, expected a number or an expression [BadType]
        Tx.fill(A, A[0:4, 0:4])
                   ^~~~~~~~~~~
#=== function_argument
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    r = T.alloc_local((4, 8), "float32")
    s = T.alloc_local((4, 8), "float32")
    Tx.select(r, r, s, lambda i, j: i < j)
    Tx.fill(r, lambda: 1.0)
#--- expected
function_argument.py:8:24: error: `pred` is a function, expected a tile or a value for all elements [BadTileCall]
        Tx.select(r, r, s, lambda i, j: i < j)
                           ^~~~~~~~~~~~~~~~~~
  note: store what the function gives for each element into a tile, and pass this
function_argument.py:9:16: error: `value` is a function, expected a tile or a value for all elements [BadTileCall]
        Tx.fill(r, lambda: 1.0)
                   ^~~~~~~~~~~
  note: store what the function gives for each element into a tile, and pass this
#=== gemm
from tvm.tirx.layout import S, TileLayout, laneid

FRAG = TileLayout(S[(2, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)])

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    T.warp_id([1])
    T.lane_id([32])
    D = T.alloc_local((16, 8), "float32", layout=FRAG)
    X = T.alloc_local((16, 8), "float16", layout=FRAG)
    Tx.warp.gemm(D, X, X, D)
    Tx.warp.gemm(D, X, D, D, transpose_B=True)
    Tx.warp.gemm(D, X, X[0:4, :], D, transpose_A=True)
    Tx.warp.gemm(D, X[0], X, D)
#--- expected
gemm.py:13:5: error: `gemm` of A (16, 8) of `X`, B (16, 8) of `X`, C (16, 8) of `D` into D (16, 8) of `D`, expected A (M, K), B (K, N), C and D (M, N) [BadTileCall]
        Tx.warp.gemm(D, X, X, D)
        ^~~~~~~~~~~~~~~~~~~~~~~~
gemm.py:14:5: error: `gemm` with `float16` of `X` and `float32` of `D`, expected one element type [BadTileCall]
        Tx.warp.gemm(D, X, D, D, transpose_B=True)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
gemm.py:14:5: error: `gemm` of A (16, 8) of `X`, B (16, 8) of `D`, C (16, 8) of `D` into D (16, 8) of `D`, expected A (M, K), B (K, N), C and D (M, N) after transposing [BadTileCall]
        Tx.warp.gemm(D, X, D, D, transpose_B=True)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
gemm.py:15:5: error: `gemm` of A (16, 8) of `X`, B (4, 8) of `X`, C (16, 8) of `D` into D (16, 8) of `D`, expected A (M, K), B (K, N), C and D (M, N) after transposing [BadTileCall]
        Tx.warp.gemm(D, X, X[0:4, :], D, transpose_A=True)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
gemm.py:16:5: error: `gemm` of (1, 8) of `X`, expected two extents other than 1 [BadTileCall]
        Tx.warp.gemm(D, X[0], X, D)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== gemm_async
# Asynchronous products: shapes, types, and operands that are touched while a product is under way.
from tvm.tirx.layout import mma_shared_layout, wgmma_tile_layout

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (64, 64), "float16")
    T.device_entry()
    T.thread_id([128])
    X = T.alloc_buffer((64, 64), "float16", scope="shared", layout=mma_shared_layout("float16", "128B", (64, 64)))
    Y = T.alloc_buffer((32, 64), "float16", scope="shared", layout=mma_shared_layout("float16", "128B", (32, 64)))
    Z = T.alloc_buffer((32, 64), "int8", scope="shared")
    C = T.alloc_buffer((64, 32), "float32", scope="local", layout=wgmma_tile_layout("D", (64, 32), "float32"))
    E = T.alloc_buffer((64, 32), "float32", scope="local", layout=wgmma_tile_layout("D", (64, 32), "float32"))
    Tx.wg.gemm_async(C, X, Y, transB=True)
    Tx.wg.gemm_async(C, X, Z)
    Tx.wg.gemm_async(C, X[0], Y)
    Tx.wg.gemm_async(C, X, Y)
    T.ptx.wgmma.commit_group()
    Tx.wg.gemm_async(E, X, Y)
    T.ptx.wgmma.commit_group()
    T.ptx.wgmma.wait_group(1)
    Tx.wg.fill(C, 0.0)
    Tx.wg.fill(E, 0.0)
    Tx.cta.copy(X, A)
    T.ptx.wgmma.wait_group(0)
    Tx.wg.fill(E, 0.0)
    for i in range(2):
        C.local(16)[i] = T.float32(1)
        Tx.wg.gemm_async(C, X, Y)
#--- expected
gemm_async.py:14:5: error: `gemm_async` of A (64, 64) of `X`, B (32, 64) of `Y` into C (64, 32) of `C`, expected A (M, K), B (K, N) and C (M, N) [BadTileCall]
        Tx.wg.gemm_async(C, X, Y, transB=True)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
gemm_async.py:15:5: error: `gemm_async` with `float16` of `X` and `int8` of `Z`, expected one element type [BadTileCall]
        Tx.wg.gemm_async(C, X, Z)
        ^~~~~~~~~~~~~~~~~~~~~~~~~
gemm_async.py:16:5: error: `gemm_async` of (1, 64) of `X`, expected two extents other than 1 [BadTileCall]
        Tx.wg.gemm_async(C, X[0], Y)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
gemm_async.py:23:5: error: `E` is written while the product into `E` is under way: `T.ptx.wgmma.wait_group(0)` comes first [BadTileCall]
        Tx.wg.fill(E, 0.0)
        ^~~~~~~~~~~~~~~~~~
gemm_async.py:19:5: note: the product starts here
        Tx.wg.gemm_async(E, X, Y)
        ^~~~~~~~~~~~~~~~~~~~~~~~~
gemm_async.py:24:5: error: `X` is written while the product of `X` is under way: `T.ptx.wgmma.wait_group(0)` comes first [BadTileCall]
        Tx.cta.copy(X, A)
        ^~~~~~~~~~~~~~~~~
gemm_async.py:19:5: note: the product starts here
        Tx.wg.gemm_async(E, X, Y)
        ^~~~~~~~~~~~~~~~~~~~~~~~~
gemm_async.py:28:9: error: `C` is written while the product into `C` is under way: no `T.ptx.wgmma.commit_group()` has closed its group [BadTileCall]
            C.local(16)[i] = T.float32(1)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
gemm_async.py:29:9: note: the product starts here
            Tx.wg.gemm_async(C, X, Y)
            ^~~~~~~~~~~~~~~~~~~~~~~~~
#=== gemm_async_accum
# `accum` is a bool, or an expression that is one.
from tvm.tirx.layout import mma_shared_layout, wgmma_tile_layout

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (64, 64), "float16")
    T.device_entry()
    T.thread_id([128])
    X = T.alloc_buffer((64, 64), "float16", scope="shared", layout=mma_shared_layout("float16", "128B", (64, 64)))
    C = T.alloc_buffer((64, 64), "float32", scope="local", layout=wgmma_tile_layout("D", (64, 64), "float32"))
    Tx.wg.gemm_async(C, X, X, accum=2.5)
    Tx.wg.gemm_async(C, X, X, accum=C)
    Tx.wg.gemm_async(C, X, X, accum=A[0, 0] > T.float16(0))
    for i in range(2):
        Tx.wg.gemm_async(C, X, X, accum=i)
#--- expected
gemm_async_accum.py:11:37: error: `accum` is float, expected True or False [BadType]
        Tx.wg.gemm_async(C, X, X, accum=2.5)
                                        ^~~
gemm_async_accum.py:12:37: error: `accum` is buffer, expected True or False [BadType]
        Tx.wg.gemm_async(C, X, X, accum=C)
                                        ^
#=== indexed
# Shapes and types that do not go together; more indices than places.
@T.prim_func
def f(a: T.handle, b: T.handle):
    A = T.match_buffer(a, (100, 16), "float32")
    ids = T.match_buffer(b, (32,), "int32")
    T.device_entry()
    tx = T.thread_id([32])
    s = T.alloc_shared((32, 16), "float32")
    h = T.alloc_shared((32, 16), "float16")
    few = T.alloc_shared((8, 16), "float32")
    bytes = T.alloc_shared((8, 16), "uint8")
    Tx.cta.gather(s, A, s[:, 0])
    Tx.cta.gather(h, A, ids)
    Tx.cta.gather(s, A, ids, axis=2)
    Tx.cta.gather(s, A, ids, axis=(0, 1))
    Tx.cta.gather(s, A[:, 0:8], ids)
    Tx.cta.gather(s, A, ids[0:16])
    Tx.cta.gather(s, A, ids, clip=True)
    Tx.cta.gather(s, A, ids, fill_value="none")
    Tx.cta.scatter(few, s, ids)
    Tx.cta.scatter_add(bytes, bytes, ids[0:8])
#--- expected
indexed.py:12:5: error: `gather` by `s`, which holds `float32`, expected `int32` or `int64` [BadTileCall]
        Tx.cta.gather(s, A, s[:, 0])
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
indexed.py:13:5: error: `gather` with `float16` of `h` and `float32` of `A`, expected one element type [BadTileCall]
        Tx.cta.gather(h, A, ids)
        ^~~~~~~~~~~~~~~~~~~~~~~~
indexed.py:14:5: error: `gather` over axis 2 of (100, 16) of `A`, which has 2 axes [BadTileCall]
        Tx.cta.gather(s, A, ids, axis=2)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
indexed.py:15:5: error: `axis` of `gather` is not one number [BadTileCall]
        Tx.cta.gather(s, A, ids, axis=(0, 1))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
indexed.py:16:5: error: `gather` along axis 0 of (100, 8) of `A` with a tile (32, 16) of `s`; the other extents differ [BadTileCall]
        Tx.cta.gather(s, A[:, 0:8], ids)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
indexed.py:17:5: error: `gather` along axis 0 with a tile (32, 16) of `s` by (16) of `ids`, expected an index for each row, or for each element of it [BadTileCall]
        Tx.cta.gather(s, A, ids[0:16])
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
indexed.py:18:5: error: `gather` has no setting `clip` [UnknownName]
        Tx.cta.gather(s, A, ids, clip=True)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: its settings: fill_value
indexed.py:19:5: error: `fill_value` of `gather` is `"none"`, expected a number [BadTileCall]
        Tx.cta.gather(s, A, ids, fill_value="none")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
indexed.py:20:5: error: `scatter` by 32 indices along axis 0 of (8, 16) of `few`: two of them are the same, which is a race [BadTileCall]
        Tx.cta.scatter(few, s, ids)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `scatter_add` adds them; `clip=True` leaves out those out of range
indexed.py:21:5: error: `scatter_add` of `uint8`, which no instruction adds atomically; expected integers of 32 or 64 bits, `float16`, `bfloat16`, `float32` or `float64` [BadTileCall]
        Tx.cta.scatter_add(bytes, bytes, ids[0:8])
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== instructions
# SPDX-License-Identifier: Apache-2.0
from tvm.script import tirx as T


@T.function
def kernel(A: T.Tensor((64,), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=2, block=32))
    v = T.alloc_local((4,), "float32")
    T.cuda.tile.ld(v, A[0:4], scope="wg")
    T.cuda.tile.ld(v, A[0:4], vec_bits=100)
    T.cuda.tile.ld(v, A[0:4], dispatch="reg")
    T.cuda.tile.add(v, v, v, rounding_mode="rz")
    T.cuda.tile.cp_async_bulk_tensor_load(v, A, A.data)
    T.cuda.tile.copy(v, A)
    T.trn.tile.load(v, A)
#--- expected
instructions.py:9:37: error: scope "wg", expected "thread", "warp", "warpgroup", "cta" or "cluster" [BadArgument]
        T.cuda.tile.ld(v, A[0:4], scope="wg")
                                        ^~~~
instructions.py:10:40: error: `vec_bits` is 100, expected 8, 16, 32, 64, 128 or 256 [BadArgument]
        T.cuda.tile.ld(v, A[0:4], vec_bits=100)
                                           ^~~
instructions.py:11:31: error: `T.cuda.tile.ld` has no parameter `dispatch` [BadArgument]
        T.cuda.tile.ld(v, A[0:4], dispatch="reg")
                                  ^~~~~~~~
  note: it takes (dst, src, scope?, vec_bits?, cache?, l1_evict?, l2_evict?, prefetch_size?)
instructions.py:13:17: error: `T.cuda.tile.cp_async_bulk_tensor_load` is not taken: `Tx.copy_async` with `mbar=` or `dispatch="tma"` makes map and instruction; by hand: the opcode, with a map of `T.tensor_map` [UnknownName]
        T.cuda.tile.cp_async_bulk_tensor_load(v, A, A.data)
                    ^~~~~~~~~~~~~~~~~~~~~~~~~
instructions.py:14:17: error: `T.cuda.tile` has no `copy` [UnknownName]
        T.cuda.tile.copy(v, A)
                    ^~~~
instructions.py:15:7: error: `T.trn` is not taken: another machine: only CUDA is a target [UnknownName]
        T.trn.tile.load(v, A)
          ^~~
#=== mbarrier
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (64, 128), "float16")
    T.device_entry()
    tx = T.thread_id([32])
    tile = T.alloc_shared((32, 64), "float16", align=1024)
    if tx == 0:
        Tx.copy_async(tile[0:32, 0:64], A[0:32, 0:64], mbar=5)
        Tx.copy_async(tile[0:32, 0:64], A[0:32, 0:64], mbar="full")
#--- expected
mbarrier.py:8:9: error: `mbar` of `copy_async` is `5`, expected the address of an mbarrier [BadTileCall]
            Tx.copy_async(tile[0:32, 0:64], A[0:32, 0:64], mbar=5)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
mbarrier.py:9:9: error: `mbar` of `copy_async` is `"full"`, expected the address of an mbarrier [BadTileCall]
            Tx.copy_async(tile[0:32, 0:64], A[0:32, 0:64], mbar="full")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== names
# Names that other languages have.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    S0 = T.alloc_shared((16, 16), "float32")
    Tx.cta.load(S0, A)
    Tx.block.copy(S0, A)
    T.cuda.syncthreads()
    A[0:4, 0:4] = S0[0:4, 0:4]
#--- expected
names.py:8:12: error: `Tx.cta` has no `load`; did you mean `copy`? [UnknownName]
        Tx.cta.load(S0, A)
               ^~~~
names.py:9:8: error: `Tx` has no `block`; did you mean `cta`? [UnknownName]
        Tx.block.copy(S0, A)
           ^~~~~
names.py:10:12: error: `T.cuda` has no `syncthreads`; did you mean `cta_sync`? [UnknownName]
        T.cuda.syncthreads()
               ^~~~~~~~~~~
names.py:11:19: error: a region is assigned to `A`, expected a number or an expression [BadType]
        A[0:4, 0:4] = S0[0:4, 0:4]
                      ^~~~~~~~~~~~
  note: `Tx.copy(dst, src)` copies regions, by a thread; `Tx.warp.copy`, `Tx.wg.copy`, `Tx.cta.copy` by more
#=== operands
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, laneid, tx

@T.prim_func
def f(a: T.handle, n: T.int32):
    A = T.match_buffer(a, (128, 128), "float32")
    T.device_entry()
    t = T.thread_id([128])
    s = T.alloc_shared((16,), "float32")
    r = T.alloc_buffer((128,), "float32", scope="local", layout=TileLayout(S[128 : 1 @ tx]))
    own = T.alloc_shared((4, 16), "float32")
    # one region for the unit
    Tx.cta.copy(s[:], A[t // 32, 0:16])
    Tx.warp.copy(s[:], A[t // 32, 0:16])
    row = t // 32
    row += 1
    Tx.cta.copy(s[:], A[row - 1, 0:16])
    # one shape
    part = T.decl_buffer((t + 1, 16), "float32", data=A.data)
    Tx.cta.copy(s[:], part[0, :], fill_value=0)
    # one condition
    Tx.cta.copy(s[:], A[0, 0:16], predicate=t < 64)
    Tx.cta.copy(s[:], A[0, 0:16], predicate=A[0, t] > 0.0)
    Tx.cta.copy(s[:], A[0, 0:16], predicate=A[0, 0] > 0.0)
    # one value for memory, each thread's own in registers
    Tx.cta.fill(s, T.cast(t, "float32"))
    Tx.cta.fill(r, T.cast(t, "float32"))
    # the same in step: a stage, a sum of the CTA
    stage = 0
    for k in range(n):
        Tx.cta.copy(own[stage, :], A[k, 0:16])
        stage = (stage + 1) % 4
    Tx.cta.fill(s, T.cuda.cta_sum(T.float32(1), 4, s.ptr_to([0])))
    Tx.warp.fill(s, T.cuda.warp_reduce(T.float32(1)))
    Tx.cta.fill(s, T.cuda.warp_reduce(T.float32(1)))
#--- expected
operands.py:13:23: error: the start of dimension 0 of `A` is `t // 32`, which differs between threads of a cta; `copy` at cta scope needs one value [BadTileCall]
        Tx.cta.copy(s[:], A[t // 32, 0:16])
                          ^~~~~~~~~~~~~~~~
operands.py:17:23: error: the start of dimension 0 of `A` is `row - 1`, which differs between threads of a cta; `copy` at cta scope needs one value [BadTileCall]
        Tx.cta.copy(s[:], A[row - 1, 0:16])
                          ^~~~~~~~~~~~~~~~
operands.py:20:23: error: dimension 0 of `part` is `t + 1`, which differs between threads of a cta; `copy` at cta scope needs one value [BadTileCall]
        Tx.cta.copy(s[:], part[0, :], fill_value=0)
                          ^~~~~~~~~~
operands.py:22:5: error: `predicate` of `copy` is `t < 64`, which differs between threads of a cta; `copy` at cta scope needs one value [BadTileCall]
        Tx.cta.copy(s[:], A[0, 0:16], predicate=t < 64)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
operands.py:23:5: error: `predicate` of `copy` is `A[0, t] > T.float32(0.0)`, which differs between threads of a cta; `copy` at cta scope needs one value [BadTileCall]
        Tx.cta.copy(s[:], A[0, 0:16], predicate=A[0, t] > 0.0)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
operands.py:26:5: error: `value` of `fill` is `T.Cast("float32", t)`, which differs between threads of a cta; `fill` at cta scope needs one value [BadTileCall]
        Tx.cta.fill(s, T.cast(t, "float32"))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
operands.py:35:5: error: `value` of `fill` is `T.cuda.warp_reduce(T.float32(1.0), "sum", 32)`, which differs between threads of a cta; `fill` at cta scope needs one value [BadTileCall]
        Tx.cta.fill(s, T.cuda.warp_reduce(T.float32(1)))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== read_only
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    Tx.copy(3, A)
    Tx.fill(tx, 1.0)
#--- expected
read_only.py:6:13: error: `dst` is int, expected a buffer or a region of one [BadTileCall]
        Tx.copy(3, A)
                ^
read_only.py:7:13: error: `dst` is expression, expected a buffer or a region of one [BadTileCall]
        Tx.fill(tx, 1.0)
                ^~
#=== reduce
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    r = T.alloc_local((4, 8), "float32")
    m = T.alloc_local((4,), "float32")
    Tx.sum(m, r, axes=0)
    Tx.sum(m, r, axes=2)
    Tx.max(r, r)
#--- expected
reduce.py:8:5: error: `sum` over axis 0 of (4, 8) of `r` into (4) of `m`; the other extents differ [BadTileCall]
        Tx.sum(m, r, axes=0)
        ^~~~~~~~~~~~~~~~~~~~
reduce.py:9:5: error: `sum` over axis 2 of (4, 8) of `r`, which has 2 axes [BadTileCall]
        Tx.sum(m, r, axes=2)
        ^~~~~~~~~~~~~~~~~~~~
reduce.py:10:5: error: `max` over axis -1 of (4, 8) of `r` into (4, 8) of `r`; the other extents differ [BadTileCall]
        Tx.max(r, r)
        ^~~~~~~~~~~~
#=== reduce_axes
# Axes that are not there, or twice; types that do not fit.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def f(A: T.Buffer((32,), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    lane = T.lane_id([32])
    a = T.alloc_buffer((8, 4, 6), "float32", scope="shared")
    b = T.alloc_buffer((8,), "float32", scope="shared")
    Tx.warp.sum(b, a, axes=(1, 2))
    Tx.warp.sum(b, a, axes=(1, 3))
    Tx.warp.sum(b, a, axes=(1, -2))
    Tx.warp.sum(b, a, axes=(0, 1))
    Tx.warp.argmax(b, a, axes=(1, 2))
    Tx.warp.any(b, a, axes=(1, 2))
#--- expected
reduce_axes.py:15:5: error: `sum` over axis 3 of (8, 4, 6) of `a`, which has 3 axes [BadTileCall]
        Tx.warp.sum(b, a, axes=(1, 3))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
reduce_axes.py:16:5: error: `sum` over axis -2 of (8, 4, 6) of `a` twice [BadTileCall]
        Tx.warp.sum(b, a, axes=(1, -2))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
reduce_axes.py:17:5: error: `sum` over axes 0, 1 of (8, 4, 6) of `a` into (8) of `b`; the other extents differ [BadTileCall]
        Tx.warp.sum(b, a, axes=(0, 1))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
reduce_axes.py:18:5: error: `argmax` into `b`, which holds `float32`, expected `int32` or `int64` [BadTileCall]
        Tx.warp.argmax(b, a, axes=(1, 2))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
reduce_axes.py:19:5: error: `any` of `a`, which holds `float32`, expected `bool` [BadTileCall]
        Tx.warp.any(b, a, axes=(1, 2))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `not_equal` with 0 makes conditions of numbers
#=== reduce_no_axes
# No axes at all.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def f(A: T.Buffer((32,), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    lane = T.lane_id([32])
    a = T.alloc_buffer((8, 4, 6), "float32", scope="shared")
    Tx.warp.sum(a, a, axes=())
#--- expected
reduce_no_axes.py:13:28: error: `axes` has no numbers, expected one or more [BadTileCall]
        Tx.warp.sum(a, a, axes=())
                               ^~
#=== region_ids
@T.prim_func
def f(a: T.handle, n: T.int32):
    A = T.match_buffer(a, (100,), "float32")
    T.device_entry()
    bx, by = T.cta_id([3, 5])
    warp = T.warp_id([4])
    T.lane_id([32])
    s = T.alloc_shared((32,), "float32")
    # before the start, in one CTA
    first: T.let = by * 16 - 1
    Tx.cta.copy(s[:], A[first : first + 32])
    # past the end, in the last warp
    Tx.warp.copy(s[:], A[warp * 32 : warp * 32 + 32])
    Tx.warp.copy(A[warp * 32 : warp * 32 + 32], s[:])
    # in a round of a loop
    for k in range(4):
        Tx.cta.copy(s[:], A[k * 32 : k * 32 + 32])
    Tx.cta.fill(A[bx * 50 : bx * 50 + 10], 0.0)
    # guarded, or known at run time only
    if by > 0:
        Tx.cta.copy(s[:], A[first : first + 32])
    Tx.cta.copy(s[:], A[first : first + 32], predicate=by > 0)
    Tx.cta.copy(s[:], A[first : first + 32], fill_mode="zero")
    Tx.cta.copy(s[:], A[by * n - 1 : by * n + 31])
    if n > 3:
        Tx.cta.copy(s[:], A[first : first + 32])
    for k in range(4):
        if k == 3:
            break
        Tx.cta.copy(s[:], A[k * 32 : k * 32 + 32])
#--- expected
region_ids.py:11:23: error: a region takes 32 from -1 in dimension 0 of `A`, which has extent 100, where by = 0 [OutOfBounds]
        Tx.cta.copy(s[:], A[first : first + 32])
                          ^~~~~~~~~~~~~~~~~~~~~
region_ids.py:3:9: note: declared here
        A = T.match_buffer(a, (100,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: with `fill_value=0` zeros arrive for what lies outside the source
region_ids.py:13:24: error: a region takes 32 from 96 in dimension 0 of `A`, which has extent 100, where warp = 3 [OutOfBounds]
        Tx.warp.copy(s[:], A[warp * 32 : warp * 32 + 32])
                           ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
region_ids.py:3:9: note: declared here
        A = T.match_buffer(a, (100,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: with `fill_value=0` zeros arrive for what lies outside the source
region_ids.py:14:18: error: a region takes 32 from 96 in dimension 0 of `A`, which has extent 100, where warp = 3 [OutOfBounds]
        Tx.warp.copy(A[warp * 32 : warp * 32 + 32], s[:])
                     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
region_ids.py:3:9: note: declared here
        A = T.match_buffer(a, (100,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: with `clip=True` a copy writes nothing outside its destination
region_ids.py:17:27: error: a region takes 32 from 96 in dimension 0 of `A`, which has extent 100, where k = 3 [OutOfBounds]
            Tx.cta.copy(s[:], A[k * 32 : k * 32 + 32])
                              ^~~~~~~~~~~~~~~~~~~~~~~
region_ids.py:3:9: note: declared here
        A = T.match_buffer(a, (100,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: with `fill_value=0` zeros arrive for what lies outside the source
region_ids.py:18:17: error: a region takes 10 from 100 in dimension 0 of `A`, which has extent 100, where bx = 2 [OutOfBounds]
        Tx.cta.fill(A[bx * 50 : bx * 50 + 10], 0.0)
                    ^~~~~~~~~~~~~~~~~~~~~~~~~
region_ids.py:3:9: note: declared here
        A = T.match_buffer(a, (100,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== region_of_region
@T.prim_func
def f(A: T.Buffer((128,), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([128])
    Tx.cta.fill(A[32:96][4:12], T.float32(0))
#--- expected
region_of_region.py:6:17: error: a region takes no index [BadType]
        Tx.cta.fill(A[32:96][4:12], T.float32(0))
                    ^~~~~~~~~~~~~~
  note: one index says which part of the buffer: `A[36:44]` for `A[32:96][4:12]`
#=== rounding
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def f(A: T.Buffer((32, 2), "float32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    r = T.alloc_local([2], "float32")
    Tx.copy(r, A[t])
    Tx.add(r, r, T.float32(1), rounding_mode="rm")
    Tx.maximum(r, r, r, rounding_mode="rn")
    Tx.copy(A[t], r)
#--- expected
rounding.py:12:5: error: `rounding_mode` of `add` is `"rm"`, expected "rn" [BadTileCall]
        Tx.add(r, r, T.float32(1), rounding_mode="rm")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
rounding.py:13:5: error: `maximum` has no setting `rounding_mode` [UnknownName]
        Tx.maximum(r, r, r, rounding_mode="rn")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `maximum` has no settings
#=== scan
# Axes that are not there, or several; types and shapes that do not fit.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def f(A: T.Buffer((32,), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    lane = T.lane_id([32])
    a = T.alloc_buffer((8, 4), "float32", scope="shared")
    b = T.alloc_buffer((8, 4), "float16", scope="shared")
    c = T.alloc_buffer((8, 4), "bool", scope="shared")
    d = T.alloc_buffer((8,), "float32", scope="shared")
    Tx.warp.cumsum(a, a, axis=2)
    Tx.warp.cumsum(a, a, axis=(0, 1))
    Tx.warp.cumsum(b, a)
    Tx.warp.cummax(c, c)
    Tx.warp.cumsum(d, a)
#--- expected
scan.py:16:5: error: `cumsum` over axis 2 of (8, 4) of `a`, which has 2 axes [BadTileCall]
        Tx.warp.cumsum(a, a, axis=2)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
scan.py:17:5: error: `cumsum` along axes 0, 1, expected one [BadTileCall]
        Tx.warp.cumsum(a, a, axis=(0, 1))
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
scan.py:18:5: error: `cumsum` with `float16` of `b` and `float32` of `a`, expected one element type [BadTileCall]
        Tx.warp.cumsum(b, a)
        ^~~~~~~~~~~~~~~~~~~~
scan.py:19:5: error: `cummax` of `c`, which holds `bool`, expected numbers [BadTileCall]
        Tx.warp.cummax(c, c)
        ^~~~~~~~~~~~~~~~~~~~
  note: `cast` makes 0 and 1 of conditions
scan.py:20:5: error: `cumsum` of (8, 4) of `a` into (8) of `d`; the extents other than 1 differ [BadTileCall]
        Tx.warp.cumsum(d, a)
        ^~~~~~~~~~~~~~~~~~~~
#=== scope
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    Tx.wrap.copy(A, A)
    Tx.warp.warp.copy(A, A)
    Tx.nothing(A)
    Tx.warp(A, A)
#--- expected
scope.py:6:8: error: `Tx` has no `wrap` [UnknownName]
        Tx.wrap.copy(A, A)
           ^~~~
  note: its primitives: copy, copy_async, gemm, gemm_async, fill, zero, memset, cast, permute_layout, gather, scatter, scatter_add, sqrt, exp, exp2, log2, reciprocal, silu, log, log1p, expm1, rsqrt, sin, cos, tanh, sigmoid, erf, gelu, gelu_tanh, abs, neg, relu, floor, ceil, round, add, sub, mul, fdiv, maximum, minimum, fma, select, pow, clamp, where, equal, not_equal, less, less_equal, greater, greater_equal, logical_and, logical_or, logical_xor, logical_not, bitwise_and, bitwise_or, bitwise_xor, left_shift, right_shift, bitwise_not, sum, prod, max, min, any, all, argmax, argmin, cumsum, cumprod, cummax, cummin
scope.py:7:13: error: `Tx.warp` has no `warp` [UnknownName]
        Tx.warp.warp.copy(A, A)
                ^~~~
  note: its primitives: copy, copy_async, gemm, gemm_async, fill, zero, memset, cast, permute_layout, gather, scatter, scatter_add, sqrt, exp, exp2, log2, reciprocal, silu, log, log1p, expm1, rsqrt, sin, cos, tanh, sigmoid, erf, gelu, gelu_tanh, abs, neg, relu, floor, ceil, round, add, sub, mul, fdiv, maximum, minimum, fma, select, pow, clamp, where, equal, not_equal, less, less_equal, greater, greater_equal, logical_and, logical_or, logical_xor, logical_not, bitwise_and, bitwise_or, bitwise_xor, left_shift, right_shift, bitwise_not, sum, prod, max, min, any, all, argmax, argmin, cumsum, cumprod, cummax, cummin
scope.py:8:8: error: `Tx` has no `nothing` [UnknownName]
        Tx.nothing(A)
           ^~~~~~~
  note: its primitives: copy, copy_async, gemm, gemm_async, fill, zero, memset, cast, permute_layout, gather, scatter, scatter_add, sqrt, exp, exp2, log2, reciprocal, silu, log, log1p, expm1, rsqrt, sin, cos, tanh, sigmoid, erf, gelu, gelu_tanh, abs, neg, relu, floor, ceil, round, add, sub, mul, fdiv, maximum, minimum, fma, select, pow, clamp, where, equal, not_equal, less, less_equal, greater, greater_equal, logical_and, logical_or, logical_xor, logical_not, bitwise_and, bitwise_or, bitwise_xor, left_shift, right_shift, bitwise_not, sum, prod, max, min, any, all, argmax, argmin, cumsum, cumprod, cummax, cummin
scope.py:9:8: error: `Tx.warp` cannot be called [BadType]
        Tx.warp(A, A)
           ^~~~
#=== setting_memories
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (64,), "float32")
    T.device_entry()
    t = T.thread_id([32])
    s = T.alloc_shared((64,), "float32")
    Tx.cta.copy(A[:], s[:], prefetch_size=128)
    Tx.cta.copy_async(s[:], A[:], multicast="warpx4")
    Tx.cta.copy_async(s[:], A[:], prefetch_size=128)
#--- expected
setting_memories.py:9:5: error: `prefetch_size` of `copy` is for global to local or global to shared memory, this is shared to global [BadTileCall]
        Tx.cta.copy(A[:], s[:], prefetch_size=128)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
setting_memories.py:10:5: error: `multicast` of `copy_async` is for shared to tmem memory, this is global to shared [BadTileCall]
        Tx.cta.copy_async(s[:], A[:], multicast="warpx4")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== setting_values
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    S0 = T.alloc_shared((16, 16), "float32")
    Tx.cta.copy(S0, A, prefetch_size=96)
    Tx.cta.copy(S0, A, prefetch_size="128")
    Tx.cta.copy(S0, A, prefetch_size=-1)
    Tx.cta.copy(S0, A, cache="ca")
    Tx.cta.copy(S0, A, l1_evict="soon")
    Tx.cta.copy_async(S0, A, shape="64x256b")
    Tx.cta.copy_async(S0, A, cta_group=3)
    Tx.cta.copy_async(S0, A, cta_group=tx)
    Tx.cta.gemm(A, A, A, A, stage=1)
    Tx.cta.gemm(A, A, A, A, allow_tf32="yes")
#--- expected
setting_values.py:7:5: error: `prefetch_size` of `copy` is `96`, expected 64, 128 or 256 [BadTileCall]
        Tx.cta.copy(S0, A, prefetch_size=96)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
setting_values.py:10:5: error: `cache` of `copy` is `"ca"`, expected "nc" [BadTileCall]
        Tx.cta.copy(S0, A, cache="ca")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
setting_values.py:11:5: error: `l1_evict` of `copy` is `"soon"`, expected "evict_normal", "evict_unchanged", "evict_first", "evict_last" or "no_allocate" [BadTileCall]
        Tx.cta.copy(S0, A, l1_evict="soon")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
setting_values.py:12:5: error: `shape` of `copy_async` is `"64x256b"`, expected "128x256b", "128x128b", "64x128b", "32x128b" or "4x256b" [BadTileCall]
        Tx.cta.copy_async(S0, A, shape="64x256b")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
setting_values.py:13:5: error: `cta_group` of `copy_async` is `3`, expected 1 or 2 [BadTileCall]
        Tx.cta.copy_async(S0, A, cta_group=3)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
setting_values.py:14:5: error: `cta_group` of `copy_async` is `tx`, expected 1 or 2 [BadTileCall]
        Tx.cta.copy_async(S0, A, cta_group=tx)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
setting_values.py:15:5: error: `stage` of `gemm` is `1`, expected `True` or `False` [BadTileCall]
        Tx.cta.gemm(A, A, A, A, stage=1)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
setting_values.py:16:5: error: `allow_tf32` of `gemm` is `"yes"`, expected `True` or `False` [BadTileCall]
        Tx.cta.gemm(A, A, A, A, allow_tf32="yes")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== settings
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    Tx.warp.gemm(A, A, A, A, alpha="x")
    Tx.sum(A, A, axes=(0, 1))
    Tx.copy(A, A, config=3)
#--- expected
settings.py:6:36: error: `alpha` is str, expected a number [BadType]
        Tx.warp.gemm(A, A, A, A, alpha="x")
                                       ^~~
#=== shapes
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([128])
    s0 = T.alloc_shared((16, 16), "float32")
    Tx.cta.copy(s0[0:8, :], A)
    Tx.cta.copy(s0[0:4, 0:8], A[0:8, 0:4])
    Tx.cta.add(s0, A, s0[0:4, :])
#--- expected
shapes.py:7:5: error: `copy` into (8, 16) of `s0` from (16, 16) of `A`; the extents other than 1 differ [BadTileCall]
        Tx.cta.copy(s0[0:8, :], A)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~
shapes.py:8:5: error: `copy` into (4, 8) of `s0` from (8, 4) of `A`; the extents other than 1 differ [BadTileCall]
        Tx.cta.copy(s0[0:4, 0:8], A[0:8, 0:4])
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
shapes.py:9:5: error: `add` of (4, 16) of `s0` into (16, 16) of `s0`, to which it does not stretch [BadTileCall]
        Tx.cta.add(s0, A, s0[0:4, :])
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== step
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (64,), "float32")
    B = T.match_buffer(b, (n, 64), "float32")
    T.device_entry()
    block = T.cta_id([2])
    t = T.thread_id([32])
    r = T.alloc_local((32,), "float32")
    Tx.copy(r[:], A[::3])
    Tx.copy(r[:], A[::-1])
    Tx.copy(r[:], A[::0])
    Tx.copy(r[0:8], A[block * 3 : block * 3 + 16 : 2])
    Tx.copy(r[0:8], A[block * 3 + 2 : block * 3 + 18 : 2])
    Tx.copy(r[0:8], A[block * 2 + 1 : block * 2 + 17 : 2])
    Tx.copy(r[0:8], A[block * 4 - 2 : block * 4 + 30 : 4])
    Tx.copy(r[0:8], A[block * 4 - 4 : block * 4 + 28 : 4])
    Tx.copy(r[:], A[0:66:2])
    Tx.copy(r[0:4], B[0:8:2, 0])
#--- expected
step.py:12:19: error: a step of 3 in dimension 0 of `A`, which has 64 elements, expected a divisor of that [Indivisible]
        Tx.copy(r[:], A[::3])
                      ^~~~~~
step.py:6:9: note: declared here
        A = T.match_buffer(a, (64,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
step.py:13:19: error: a slice of 64 elements by steps of -1, expected both to be at least 1 [OutOfBounds]
        Tx.copy(r[:], A[::-1])
                      ^~~~~~~
step.py:14:19: error: a slice of 64 elements by steps of 0, expected both to be at least 1 [OutOfBounds]
        Tx.copy(r[:], A[::0])
                      ^~~~~~
step.py:15:21: error: a slice from `block * 3` on by steps of 2, expected a start that is known to be a multiple of 2 [Unprovable]
        Tx.copy(r[0:8], A[block * 3 : block * 3 + 16 : 2])
                        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
step.py:16:21: error: a slice from `block * 3 + 2` on by steps of 2, expected a start that is known to be a multiple of 2 [Unprovable]
        Tx.copy(r[0:8], A[block * 3 + 2 : block * 3 + 18 : 2])
                        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
step.py:17:21: error: a slice from `block * 2 + 1` on by steps of 2, expected a start that is known to be a multiple of 2 [Unprovable]
        Tx.copy(r[0:8], A[block * 2 + 1 : block * 2 + 17 : 2])
                        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
step.py:18:21: error: a slice from `block * 4 - 2` on by steps of 4, expected a start that is known to be a multiple of 4 [Unprovable]
        Tx.copy(r[0:8], A[block * 4 - 2 : block * 4 + 30 : 4])
                        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
step.py:20:19: error: 0:65 in dimension 0 of `A`, which has extent 64 [OutOfBounds]
        Tx.copy(r[:], A[0:66:2])
                      ^~~~~~~~~
step.py:6:9: note: declared here
        A = T.match_buffer(a, (64,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: a copy may read past the end with `fill_value=…`, and leaves it alone with `clip=True`
step.py:21:21: error: a step of 2 in dimension 0 of `B`, whose extent is known at launch only [NeedsConstant]
        Tx.copy(r[0:4], B[0:8:2, 0])
                        ^~~~~~~~~~~
step.py:7:9: note: declared here
        B = T.match_buffer(b, (n, 64), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== stretch
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    Tx.zero(A[0:4, 0:4], A)
    Tx.sqrt(A[0:4, 0:4], A)
#--- expected
stretch.py:6:5: error: `zero` of (16, 16) of `A` into (4, 4) of `A`, to which it does not stretch [BadTileCall]
        Tx.zero(A[0:4, 0:4], A)
        ^~~~~~~~~~~~~~~~~~~~~~~
stretch.py:7:5: error: `sqrt` of (16, 16) of `A` into (4, 4) of `A`, to which it does not stretch [BadTileCall]
        Tx.sqrt(A[0:4, 0:4], A)
        ^~~~~~~~~~~~~~~~~~~~~~~
#=== unknown_setting
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    S0 = T.alloc_shared((16, 16), "float32")
    Tx.cta.copy(S0, A, prefetch_sise=128)
    Tx.cta.copy(S0, A, stage=True)
    Tx.cta.copy_async(S0, A, config={"vectorise": 4})
    Tx.cta.permute_layout(S0, S0, predicate=True)
    Tx.cta.fill(S0, 0.0, value_type="float32")
#--- expected
unknown_setting.py:7:5: error: `copy` has no setting `prefetch_sise`; did you mean `prefetch_size`? [UnknownName]
        Tx.cta.copy(S0, A, prefetch_sise=128)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: its settings: predicate, fill_mode, fill_value, clip, cache, l1_evict, l2_evict, prefetch_size, remote_cta_id
unknown_setting.py:8:5: error: `copy` has no setting `stage` [UnknownName]
        Tx.cta.copy(S0, A, stage=True)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: its settings: predicate, fill_mode, fill_value, clip, cache, l1_evict, l2_evict, prefetch_size, remote_cta_id
unknown_setting.py:9:5: error: `copy_async` has no setting `vectorise` [UnknownName]
        Tx.cta.copy_async(S0, A, config={"vectorise": 4})
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: its settings: predicate, fill_mode, fill_value, clip, l2_evict, prefetch_size, direct, shape, multicast, cta_group, decompress, mbar, mbarrier_addr, remote_cta_id, cache_hint, cta_mask, oob, prefetch_tensormap, tensormap_l2_promotion, tensor_map, tma_dtype, use_tma_reduce, gather4, src_selector
unknown_setting.py:10:5: error: `permute_layout` has no setting `predicate` [UnknownName]
        Tx.cta.permute_layout(S0, S0, predicate=True)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `permute_layout` has no settings
unknown_setting.py:11:5: error: `fill` has no setting `value_type` [UnknownName]
        Tx.cta.fill(S0, 0.0, value_type="float32")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `fill` has no settings
#=== reduce_by_layout
from tvm.tirx.layout import R, S, TileLayout, laneid


@T.prim_func
def f():
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    T.lane_id([32])
    acc = T.alloc_buffer((16, 128), "float32", scope="local", layout=TileLayout(S[(2, 8, 16, 4, 2) : (2, 4 @ laneid, 4, 1 @ laneid, 1)]))
    two = T.alloc_buffer((16, 2), "float32", scope="local", layout=TileLayout(S[(2, 8, 2) : (1, 4 @ laneid, 2 @ laneid)]))
    four = T.alloc_buffer((16, 4), "float32", scope="local", layout=TileLayout(S[(16, 4) : (2 @ laneid, 1)]))
    Tx.warp.sum(two, acc, thread_reduce=False)
    Tx.warp.sum(four, acc, thread_reduce=True)
    Tx.warp.sum(two, acc[:, 0:64])
    last = T.alloc_buffer((16, 4), "int32", scope="local", layout=TileLayout(S[(2, 8, 4) : (1, 4 @ laneid, 1 @ laneid)]))
    Tx.warp.argmax(last, acc)
#--- expected
reduce_by_layout.py:13:5: error: `sum` over axis -1 of (16, 128) of `acc` into (16, 2) of `two`; the other extents differ [BadTileCall]
        Tx.warp.sum(two, acc, thread_reduce=False)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `axes` names what is reduced, lanes included; a view can make lanes and registers dimensions of their own
reduce_by_layout.py:14:5: error: `sum` over axis -1 of (16, 128) of `acc` into (16, 4) of `four`; the other extents differ [BadTileCall]
        Tx.warp.sum(four, acc, thread_reduce=True)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `axes` names what is reduced, lanes included; a view can make lanes and registers dimensions of their own
reduce_by_layout.py:15:5: error: `sum` over axis -1 of (16, 64) of `acc` into (16, 2) of `two`; the other extents differ [BadTileCall]
        Tx.warp.sum(two, acc[:, 0:64])
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `axes` names what is reduced, lanes included; a view can make lanes and registers dimensions of their own
reduce_by_layout.py:17:5: error: `argmax` over axis -1 of (16, 128) of `acc` into (16, 4) of `last`; the other extents differ [BadTileCall]
        Tx.warp.argmax(last, acc)
        ^~~~~~~~~~~~~~~~~~~~~~~~~
  note: `axes` names what is reduced, lanes included; a view can make lanes and registers dimensions of their own
#=== product_alone
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, laneid, mma_shared_layout, wid_in_wg
SUMS = TileLayout(S[(4, 2, 8, 2, 4, 2) : (1 @ wid_in_wg, 2, 4 @ laneid, 4, 1 @ laneid, 1)])


@T.prim_func
def f(Y: T.Buffer((128,), "float32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([128])
    X = T.alloc_buffer((64, 16), "float16", scope="shared", align=256, layout=mma_shared_layout("float16", "32B", (64, 16)))
    C = T.alloc_buffer((64, 16), "float32", scope="local", layout=SUMS)
    own = C.local(8)
    Tx.wg.gemm_async(C, X, X[0:16, :])
    Y[t] = own[0]
#--- expected
product_alone.py:16:12: error: `own` is read while the product into `C` is under way: no `T.ptx.wgmma.commit_group()` has closed its group [BadTileCall]
        Y[t] = own[0]
               ^~~~~~
product_alone.py:15:5: note: the product starts here
        Tx.wg.gemm_async(C, X, X[0:16, :])
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
