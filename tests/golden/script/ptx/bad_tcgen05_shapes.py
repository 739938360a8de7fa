# Forms that no load or store of tensor memory has.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    addr = T.alloc_shared([1], "uint32")
    r = T.alloc_local((4,), "uint32")
    T.ptx["tcgen05.ld.sync.aligned.16x32bx2.x1.b32"](r[0], addr[0])
    T.ptx["tcgen05.ld.sync.aligned.32x32b.x1.unpack::16b.b32"](r[0], addr[0])
    T.ptx["tcgen05.st.sync.aligned.16x256b.x64.b32"](addr[0], r[0])
#--- expected
bad_tcgen05_shapes.py:9:5: error: `tcgen05.ld.sync.aligned.16x32bx2.x1.b32` with 2 operands [BadOperand]
        T.ptx["tcgen05.ld.sync.aligned.16x32bx2.x1.b32"](r[0], addr[0])
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: its form is `tcgen05.ld.sync{.aligned}.16x32bx2.num{.pack::16b}.b32 {r…}, [taddr], half_split`; registers in braces count one by one
bad_tcgen05_shapes.py:10:5: error: `.unpack::16b` does not go with the other modifiers of `tcgen05.ld` [IllegalForm]
        T.ptx["tcgen05.ld.sync.aligned.32x32b.x1.unpack::16b.b32"](r[0], addr[0])
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the nearest form is `tcgen05.ld.sync{.aligned}.32x32b|.16x64b|.16x128b|.16x256b.num{.pack::16b}.b32 {r…}, [taddr]`
bad_tcgen05_shapes.py:11:5: error: `.16x256b` goes up to `.x32` [IllegalForm]
        T.ptx["tcgen05.st.sync.aligned.16x256b.x64.b32"](addr[0], r[0])
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the nearest form is `tcgen05.st.sync{.aligned}.32x32b|.16x64b|.16x128b|.16x256b.num{.unpack::16b}.b32 [taddr], {r…}`
