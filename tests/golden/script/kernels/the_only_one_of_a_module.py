# SPDX-License-Identifier: Apache-2.0
"""The only kernel stands in a class."""
from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((16,), "float32")):
        T.device_entry()
        T.cta_id([1])
        t = T.thread_id([16])
        A[t] = T.float32(1)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def main(A: T.Buffer((16,))):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([16])
    A[t] = T.float32(1.0)
