# SPDX-License-Identifier: Apache-2.0
"""TVM's head calls kernels functions and buffers tensors; hints are spelt as PTX does."""
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


@T.function
def kernel(A: T.Tensor((8,), "int32"), B: T.Tensor((8,), "int32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([1])
    shared = T.alloc_tensor((8,), "int32", scope="shared")
    words = T.decl_tensor((8,), "uint32", data=shared.data, scope="shared")
    reg = T.alloc_local((8,), "int32")
    Tx.copy(reg[:], A[:], dispatch="vec_256b", cache="nc", l1_evict="L1::no_allocate",
            l2_evict="L2::evict_first", prefetch_size="L2::256B")
    Tx.copy(B[:], reg[:], dispatch="vec_256b")
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([1])
    shared = T.alloc_shared((8,), "int32")
    words = T.decl_buffer((8,), "uint32", data=shared.data, scope="shared")
    reg = T.alloc_local((8,), "int32")
    Tx.copy(reg[0:8], A[0:8], cache="nc", l1_evict="no_allocate", l2_evict="evict_first", prefetch_size=256, dispatch="vec_256b")
    Tx.copy(B[0:8], reg[0:8], dispatch="vec_256b")
