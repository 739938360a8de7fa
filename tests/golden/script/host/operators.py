# Python's operators as functions.
import functools
import operator
from tvm.script import tirx as T

count = functools.reduce(operator.mul, (4, 8, 2), 1)
bytes_of = functools.reduce(operator.add, [count, 4], 0)
assert operator.floordiv(7, 2) == 3 and operator.mod(7, 2) == 1 and operator.sub(7, 2) == 5
assert operator.truediv(1, 2) == 0.5 and operator.and_(6, 3) == 2 and operator.or_(6, 3) == 7 and operator.xor(6, 3) == 5


@T.prim_func
def f(A: T.Buffer((count,), "int32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([count])
    A[t] = operator.add(t, bytes_of)
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(A: T.Buffer((64,), "int32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([64])
    A[t] = t + 68
