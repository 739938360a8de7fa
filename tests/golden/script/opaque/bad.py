#=== caught
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    try:
        size = {"a": 1}["b"]
    except KeyError:
        size = n

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (size,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
caught.py:13:36: error: this value is not known at compile time: no key 'b' in the dict [Opaque]
            B = T.match_buffer(B_ptr, (size,), "float32")
                                       ^~~~~
caught.py:6:5: note: it comes from here
        try:
        ^~~
#=== condition
import torch
from tvm.script import tirx as T

N = 32
if torch.cuda.is_available():
    N = 64

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (N,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1)
#--- expected
condition.py:10:32: error: this value is not known at compile time: module `torch` is not modelled [Opaque]
        B = T.match_buffer(B_ptr, (N,), "float32")
                                   ^~
condition.py:5:1: note: it comes from here
    if torch.cuda.is_available():
    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== expression
#: kernel = build(np.int32(4))
import numpy as np
from tvm.script import tirx as T


def build(n):
    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
expression.py:9:36: error: this value is not known at compile time: `numpy.int32` is not modelled [Opaque]
            B = T.match_buffer(B_ptr, (n,), "float32")
                                       ^~
--kernel:1:7: note: it comes from here
    build(np.int32(4))
          ^~~~~~~~~~~
#=== import_member
from tvm.script import tirx as T
from tvm.tirx.layout import S, TileLayot, laneid

LAYOUT = TileLayot(S[32 : 1 @ laneid])


@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    T.lane_id([32])
    R = T.alloc_buffer((32,), "float32", scope="local", layout=LAYOUT)
    Tx.warp.copy(R, B)
#--- expected
import_member.py:14:64: error: this value is not known at compile time: `tvm.tirx.layout` has no `TileLayot`; did you mean `TileLayout`? [Opaque]
        R = T.alloc_buffer((32,), "float32", scope="local", layout=LAYOUT)
                                                                   ^~~~~~
import_member.py:4:10: note: it comes from here
    LAYOUT = TileLayot(S[32 : 1 @ laneid])
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== kernel_from_opaque
#: kernel = cached(32)
import joblib
from tvm.script import tirx as T


def build(n):
    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel


cached = joblib.Memory("/tmp").cache(build)
#--- expected
--kernel:1:1: error: this value is not known at compile time: module `joblib` is not modelled [Opaque]
    cached(32)
    ^~~~~~~~~~
#=== loop_exit
#: kernel = build(32)
import torch
from tvm.script import tirx as T


def build(n):
    for width in (2, 4, 8):
        if torch.works(width):
            break
    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n * width,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
loop_exit.py:8:12: error: this value is not known at compile time: module `torch` is not modelled [Opaque]
            if torch.works(width):
               ^~~~~~~~~~~~~~~~~~
loop_exit.py:9:13: note: where the loop goes on depends on it
                break
                ^~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== needed_in_body
import torch
from tvm.script import tirx as T

props = torch.cuda.get_device_properties(0)
sms = props.multi_processor_count

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(sms)
#--- expected
needed_in_body.py:13:14: error: this value is not known at compile time: module `torch` is not modelled [Opaque]
        B[tid] = T.float32(sms)
                 ^~~~~~~~~~~~~~
needed_in_body.py:4:9: note: it comes from here
    props = torch.cuda.get_device_properties(0)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== needed_in_shape
#: kernel = build()
import numpy as np
from tvm.script import tirx as T

N = int(np.load("shape.npy")[0])
size = N + 1


def build():
    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (size,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
needed_in_shape.py:12:36: error: this value is not known at compile time: `numpy.load` is not modelled [Opaque]
            B = T.match_buffer(B_ptr, (size,), "float32")
                                       ^~~~~
needed_in_shape.py:5:9: note: it comes from here
    N = int(np.load("shape.npy")[0])
            ^~~~~~~~~~~~~~~~~~~~
#=== opaque_call_in_kernel
import numpy as np
from tvm.script import tirx as T


@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = np.sqrt(B[tid])
    if np.float32(0):
        B[0] = 1.0
#--- expected
opaque_call_in_kernel.py:11:14: error: this value is not known at compile time: `numpy.sqrt` of these arguments is not modelled [Opaque]
        B[tid] = np.sqrt(B[tid])
                 ^~~~~~~~~~~~~~~
opaque_call_in_kernel.py:12:8: error: this value is not known at compile time: `numpy.float32` is not modelled [Opaque]
        if np.float32(0):
           ^~~~~~~~~~~~~
#=== return
#: kernel = build(32)
import torch
from tvm.script import tirx as T


def build(n):
    @T.prim_func
    def fast(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)

    @T.prim_func
    def slow(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(2)

    if torch.cuda.get_device_capability()[0] >= 9:
        return fast
    return slow
#--- expected
return.py:23:8: error: this value is not known at compile time: module `torch` is not modelled [Opaque]
        if torch.cuda.get_device_capability()[0] >= 9:
           ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
return.py:23:8: note: it comes from here
        if torch.cuda.get_device_capability()[0] >= 9:
           ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
return.py:24:9: note: what the function returns depends on it
            return fast
            ^~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== return_in_loop
#: kernel = build(32)
import torch
from tvm.script import tirx as T


def build(n):
    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)

    for device in torch.cuda.devices():
        if device.ok:
            return kernel
    return None
#--- expected
return_in_loop.py:15:19: error: this value is not known at compile time: module `torch` is not modelled [Opaque]
        for device in torch.cuda.devices():
                      ^~~~~~~~~~~~~~~~~~~~
return_in_loop.py:17:13: note: what the function returns depends on it
                return kernel
                ^~~~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== tree_nodes
# Nodes of TVM's tree: the message says what to write.
from tvm.script import ir as I
from tvm.script import tirx as T


@T.prim_func
def k(A: T.Buffer((32,), "int32"), r: I.TensorRegion):
    T.device_entry()
    tid = T.thread_id([32])
    Tx.copy(I.TensorRegion(A, [T.Range(0, 4)]), A[4:8])
    A[tid] = I.Tuple((1, 2))
#--- expected
tree_nodes.py:7:36: error: this value is not known at compile time: `tvm.script.ir.TensorRegion` is not taken: `A[i : i + n, :]` is a region [Opaque]
    def k(A: T.Buffer((32,), "int32"), r: I.TensorRegion):
                                       ^~~~~~~~~~~~~~~~~
tree_nodes.py:7:39: note: it comes from here
    def k(A: T.Buffer((32,), "int32"), r: I.TensorRegion):
                                          ^~~~~~~~~~~~~~
tree_nodes.py:10:34: error: `T.Range` is not taken: kernels are written in Python; no tree is built by hand [UnknownName]
        Tx.copy(I.TensorRegion(A, [T.Range(0, 4)]), A[4:8])
                                     ^~~~~
tree_nodes.py:11:14: error: this value is not known at compile time: `tvm.script.ir.Tuple` is not taken: `(a, b)` is a tuple [Opaque]
        A[tid] = I.Tuple((1, 2))
                 ^~~~~~~~~~~~~~~
#=== numpy
#: kernel = build((4, 8))
import numpy as np
from tvm.target import Target


def build(shape):
    size = np.prod([2**40, 2**40])
    arch = Target("cuda").arch

    @T.prim_func
    def kernel(A: T.Buffer((4,), "int32"), B: T.Buffer((np.prod(shape, axis=0),), "int32")):
        T.device_entry()
        T.cta_id([1])
        t = T.thread_id([4])
        A[t] = size
        if arch == "sm_90a":
            A[t] = 1
        A[t] = Target("llvm").arch
    return kernel
#--- expected
numpy.py:11:44: error: this value is not known at compile time: `numpy.prod` of these arguments is not modelled [Opaque]
        def kernel(A: T.Buffer((4,), "int32"), B: T.Buffer((np.prod(shape, axis=0),), "int32")):
                                               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
numpy.py:11:57: note: it comes from here
        def kernel(A: T.Buffer((4,), "int32"), B: T.Buffer((np.prod(shape, axis=0),), "int32")):
                                                            ^~~~~~~~~~~~~~~~~~~~~~
numpy.py:15:16: error: this value is not known at compile time: `numpy.prod` of these arguments is not modelled [Opaque]
            A[t] = size
                   ^~~~
numpy.py:7:12: note: it comes from here
        size = np.prod([2**40, 2**40])
               ^~~~~~~~~~~~~~~~~~~~~~~
numpy.py:16:12: error: this value is not known at compile time: the architecture of `Target("cuda")` is that of `--target`, which names none [Opaque]
            if arch == "sm_90a":
               ^~~~~~~~~~~~~~~~
numpy.py:8:12: note: it comes from here
        arch = Target("cuda").arch
               ^~~~~~~~~~~~~~
numpy.py:18:16: error: this value is not known at compile time: `tvm.target.Target` of these arguments is not modelled [Opaque]
            A[t] = Target("llvm").arch
                   ^~~~~~~~~~~~~~~~~~~
numpy.py:18:16: note: it comes from here
            A[t] = Target("llvm").arch
                   ^~~~~~~~~~~~~~
