# Parts that are used again and again get names.
from tvm.script import tirx as T


def doubled(x):
    for i in range(20):
        x = x + x
    return x


@T.prim_func
def k(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (64,), "float32")
    B = T.match_buffer(B_ptr, (64,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([64])
    B[tid] = doubled(A[tid])
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def k(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (64,))
    B = T.match_buffer(B_ptr, (64,))
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([64])
    part: T.let[T.float32] = A[tid] + A[tid] + (A[tid] + A[tid]) + (A[tid] + A[tid] + (A[tid] + A[tid])) + (A[tid] + A[tid] + (A[tid] + A[tid]) + (A[tid] + A[tid] + (A[tid] + A[tid]))) + (A[tid] + A[tid] + (A[tid] + A[tid]) + (A[tid] + A[tid] + (A[tid] + A[tid])) + (A[tid] + A[tid] + (A[tid] + A[tid]) + (A[tid] + A[tid] + (A[tid] + A[tid]))))
    part_1: T.let[T.float32] = part + part + (part + part) + (part + part + (part + part)) + (part + part + (part + part) + (part + part + (part + part))) + (part + part + (part + part) + (part + part + (part + part)) + (part + part + (part + part) + (part + part + (part + part)))) + (part + part + (part + part) + (part + part + (part + part)) + (part + part + (part + part) + (part + part + (part + part))) + (part + part + (part + part) + (part + part + (part + part)) + (part + part + (part + part) + (part + part + (part + part)))))
    part_2: T.let[T.float32] = part_1 + part_1 + (part_1 + part_1) + (part_1 + part_1 + (part_1 + part_1)) + (part_1 + part_1 + (part_1 + part_1) + (part_1 + part_1 + (part_1 + part_1))) + (part_1 + part_1 + (part_1 + part_1) + (part_1 + part_1 + (part_1 + part_1)) + (part_1 + part_1 + (part_1 + part_1) + (part_1 + part_1 + (part_1 + part_1)))) + (part_1 + part_1 + (part_1 + part_1) + (part_1 + part_1 + (part_1 + part_1)) + (part_1 + part_1 + (part_1 + part_1) + (part_1 + part_1 + (part_1 + part_1))) + (part_1 + part_1 + (part_1 + part_1) + (part_1 + part_1 + (part_1 + part_1)) + (part_1 + part_1 + (part_1 + part_1) + (part_1 + part_1 + (part_1 + part_1)))))
    B[tid] = part_2 + part_2 + (part_2 + part_2) + (part_2 + part_2 + (part_2 + part_2))
