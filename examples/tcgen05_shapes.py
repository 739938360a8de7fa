# B = A through tensor memory, with layouts that the caller chooses: the one in registers, and the one in tensor
# memory. Which instructions the two copies become follows from them.
#
#   warpwright run examples/tcgen05_shapes.py --expect 'B == A'
#   warpwright explain examples/tcgen05_shapes.py --kernel 'build(64, datapath("F", 64, 32, 1))'
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TCol, TileLayout, TLane, laneid, tid_in_wg, wid_in_wg
from tvm.tirx.layout import tcgen05_atom_layout, tmem_datapath_layout

datapath = tmem_datapath_layout


def atom(shape, rows, cols, dtype="float32"):
    return tcgen05_atom_layout(shape, (rows, cols), dtype)


def build(rows=64, tile=datapath("F", 64, 32), registers=atom("16x256b", 64, 32), dtype="float32"):
    cols = registers.size() // rows

    @T.prim_func
    def there_and_back(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (rows, cols), dtype)
        B = T.match_buffer(B_ptr, (rows, cols), dtype)
        T.device_entry()
        T.warpgroup_id([1])
        warp = T.warp_id([4])
        T.lane_id([32])
        tmem_addr = T.alloc_shared([1], "uint32")
        source = T.alloc_buffer((rows, cols), dtype, scope="local", layout=registers)
        result = T.alloc_buffer((rows, cols), dtype, scope="local", layout=registers)
        if warp == 0:
            T.ptx.tcgen05.alloc(T.address_of(tmem_addr), n_cols=512, cta_group=1)
            T.ptx.tcgen05.relinquish_alloc_permit(cta_group=1)
        T.cuda.cta_sync()
        held = T.decl_buffer((rows, cols), dtype, scope="tmem", allocated_addr=tmem_addr[0],
                             layout=tile)
        Tx.wg.copy(source[:, :], A[:, :])
        Tx.wg.copy_async(held[:, :], source[:, :])
        T.ptx.tcgen05.wait.st()
        Tx.wg.copy_async(result[:, :], held[:, :])
        T.ptx.tcgen05.wait.ld()
        Tx.wg.copy(B[:, :], result[:, :])
        T.cuda.cta_sync()
        if warp == 0:
            T.ptx.tcgen05.dealloc(tmem_addr[0], n_cols=512, cta_group=1)

    return there_and_back


kernel = build()
