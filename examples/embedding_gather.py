# Gathers rows of a table by their numbers, as an embedding layer does: out[i] = table[ids[i]]. Padding is
# marked by ids out of range (-1, say), whose rows are filled with zeros. Each block has some of the
# tokens. The rows go straight into registers, 16 bytes at a time; neighbouring threads read
# neighbouring parts of a row.
#
#   warpwright run examples/embedding_gather.py --expect 'out == table[:64, :]'
#   warpwright run examples/embedding_gather.py --arg ids=full:-1 --expect 'out == 0'
#   warpwright explain examples/embedding_gather.py
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, tx


def build(words=1000, width=256, tokens=64, each=16):
    # 8 elements of a row in each of 32 threads, 4 rows at a time
    rows = TileLayout(S[(each // 4, 4, 32, 8) : (8, 32 @ tx, 1 @ tx, 1)])

    @T.prim_func
    def embedding_gather(table_ptr: T.handle, ids_ptr: T.handle, out_ptr: T.handle):
        table = T.match_buffer(table_ptr, (words, width), "float16")
        ids = T.match_buffer(ids_ptr, (tokens,), "int64")
        out = T.match_buffer(out_ptr, (tokens, width), "float16")
        T.device_entry()
        b = T.cta_id([tokens // each])
        T.thread_id([128])
        R = T.alloc_buffer((each, width), "float16", scope="local", layout=rows)
        Tx.cta.gather(R, table[:, :], ids[b * each : b * each + each], fill_value=0)
        Tx.cta.copy(out[b * each : b * each + each, :], R)

    return embedding_gather


kernel = build()
