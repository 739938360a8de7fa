# A pointer to a place of the storage, counted in elements.
from tvm.script import tirx as T


@T.prim_func
def f(A: T.Buffer((4, 16), "uint32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    s = T.alloc_buffer((4, 16), "uint32", scope="shared")
    part = T.decl_buffer((16,), "uint32", data=s.data, elem_offset=16)
    word: T.uint32
    T.ptx["ld.shared.u32"](word, s.access_ptr("r"))
    T.ptx["ld.shared.u32"](word, s.access_ptr("r", offset=4))
    T.ptx["ld.shared.u32"](word, s.access_ptr("r", offset=0))
    T.ptx["ld.shared.u32"](word, s.access_ptr("r", offset=4, extent=0))
    T.ptx["st.shared.u32"](part.access_ptr("w", offset=t % 16), word)
    A[0, t % 16] = word
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(A: T.Buffer((4, 16), "uint32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    s = T.alloc_buffer((4, 16), "uint32", scope="shared")
    part = T.decl_buffer((16,), "uint32", data=s.data, elem_offset=16, scope="shared")
    word: T.uint32
    T.ptx["ld.shared.u32"](word, T.address_of(s[0, 0]))
    T.ptx["ld.shared.u32"](word, T.pointer_offset(T.address_of(s[0, 0]), 4))
    T.ptx["ld.shared.u32"](word, T.address_of(s[0, 0]))
    T.ptx["ld.shared.u32"](word, T.pointer_offset(T.address_of(s[0, 0]), 4))
    T.ptx["st.shared.u32"](T.pointer_offset(T.address_of(part[0]), t % 16), word)
    A[0, t % 16] = word
