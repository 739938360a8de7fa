#: kernel = build("float", 16)
from tvm.script import tirx as T


def build(kind, bits):
    dtype = f"{kind}{bits}"
    name, width = "x", 6
    assert f"{bits:04d}|{bits:x}|{bits:#b}|{3.14159:.2f}" == "0016|10|0b10000|3.14"
    assert f"{name!r:>5}|{name:<3}|{name:^{width}}|" == "  'x'|x  |  x   |"
    assert f"{bits=}" == "bits=16" and f"{(1, 2)} {[1.0]} {True}" == "(1, 2) [1.0] True"
    assert f"{1234567:,}" == "1,234,567" and f"{0.25:.0%}" == "25%" and f"{{}}" == "{}"
    assert "-".join(["a", "b"]).upper() == "A-B" and "a b".split() == ["a", "b"]
    assert dtype.startswith("float") and dtype.replace("16", "32") == "float32"
    assert "x" * 3 + "y" == "xxxy" and str(2**70) == "1180591620717411303424"

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (bits,), dtype)
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([bits])
        B[tid] = T.cast(tid, dtype)

    return kernel
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (16,), "float16")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([16])
    B[tid] = T.Cast("float16", tid)
