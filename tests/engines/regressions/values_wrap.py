# Values wrap around at their width: a remainder, a condition and a name of a product that overflows. Lowered code took the
# product for a whole number, and the condition for decided.
from tvm.script import tirx as T


@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (128, 4), "int32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([128])
    mixed = tid * 1103515245 + 12345
    B[tid, 0] = mixed % 1000
    B[tid, 1] = tid * 1103515244 % 4
    B[tid, 2] = (tid * 65536 * 65536 + tid) // 3
    if mixed < 0:
        B[tid, 3] = 1
    else:
        B[tid, 3] = 2
