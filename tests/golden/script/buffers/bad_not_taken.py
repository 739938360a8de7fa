# What TVM's buffers have and is not taken.
from tvm.script import tirx as T
from tvm.tirx.layout import Axis, Iter, TileLayout

m = Axis.get("m")


@T.prim_func
def f(A: T.Buffer((32,), "float32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    a = T.meta_var(A.elem_offset_of([t]))
    b = T.meta_var(A.strides)
    c = T.meta_var(A.rearrange("(a b) -> b a", a=4))
    d = T.meta_var(A.chunk((4,)))
    e = T.meta_var(A.same_as(A))
    g = T.meta_var(A.acess_ptr("r"))
    s = T.alloc_buffer((32,), "float32", scope="shared", layout=TileLayout.from_iters([Iter(32, 1, m)], [], {m: 4}))
    h = T.meta_var(s.access_ptr("r"))
#--- expected
bad_not_taken.py:13:22: error: `elem_offset_of` of a buffer is not taken: `B.ptr_to([i])` is the address of an element [UnknownName]
        a = T.meta_var(A.elem_offset_of([t]))
                         ^~~~~~~~~~~~~~
bad_not_taken.py:14:22: error: `strides` of a buffer is not taken: `B.layout` has the strides [UnknownName]
        b = T.meta_var(A.strides)
                         ^~~~~~~
bad_not_taken.py:15:22: error: `rearrange` of a buffer is not taken: `B.view(*shape)` and `B.permute(*dims)` do it in steps [UnknownName]
        c = T.meta_var(A.rearrange("(a b) -> b a", a=4))
                         ^~~~~~~~~
bad_not_taken.py:16:22: error: `chunk` of a buffer is not taken: `B.view(*shape)` splits dimensions, `B[…]` takes a part [UnknownName]
        d = T.meta_var(A.chunk((4,)))
                         ^~~~~
bad_not_taken.py:17:22: error: `same_as` of a buffer is not taken: kernels are written in Python; no tree is looked at [UnknownName]
        e = T.meta_var(A.same_as(A))
                         ^~~~~~~
bad_not_taken.py:18:22: error: buffer has no `acess_ptr`; did you mean `access_ptr`? [UnknownName]
        g = T.meta_var(A.acess_ptr("r"))
                         ^~~~~~~~~
bad_not_taken.py:20:20: error: `access_ptr` of `s`, whose layout has an offset; `ptr_to` is the address of an element [BadBuffer]
        h = T.meta_var(s.access_ptr("r"))
                       ^~~~~~~~~~~~~~~~~
