# B = 2 * A through the tensor memory of Blackwell: a warpgroup stores a tile of 128 rows to it, loads
# it back and doubles it. The target is sm_100a because of it; without such a GPU the virtual one runs
# it, and reports columns that are not freed or results used before their wait.
#
#   {{run}} --expect 'B == 2 * A'
#   {{explain}}
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import tmem_datapath_layout, wg_local_layout


# A builder: `--kernel 'build(M=512, N=64)'` makes another kernel of it.
def build(M=256, N=32):
    columns = max(32, 1 << (N - 1).bit_length())  # allocated in powers of two, 32 at least

    @T.prim_func
    def {{name}}(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (M, N), "float32")
        B = T.match_buffer(B_ptr, (M, N), "float32")
        T.device_entry()
        cta = T.cta_id([M // 128])
        T.warpgroup_id([1])
        warp = T.warp_id_in_wg([4])
        T.lane_id([32])
        address = T.alloc_shared([1], "uint32")
        rows = T.alloc_buffer((128, N), "float32", scope="local", layout=wg_local_layout(N))
        back = T.alloc_buffer((128, N), "float32", scope="local", layout=wg_local_layout(N))
        begin: T.let = cta * 128

        # One warp allocates; the others find the address in shared memory.
        if warp == 0:
            T.ptx.tcgen05.alloc(T.address_of(address), n_cols=columns, cta_group=1)
            T.ptx.tcgen05.relinquish_alloc_permit(cta_group=1)
        T.cuda.cta_sync()
        tile = T.decl_buffer((128, N), "float32", scope="tmem", allocated_addr=address[0],
                             layout=tmem_datapath_layout("D", 128, N))

        Tx.wg.copy(rows[:, :], A[begin : begin + 128, :])  # a row for each thread
        Tx.wg.copy_async(tile[:, :], rows[:, :])  # tcgen05.st
        T.ptx.tcgen05.wait.st()
        Tx.wg.copy_async(back[:, :], tile[:, :])  # tcgen05.ld
        T.ptx.tcgen05.wait.ld()
        Tx.wg.add(back[:, :], back[:, :], back[:, :])
        Tx.wg.copy(B[begin : begin + 128, :], back[:, :])

        # All have loaded what they need: free the columns. Barriers order tensor memory only
        # between these two fences.
        T.ptx.tcgen05.fence.before_thread_sync()
        T.cuda.cta_sync()
        if warp == 0:
            T.ptx.tcgen05.fence.after_thread_sync()
            T.ptx.tcgen05.dealloc(address[0], n_cols=columns, cta_group=1)

    return {{name}}


kernel = build()
