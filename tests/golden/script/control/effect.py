# Expression statements that do something, or that Python has for the sake of its form.
names = []


@T.inline
def fill(B, value):
    """Fills a row."""
    for i in range(4):
        B[i] = value
    ...


@T.inline
def nothing(B):
    """Does nothing."""


@T.prim_func
def f(a: T.handle):
    """What the kernel does."""
    A = T.match_buffer(a, (16,), "float32")
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    T.lane_id([32])
    ...
    pass
    names.append("x")
    fill(A, 1.0)
    nothing(A)
    [fill(A, v) for v in (2.0, 3.0)]
    fill(A, 4.0) if len(names) > 0 else None
    len(names) > 0 and fill(A, 5.0)
    fill(A, 6.0) if len(names) > 1 else None
    len(names) > 1 and fill(A, 7.0)
    [fill(A, v) for v in ()]
    (n := 3)
    T.cuda.printf("%d\n", n)
    T.evaluate(n)
    T.cuda.cta_sync()
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16,))
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    T.lane_id([32])
    for i in range(4):
        A[i] = T.float32(1.0)
    for i in range(4):
        A[i] = T.float32(2.0)
    for i in range(4):
        A[i] = T.float32(3.0)
    for i in range(4):
        A[i] = T.float32(4.0)
    for i in range(4):
        A[i] = T.float32(5.0)
    T.cuda.printf("%d\n", 3)
    T.evaluate(3)
    T.cuda.cta_sync()
