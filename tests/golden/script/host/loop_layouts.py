#: kernel = build(16, 2)
from tvm.script import tirx as T
from tvm.tirx.layout import S, TileLayout, laneid


def build(rows, per_lane):
    """Layouts of a loop, the last of which the kernel takes."""
    layouts = []
    for width in (2, 4, 8):
        extents, strides = [rows // 4, width], [4 @ laneid, 1]
        extents.append(4)
        strides.append(1 @ laneid)
        layouts.append(TileLayout(S[tuple(extents) : tuple(strides)]))
    chosen = layouts[-1]

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (rows, 8), "float32")
        T.device_entry()
        T.cta_id([1])
        T.warp_id([1])
        lane = T.lane_id([32])
        R = T.alloc_buffer((rows // 4, 8, 4), "float32", scope="local", layout=chosen)
        r = R.local(8)
        for i in range(per_lane):
            B[lane % rows, i] = r[i]

    return kernel
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, laneid

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (16, 8))
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    lane = T.lane_id([32])
    R_1 = T.alloc_buffer((4, 8, 4), scope="local", layout=TileLayout(S[(4, 8, 4) : (4 @ laneid, 1, 1 @ laneid)]))
    r = T.decl_buffer((8,), data=R_1.data, scope="local")
    for i in range(2):
        B[lane % 16, i] = r[i]
