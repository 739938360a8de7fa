# A tile goes through tensor memory, with one of several mistakes: docs/guide/tensor_memory.md.
#
#   warpwright run examples/findings/tensor_memory.py --kernel 'build("no wait::ld")'
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import tmem_datapath_layout, wg_local_layout


def build(mistake="no wait::ld"):
    first = 31 if mistake == "column 32" else 0  # of the two columns that are used

    @T.prim_func
    def there_and_back(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (128, 2), "float32")
        B = T.match_buffer(B_ptr, (128, 2), "float32")
        T.device_entry()
        T.warpgroup_id([1])
        warp = T.warp_id([4])
        lane = T.lane_id([32])
        tmem_addr = T.alloc_shared([1], "uint32")
        registers = T.alloc_buffer((128, 2), "float32", scope="local", layout=wg_local_layout(2))
        own = registers.local(2)
        if warp == 0:
            T.ptx.tcgen05.alloc(T.address_of(tmem_addr), n_cols=32, cta_group=1)
            T.ptx.tcgen05.relinquish_alloc_permit(cta_group=1)
        T.cuda.cta_sync()
        tile = T.decl_buffer((128, 64), "float32", scope="tmem", allocated_addr=tmem_addr[0],
                             layout=tmem_datapath_layout("D", 128, 64))
        Tx.wg.copy(registers[:, :], A[:, :])
        Tx.wg.copy_async(tile[:, first : first + 2], registers[:, :])
        if mistake != "no wait::st":
            T.ptx.tcgen05.wait.st()
        if mistake == "another quarter":
            T.ptx.tcgen05.ld(tmem_addr[0], own[0], shape="32x32b", num=1, row=32, col=0)
        Tx.wg.copy_async(registers[:, :], tile[:, first : first + 2])
        if mistake != "no wait::ld":
            T.ptx.tcgen05.wait.ld()
        for i in T.unroll(2):
            own[i] = own[i] + own[i]
        Tx.wg.copy(B[:, :], registers[:, :])
        T.cuda.cta_sync()
        if mistake != "no dealloc":
            if warp == 0:
                T.ptx.tcgen05.dealloc(tmem_addr[0], n_cols=32, cta_group=1)

    return there_and_back
