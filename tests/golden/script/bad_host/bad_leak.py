#: kernel = kernel
from tvm.script import tirx as T

LIST, TABLE = [], {}


class Holder:
    pass


HOLDER = Holder()


def keep(x):
    global KEPT
    KEPT = x


@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    LIST.append(tid)
    TABLE["tid"] = [tid + 1]
    HOLDER.buffer = B
    keep(lambda: tid)
    LIST.append(5)
    TABLE["shape"] = "a text"
    local = []
    local.append(tid)
    B[local[0]] = 1.0
#--- expected
bad_leak.py:16:5: error: a value of kernel `kernel` is put into an object that is older than the kernel [ReadOnly]
        KEPT = x
        ^~~~
bad_leak.py:28:5: note: in a call of `keep`
        keep(lambda: tid)
        ^~~~~~~~~~~~~~~~~
bad_leak.py:25:5: error: a value of kernel `kernel` is put into an object that is older than the kernel [ReadOnly]
        LIST.append(tid)
        ^~~~~~~~~~~~~~~~
bad_leak.py:26:5: error: a value of kernel `kernel` is put into an object that is older than the kernel [ReadOnly]
        TABLE["tid"] = [tid + 1]
        ^~~~~~~~~~~~~~~~~~~~~~~~
bad_leak.py:27:5: error: a value of kernel `kernel` is put into an object that is older than the kernel [ReadOnly]
        HOLDER.buffer = B
        ^~~~~~~~~~~~~
