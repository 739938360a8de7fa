#=== extent
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(X: T.Buffer(("n",), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([128])
    x = T.alloc_shared((n,), "float32", layout="auto")
    Tx.cta.copy(x, X)
    large = T.alloc_local((65536, 65536), "float32", layout="auto")
    Tx.cta.fill(large, 1.0)
#--- expected
extent.py:10:9: error: `layout="auto"` of `x`: an extent is known at run time only [BadBuffer]
        x = T.alloc_shared((n,), "float32", layout="auto")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: give the tile extents that are constants
extent.py:12:13: error: `layout="auto"` of `large`: more elements than a tile can have [BadBuffer]
        large = T.alloc_local((65536, 65536), "float32", layout="auto")
                ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== global
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(X_ptr: T.handle):
    X = T.match_buffer(X_ptr, (16,), "float32", layout="auto")
    T.device_entry()
    T.cta_id([1])
    T.thread_id([32])
#--- expected
global.py:7:56: error: `layout="auto"` for a buffer in "global", expected local, shared or shared.dyn [BadBuffer]
        X = T.match_buffer(X_ptr, (16,), "float32", layout="auto")
                                                           ^~~~~~
  note: write its layout, or leave it out for row-major order
#=== product
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(A: T.Buffer((24, 16), "float16"), B: T.Buffer((16, 24), "float16")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([128])
    a = T.alloc_local((24, 16), "float16", layout="auto")
    b = T.alloc_local((16, 24), "float16", layout="auto")
    d = T.alloc_local((24, 24), "float32", layout="auto")
    Tx.cta.copy(a, A)
    Tx.cta.copy(b, B)
    Tx.cta.gemm(d, a, b, d)
#--- expected
product.py:10:9: error: `layout="auto"` of `a`: no use says which threads hold what [BadBuffer]
        a = T.alloc_local((24, 16), "float16", layout="auto")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
product.py:15:5: note: `Tx.cta.gemm`: no grid of 4 warps has fragments of `d`: shape (24,24) has 24 rows; operand D over 4 warps takes multiples of 64
        Tx.cta.gemm(d, a, b, d)
        ^~~~~~~~~~~~~~~~~~~~~~~
  note: choose a shape that the warps can share, or write a layout
product.py:11:9: error: `layout="auto"` of `b`: no use says which threads hold what [BadBuffer]
        b = T.alloc_local((16, 24), "float16", layout="auto")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
product.py:15:5: note: `Tx.cta.gemm`: no grid of 4 warps has fragments of `d`: shape (24,24) has 24 rows; operand D over 4 warps takes multiples of 64
        Tx.cta.gemm(d, a, b, d)
        ^~~~~~~~~~~~~~~~~~~~~~~
  note: choose a shape that the warps can share, or write a layout
product.py:12:9: error: `layout="auto"` of `d`: no use says which threads hold what [BadBuffer]
        d = T.alloc_local((24, 24), "float32", layout="auto")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
product.py:15:5: note: `Tx.cta.gemm`: no grid of 4 warps has fragments of `d`: shape (24,24) has 24 rows; operand D over 4 warps takes multiples of 64
        Tx.cta.gemm(d, a, b, d)
        ^~~~~~~~~~~~~~~~~~~~~~~
  note: choose a shape that the warps can share, or write a layout
#=== registers
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(X: T.Buffer((1024,), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([128])
    x = T.alloc_local((1024,), "float32", layout="auto")
    mine = x.local(16)
    Tx.cta.copy(x, X)
    Tx.cta.copy(X, x)
#--- expected
registers.py:11:12: error: `local` of 16 elements over `x`, of which a thread holds 8 [NotAdmitted]
        mine = x.local(16)
               ^~~~~~~~~~~
registers.py:10:9: note: its layout was inferred: `coalesced_layout((1024,), 128, "float32")`
        x = T.alloc_local((1024,), "float32", layout="auto")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== silent
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(Y: T.Buffer((64, 64), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([128])
    x = T.alloc_local((64, 64), "float32", layout="auto")
    y = T.alloc_local((64, 64), "float32", layout="auto")
    unused = T.alloc_local((64, 64), "float32", layout="auto")
    Tx.cta.fill(x, 1.0)
    Tx.cta.add(y, x, x)
#--- expected
silent.py:10:9: error: `layout="auto"` of `x`: no use says which threads hold what [BadBuffer]
        x = T.alloc_local((64, 64), "float32", layout="auto")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
silent.py:13:5: note: `Tx.cta.fill` takes any layout
        Tx.cta.fill(x, 1.0)
        ^~~~~~~~~~~~~~~~~~~
silent.py:14:5: note: `Tx.cta.add` follows its other tiles, none of which has a layout
        Tx.cta.add(y, x, x)
        ^~~~~~~~~~~~~~~~~~~
  note: write a layout, such as `layout=coalesced_layout((64, 64), 128, "float32")`
silent.py:11:9: error: `layout="auto"` of `y`: no use says which threads hold what [BadBuffer]
        y = T.alloc_local((64, 64), "float32", layout="auto")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
silent.py:14:5: note: `Tx.cta.add` follows its other tiles, none of which has a layout
        Tx.cta.add(y, x, x)
        ^~~~~~~~~~~~~~~~~~~
  note: write a layout, such as `layout=coalesced_layout((64, 64), 128, "float32")`
silent.py:12:14: error: `layout="auto"` of `unused`: no tile primitive uses it [BadBuffer]
        unused = T.alloc_local((64, 64), "float32", layout="auto")
                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: write a layout, such as `layout=coalesced_layout((64, 64), 128, "float32")`
#=== sums
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import row_layout


# The sums are in rows, which no instruction has.
@T.prim_func
def kernel(A: T.Buffer((64, 16), "float16")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([128])
    a = T.alloc_local((64, 16), "float16", layout="auto")
    b = T.alloc_local((16, 64), "float16", layout="auto")
    d = T.alloc_local((64, 64), "float32", layout=row_layout((64, 64), 128))
    Tx.cta.copy(a, A)
    Tx.cta.zero(b)
    Tx.cta.gemm(d, a, b, d)
#--- expected
sums.py:12:9: error: `layout="auto"` of `a`: no use says which threads hold what [BadBuffer]
        a = T.alloc_local((64, 16), "float16", layout="auto")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
sums.py:17:5: note: `Tx.cta.gemm`: the layout that is written for the accumulator is of no grid of warps
        Tx.cta.gemm(d, a, b, d)
        ^~~~~~~~~~~~~~~~~~~~~~~
  note: choose a shape that the warps can share, or write a layout
sums.py:13:9: error: `layout="auto"` of `b`: no use says which threads hold what [BadBuffer]
        b = T.alloc_local((16, 64), "float16", layout="auto")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
sums.py:17:5: note: `Tx.cta.gemm`: the layout that is written for the accumulator is of no grid of warps
        Tx.cta.gemm(d, a, b, d)
        ^~~~~~~~~~~~~~~~~~~~~~~
  note: choose a shape that the warps can share, or write a layout
#=== units
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(X: T.Buffer((64, 64), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([128])
    x = T.alloc_local((64, 64), "float32", layout="auto")
    Tx.cta.copy(x, X)
    Tx.warp.exp(x, x)
    Tx.cta.copy(X, x)
#--- expected
units.py:10:9: error: `layout="auto"` of `x`: two uses share it among different threads [BadBuffer]
        x = T.alloc_local((64, 64), "float32", layout="auto")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
units.py:11:5: note: `Tx.cta.copy`: all threads of a cta
        Tx.cta.copy(x, X)
        ^~~~~~~~~~~~~~~~~
units.py:12:5: note: `Tx.warp.exp`: all threads of a warp
        Tx.warp.exp(x, x)
        ^~~~~~~~~~~~~~~~~
  note: write the layout that both take, or use two buffers
#=== views
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(X: T.Buffer((1024,), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([128])
    x = T.alloc_local((1024,), "float32", layout="auto")
    a = x.view(32, 32)
    b = x.local()
    c = T.decl_buffer((1024,), "float32", data=x.data, scope="local")
    d = T.alloc_local((1024,), "float32", layout=x.layout)
    e = T.alloc_local((8,), "float32")
    g = T.decl_buffer((1024,), "float32", data=e.data, scope="local", layout="auto")
    Tx.cta.copy(x, X)
#--- expected
views.py:11:9: error: `view` of `x`, whose layout is inferred after the kernel is read [BadBuffer]
        a = x.view(32, 32)
            ^~~~~~~~~~~~~~
views.py:10:9: note: write its layout in the place of "auto"; `warpwright explain` prints what is inferred
        x = T.alloc_local((1024,), "float32", layout="auto")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
views.py:12:9: error: `local` without its extents of `x`, whose layout is inferred after the kernel is read [BadBuffer]
        b = x.local()
            ^~~~~~~~~
views.py:10:9: note: write its layout in the place of "auto"; `warpwright explain` prints what is inferred
        x = T.alloc_local((1024,), "float32", layout="auto")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `local(n)` can be had: n registers of a thread
views.py:13:48: error: `data` of `x`, whose layout is inferred after the kernel is read [BadBuffer]
        c = T.decl_buffer((1024,), "float32", data=x.data, scope="local")
                                                   ^~~~~~
views.py:10:9: note: write its layout in the place of "auto"; `warpwright explain` prints what is inferred
        x = T.alloc_local((1024,), "float32", layout="auto")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
views.py:14:50: error: `layout` of `x`, whose layout is inferred after the kernel is read [BadBuffer]
        d = T.alloc_local((1024,), "float32", layout=x.layout)
                                                     ^~~~~~~~
views.py:10:9: note: write its layout in the place of "auto"; `warpwright explain` prints what is inferred
        x = T.alloc_local((1024,), "float32", layout="auto")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
views.py:16:9: error: `layout="auto"` for a view of storage in "local" [BadBuffer]
        g = T.decl_buffer((1024,), "float32", data=e.data, scope="local", layout="auto")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: allocate the tile, `T.alloc_local(…, layout="auto")`, or write its layout
#=== parts
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.prim_func
def kernel(X: T.Buffer((32, 64), "float32"), Y: T.Buffer((32,), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([32])
    x = T.alloc_local((32, 64), "float32", layout="auto")
    other = T.alloc_local((32, 64), "float32", layout="auto")
    narrow = T.alloc_local((32, 32), "float32", layout="auto")
    of_row = T.alloc_local((32,), "float32", layout="auto")
    Tx.warp.copy(x, X)
    Tx.warp.mul(other[:, 0:32], x[:, 32:64], 2.0)
    Tx.warp.mul(narrow, x[:, 0:32], 3.0)
    Tx.warp.sum(of_row, narrow, -1)
    Tx.warp.sum(of_row, other, -1)
    Tx.warp.copy(Y, of_row)
#--- expected
parts.py:11:13: error: `layout="auto"` of `other`: no use says which threads hold what [BadBuffer]
        other = T.alloc_local((32, 64), "float32", layout="auto")
                ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
parts.py:15:5: note: `Tx.warp.mul` follows its other tiles, none of which has a layout
        Tx.warp.mul(other[:, 0:32], x[:, 32:64], 2.0)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
parts.py:18:5: note: `Tx.warp.sum` follows its other tiles, none of which has a layout
        Tx.warp.sum(of_row, other, -1)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: write a layout, such as `layout=coalesced_layout((32, 64), 32, "float32", axis=laneid)`
parts.py:12:14: error: `layout="auto"` of `narrow`: no use says which threads hold what [BadBuffer]
        narrow = T.alloc_local((32, 32), "float32", layout="auto")
                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
parts.py:16:5: note: `Tx.warp.mul` follows its other tiles, none of which has a layout
        Tx.warp.mul(narrow, x[:, 0:32], 3.0)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
parts.py:17:5: note: `Tx.warp.sum` follows its other tiles, none of which has a layout
        Tx.warp.sum(of_row, narrow, -1)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: write a layout, such as `layout=coalesced_layout((32, 32), 32, "float32", axis=laneid)`
