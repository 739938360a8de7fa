# No barrier between writing shared memory and reading what other threads wrote:
# docs/guide/language_tour.md.
#
#   warpwright run examples/findings/race.py


@T.prim_func
def reverse(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (64,), "float32")
    B = T.match_buffer(B_ptr, (64,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([64])
    tile = T.alloc_shared((64,), "float32")
    tile[tid] = A[tid]
    B[tid] = tile[63 - tid]
