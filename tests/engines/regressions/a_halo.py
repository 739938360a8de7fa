# target sm_90a, k0 = 30
# Tiles with a halo: loads that begin before their buffer and end behind it read zeros there, by
# loads, by cp.async, element by element, and in registers.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, tx

CHANNELS, HEIGHT, WIDTH, TILE = 2, 20, 40, 16


@T.prim_func
def box(X_ptr: T.handle, H_ptr: T.handle, Y_ptr: T.handle, Z_ptr: T.handle, R_ptr: T.handle, k0: T.int32):
    X = T.match_buffer(X_ptr, (CHANNELS, HEIGHT, WIDTH), "float32")
    H = T.match_buffer(H_ptr, (HEIGHT, WIDTH), "float16")
    Y = T.match_buffer(Y_ptr, (CHANNELS, HEIGHT, WIDTH), "float32")
    Z = T.match_buffer(Z_ptr, (CHANNELS * 6, TILE + 2, TILE + 2), "float16")
    R = T.match_buffer(R_ptr, (CHANNELS * 6, 128), "float32")
    T.device_entry()
    bx, by, c = T.cta_id([3, 2, CHANNELS])
    t = T.thread_id([128])
    s = T.alloc_shared((TILE + 2, TILE + 2), "float32")
    u = T.alloc_shared((TILE + 2, TILE + 2), "float32")
    h = T.alloc_shared((TILE + 2, TILE + 2), "float16")
    r = T.alloc_buffer((128,), "float32", scope="local", layout=TileLayout(S[128 : 1 @ tx]))
    y0: T.let = by * TILE - 1
    x0: T.let = bx * TILE - 1
    Tx.cta.copy(s[:, :], X[c, y0 : y0 + TILE + 2, x0 : x0 + TILE + 2], fill_mode="zero")
    Tx.cta.copy_async(u[:, :], X[c, y0 : y0 + TILE + 2, x0 : x0 + TILE + 2], fill_mode="zero")
    Tx.cta.copy_async(h[:, :], H[y0 : y0 + TILE + 2, x0 : x0 + TILE + 2], fill_mode="zero")
    T.ptx.cp_async.commit_group()
    T.ptx.cp_async.wait_group(0)
    T.cuda.cta_sync()
    block: T.let = (c * 2 + by) * 3 + bx
    Tx.cta.copy(Z[block, :, :], h[:, :])
    # a start that only a run knows
    Tx.cta.copy(r[:], X[c, 0, k0 - 64 : k0 + 64], fill_mode="zero")
    Tx.cta.copy(R[block, :], r[:])
    for i in T.unroll(TILE * TILE // 128):
        y: T.let = (i * 128 + t) // TILE
        x: T.let = (i * 128 + t) % TILE
        if by * TILE + y < HEIGHT and bx * TILE + x < WIDTH:
            total: T.float32 = 0.0
            for k in T.unroll(9):
                total += s[y + k // 3, x + k % 3] * 2.0 - u[y + k // 3, x + k % 3]
            Y[c, by * TILE + y, bx * TILE + x] = total
