# The same layouts and pools, wherever a version of TVM keeps them.
from tvm.backend.cuda.operator.tile_primitive.tma_utils import mma_atom_shape
from tvm.script import tirx as T
from tvm.tirx.cuda.lang.alloc_pool import SMEMPool
from tvm.tirx.cuda.tile_primitive.gemm_async import sf_tmem_layout
from tvm.tirx.cuda.tile_primitive.tma_utils import SwizzleMode, mma_shared_layout
from tvm.tirx.operator.tile_primitive.cuda.gemm_async.tcgen05 import sf_smem_layout

assert tuple(mma_atom_shape("float16", 3)) == (8, 64)


@T.prim_func
def f(A: T.Buffer((16, 64), "float16")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([128])
    pool = SMEMPool()
    a = pool.alloc((16, 64), "float16", layout=mma_shared_layout("float16", SwizzleMode.SWIZZLE_128B_ATOM, (16, 64)))
    pool.commit()
    s = T.decl_buffer((128, 4), "float8_e4m3fn", scope="tmem", allocated_addr=0, layout=sf_tmem_layout(128, SF_K=4, sf_per_mma=4))
    Tx.cta.copy(a, A)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, TCol, TLane

@T.prim_func
def f(A: T.Buffer((16, 64), "float16")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([128])
    pool = T.alloc_buffer((2048,), "uint8", scope="shared.dyn")
    a = T.decl_buffer((16, 64), "float16", data=pool.data, scope="shared.dyn", layout=ComposeLayout(3, 3, 3, TileLayout(S[1024 : 1])))
    s = T.decl_buffer((128, 4), "float8_e4m3fn", scope="tmem", allocated_addr=T.uint32(0), layout=TileLayout(S[(4, 32, 4) : (4 @ TCol, 1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]))
    Tx.cta.copy(a[0:16, 0:64], A[0:16, 0:64])
