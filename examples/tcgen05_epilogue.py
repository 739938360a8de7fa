# D = alpha * acc + bias in half precision: the end of a matrix product on Blackwell, whose sums are in
# tensor memory, a row in each of 128 lanes. They come out in chunks of columns: tensor memory to
# registers (tcgen05.ld), scale, bias and halves there, registers to swizzled shared memory
# (stmatrix), and from there to global memory by 16-byte stores of whole lines.
#
#   warpwright run examples/tcgen05_epilogue.py --expect 'D ~= 0.5 * acc + bias'
#   warpwright explain examples/tcgen05_epilogue.py
#
# The product itself is left out: a first loop puts the sums into tensor memory from global memory.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import ComposeLayout, R, S, SwizzleLayout, TileLayout, laneid, wid_in_wg
from tvm.tirx.layout import tcgen05_atom_layout, tmem_datapath_layout, wg_local_layout


def build(M=256, N=192, chunk=64, alpha=0.5, dtype="float16"):
    # Columns are allocated in powers of two, 32 at least.
    columns = max(32, 1 << (N - 1).bit_length())
    # A row per thread; and what stmatrix needs: 8x8 blocks, four lanes to a row.
    rows = wg_local_layout(chunk)
    blocks = tcgen05_atom_layout("16x256b", (128, chunk), "float32")
    # A single row, of which each thread holds the columns that it holds of the sums.
    every_row = TileLayout(S[(chunk // 8, 4, 2) : (2, 1 @ laneid, 1)]
                           + R[(4, 8) : (1 @ wid_in_wg, 4 @ laneid)])
    # Rows of 128 bytes whose 16-byte pieces are permuted by the row's number, two buffers.
    shared = ComposeLayout(SwizzleLayout(3, 3, 3), TileLayout(
        S[(2, 128, chunk // 64, 64) : (128 * chunk, 64, 128 * 64, 1)]))

    @T.prim_func
    def epilogue(acc_ptr: T.handle, bias_ptr: T.handle, D_ptr: T.handle):
        acc = T.match_buffer(acc_ptr, (M, N), "float32")
        bias = T.match_buffer(bias_ptr, (N,), "float32")
        D = T.match_buffer(D_ptr, (M, N), dtype)
        T.device_entry()
        cta = T.cta_id([M // 128])
        T.warpgroup_id([1])
        warp = T.warp_id_in_wg([4])
        T.lane_id([32])
        tmem_addr = T.alloc_shared([1], "uint32")
        D_s = T.alloc_buffer((2, 128, chunk), dtype, scope="shared", layout=shared, align=1024)
        sums_in = T.alloc_buffer((128, chunk), "float32", scope="local", layout=rows)
        sums = T.alloc_buffer((128, chunk), "float32", scope="local", layout=blocks)
        D_f = T.alloc_buffer((128, chunk), dtype, scope="local", layout=blocks)
        bias_f = T.alloc_buffer((1, chunk), "float32", scope="local", layout=every_row)
        m0: T.let = cta * 128

        # One warp allocates, all may use it once the address is in shared memory.
        if warp == 0:
            T.ptx.tcgen05.alloc(T.address_of(tmem_addr), n_cols=columns, cta_group=1)
            T.ptx.tcgen05.relinquish_alloc_permit(cta_group=1)
        T.cuda.cta_sync()
        tile = T.decl_buffer((128, N), "float32", scope="tmem", allocated_addr=tmem_addr[0],
                             layout=tmem_datapath_layout("D", 128, N))

        # In place of the product.
        for c in T.serial(N // chunk):
            Tx.wg.copy(sums_in[:, :], acc[m0 : m0 + 128, c * chunk : c * chunk + chunk])
            Tx.wg.copy_async(tile[:, c * chunk : c * chunk + chunk], sums_in[:, :])
            T.ptx.tcgen05.wait.st()
        # Barriers order tensor memory only between these two.
        T.ptx.tcgen05.fence.before_thread_sync()
        T.cuda.cta_sync()
        T.ptx.tcgen05.fence.after_thread_sync()

        for c in T.serial(N // chunk):
            # The bias comes from global memory while the sums are on their way.
            Tx.wg.copy_async(sums[:, :], tile[:, c * chunk : c * chunk + chunk])
            Tx.wg.copy(bias_f[0, :], bias[c * chunk : c * chunk + chunk])
            T.ptx.tcgen05.wait.ld()
            Tx.wg.fma(sums[:, :], sums[:, :], T.float32(alpha), bias_f[:, :])
            Tx.wg.cast(D_f[:, :], sums[:, :])
            # While one buffer goes out, the next chunk is put into the other.
            Tx.wg.copy(D_s[c % 2, :, :], D_f[:, :])
            T.cuda.cta_sync()
            Tx.wg.copy(D[m0 : m0 + 128, c * chunk : c * chunk + chunk], D_s[c % 2, :, :])

        # All have loaded what they need: free the columns.
        T.ptx.tcgen05.fence.before_thread_sync()
        T.cuda.cta_sync()
        if warp == 0:
            T.ptx.tcgen05.fence.after_thread_sync()
            T.ptx.tcgen05.dealloc(tmem_addr[0], n_cols=columns, cta_group=1)

    return epilogue


kernel = build()
