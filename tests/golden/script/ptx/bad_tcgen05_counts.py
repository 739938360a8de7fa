# Registers and numbers that do not fit the shape.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    addr = T.alloc_shared([1], "uint32")
    r = T.alloc_local((4,), "uint32")
    T.ptx.tcgen05.ld(addr[0], r[0], r[1], shape="16x128b", num=2)
    T.ptx.tcgen05.ld(addr[0], r[0], shape="16x512b", num=1)
    T.ptx.tcgen05.ld(addr[0], r[0], r[1], r[2], shape="16x32bx2", num=3)
    T.ptx.tcgen05.st(addr[0], r[0], shape="16x32bx2", num=2)
    T.ptx["tcgen05.ld.sync.aligned.16x32bx2.x1.b32"](r[0], addr[0], r[1])
#--- expected
bad_tcgen05_counts.py:9:5: error: `tcgen05.ld.sync.aligned.16x128b.x2.b32` with 3 operands; its form is `tcgen05.ld.sync{.aligned}.32x32b|.16x64b|.16x128b|.16x256b.num{.pack::16b}.b32 {r…}, [taddr]` [BadOperand]
        T.ptx.tcgen05.ld(addr[0], r[0], r[1], shape="16x128b", num=2)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_tcgen05_counts.py:10:5: error: `tcgen05.ld` has no modifier `.16x512b`; did you mean `.16x128b`? [IllegalForm]
        T.ptx.tcgen05.ld(addr[0], r[0], shape="16x512b", num=1)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the nearest form is `tcgen05.ld.sync{.aligned}.32x32b|.16x64b|.16x128b|.16x256b.num{.pack::16b}.b32 {r…}, [taddr]`
bad_tcgen05_counts.py:11:5: error: `tcgen05.ld` has no modifier `.x3`; did you mean `.x1`? [IllegalForm]
        T.ptx.tcgen05.ld(addr[0], r[0], r[1], r[2], shape="16x32bx2", num=3)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: the nearest form is `tcgen05.ld.sync{.aligned}.16x32bx2.num{.pack::16b}.b32 {r…}, [taddr], half_split`
bad_tcgen05_counts.py:12:5: error: `tcgen05.st.sync.aligned.16x32bx2.x2.b32` with 3 operands; its form is `tcgen05.st.sync{.aligned}.16x32bx2.num{.unpack::16b}.b32 [taddr], half_split, {r…}` [BadOperand]
        T.ptx.tcgen05.st(addr[0], r[0], shape="16x32bx2", num=2)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_tcgen05_counts.py:13:69: error: operand `half_split` of `tcgen05.ld` must be a constant [BadOperand]
        T.ptx["tcgen05.ld.sync.aligned.16x32bx2.x1.b32"](r[0], addr[0], r[1])
                                                                        ^~~~
