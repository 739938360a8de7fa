from tvm.tirx.layout import S, TileLayout, laneid, TLane

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (64,), "float32")
    T.device_entry()
    t = T.thread_id([32])
    s = T.alloc_buffer((32, 2), "float32", scope="shared", layout=TileLayout(S[(32, 2) : (1 @ laneid, 1)]))
    r = T.alloc_buffer((32, 2), "float32", scope="local", layout=TileLayout(S[(32, 2) : (1 @ TLane, 1)]))
    x = T.alloc_local((1 << 20,), "float32")
    y = T.alloc_shared((1 << 40,), "float32")
#--- expected
bad_axes.py:8:9: error: the layout of `s` places elements along `laneid`, expected `m` only: it is one memory [BadBuffer]
        s = T.alloc_buffer((32, 2), "float32", scope="shared", layout=TileLayout(S[(32, 2) : (1 @ laneid, 1)]))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: only registers, `scope="local"`, are spread over threads
bad_axes.py:9:9: error: the layout of `r` places elements along `TLane`, expected threads and `m`, as registers have [BadBuffer]
        r = T.alloc_buffer((32, 2), "float32", scope="local", layout=TileLayout(S[(32, 2) : (1 @ TLane, 1)]))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `TLane` and `TCol` are those of tensor memory, `scope="tmem"`
bad_axes.py:10:9: error: `x` takes 4194304 bytes of each thread; a thread has 524288 [BadBuffer]
        x = T.alloc_local((1 << 20,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_axes.py:11:9: error: `y` of shape (1099511627776) has more than the 274877906944 elements that a buffer may have [BadBuffer]
        y = T.alloc_shared((1 << 40,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
