# target sm_90a
# A launch stated at the entry, and primitives by the names of their instructions.
from tvm.script import tirx as T
from tvm.tirx.layout import S, TileLayout, laneid, warpid

OWN = TileLayout(S[(4, 32, 8) : (1 @ warpid, 1 @ laneid, 1)])


@T.function
def scaled(A: T.Tensor((3, 128, 8), "float32"), B: T.Tensor((3, 128, 8), "float16")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=3, block=(64, 2)))
    bx = T.cuda.block_idx("x")
    src = T.meta_var(A[bx, 0:128, 0:8])
    staged = T.alloc_tensor([r.extent for r in src.region], src.source.dtype, scope="shared")
    R = T.alloc_tensor((4, 32, 8), "float32", scope="local", layout=OWN)
    H = T.alloc_tensor((4, 32, 8), "float16", scope="local", layout=OWN)
    rows = staged.view(4, 32, 8)
    T.cuda.tile.cp_async(staged, src, scope="cta")
    T.ptx.cp.async_.commit_group()
    T.ptx.cp.async_.wait_group(0)
    T.cuda.cta_sync()
    T.cuda.tile.ld(R, rows, scope="cta")
    T.cuda.tile.fma(R, R, T.float32(2), T.float32(1), scope="cta")
    T.cuda.tile.max(R, R, T.float32(0), scope="cta")
    T.cuda.tile.cvt(H, R, scope="cta")
    if (T.cuda.thread_idx("y") == 0) & (T.cuda.linear_thread_id() < 32):
        B[bx, 0, 0] = T.float16(0)
    T.cuda.cta_sync()
    out = B.view(3, 4, 32, 8)
    T.cuda.tile.st(out[bx, :, :, :], H, scope="cta")
