# Loads from tensor memory that no instruction does, for docs/guide/tensor_memory.md:
#
#   warpwright explain examples/refused/tensor_memory.py --kernel 'build("lanes")'
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, laneid, tmem_datapath_layout, wg_local_layout, wid_in_wg

CASES = {
    # The upper half of a 32-bit column in a lower half of a register.
    "columns": dict(dtype="float16", first=1, registers=wg_local_layout(8)),
    # Warp 2 would hold cells in the quarter of warp 1.
    "lanes": dict(registers=TileLayout(
        S[(2, 2, 32, 8) : (1 @ wid_in_wg, 2 @ wid_in_wg, 1 @ laneid, 1)])),
    # Lanes of the warp in an order that no instruction has.
    "shape": dict(registers=TileLayout(
        S[(4, 4, 8, 8) : (1 @ wid_in_wg, 1 @ laneid, 4 @ laneid, 1)])),
    # A quarter of the warpgroup, where all of it must arrive.
    "warps": dict(warps=1, registers=wg_local_layout(8)),
    # Too wide for a column.
    "dtype": dict(dtype="float64", registers=wg_local_layout(8)),
}


def build(case="lanes"):
    how = CASES[case]
    dtype, first, warps = how.get("dtype", "float32"), how.get("first", 0), how.get("warps", 4)

    @T.prim_func
    def load(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (128, 8), dtype)
        T.device_entry()
        T.warpgroup_id([1])
        warp = T.warp_id([4])
        T.lane_id([32])
        tmem_addr = T.alloc_shared([1], "uint32")
        registers = T.alloc_buffer((128, 8), dtype, scope="local", layout=how["registers"])
        tile = T.decl_buffer((128, 16), dtype, scope="tmem", allocated_addr=tmem_addr[0],
                             layout=tmem_datapath_layout("D", 128, 16))
        if warp < warps:
            Tx.wg.copy_async(registers[:, :], tile[:, first : first + 8])
            T.ptx.tcgen05.wait.ld()
            Tx.wg.copy(B[:, :], registers[:, :])

    return load
