# Y[s] has the first lens[s] rows of sequence s, gathered from a paged cache: position p is row
# p % page of the page that table[s, p // page] names. A block takes a sequence and each of its warps
# every fourth position. The bounds of the loop are the same in a warp, because they come from its
# number and from memory that the kernel only reads: so the loop may hold a copy that a warp makes
# together.
#
#   warpwright run examples/paged_lookup.py --arg lens=list:20,0,64,1 --expect 'Y[0, 16:20] == cache[1, :4]'
#   warpwright compile examples/paged_lookup.py --emit threads
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx


def build(sequences=4, longest=64, pages=32, page=16, width=256, warps=4, dtype="float16"):
    @T.prim_func
    def paged_lookup(cache_ptr: T.handle, table_ptr: T.handle, lens_ptr: T.handle, Y_ptr: T.handle):
        cache = T.match_buffer(cache_ptr, (pages, page, width), dtype)
        table = T.match_buffer(table_ptr, (sequences, (longest + page - 1) // page), "int32")
        lens = T.match_buffer(lens_ptr, (sequences,), "int32")
        Y = T.match_buffer(Y_ptr, (sequences, longest, width), dtype)
        T.device_entry()
        s = T.cta_id([sequences])
        warp = T.warp_id([warps])
        T.lane_id([32])
        for p in T.serial(warp, lens[s], step=warps):
            Tx.warp.copy(Y[s, p, :], cache[table[s, p // page], p % page, :])

    return paged_lookup


kernel = build()
