#: kernel = build()
from tvm.script import tirx as T


def build():
    squares = [i * i for i in range(6) if i % 2 == 0]
    table = {name: i for i, name in enumerate(["a", "b", "c"])}
    table["d"] = len(squares)
    table |= {"e": 5}
    pairs = list(zip(squares, reversed(squares)))
    merged = {**table, "a": 10}
    first, *rest = sorted(merged.values(), key=lambda v: -v)
    flags = {x % 3 for x in range(10)}
    grid = [(i, j) for i in range(2) for j in range(i, 3)]
    total = sum(a * b for a, b in pairs) + first + sum(rest[1:3]) + len(flags) + len(grid)
    rest.insert(0, 7)
    rest.extend([1, 2])
    del rest[-1]
    assert rest.pop() == 1 and rest[0] == 7 and 7 in rest and 70 not in rest
    assert merged.get("z", 3) == 3 and "a" in merged and list(merged)[::-1][0] == "e"
    assert [*range(10)][2:8:3] == [2, 5] and "abcdef"[-3:] == "def" and (1, 2) < (1, 3)
    assert max([3, 1, 2]) == 3 and min(4, 2) == 2 and any(flags) and not all(squares)
    assert next(x for x in squares if x > 3) == 4 and {1, 2} | {2, 3} == {3, 2, 1}

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (total,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(max(squares, key=lambda s: -s))
    return kernel
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (39,))
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(0.0)
