# A kernel that needs a number that only NumPy knows: docs/reference/language.md.
#
#   warpwright run examples/errors/opaque.py
import numpy as np

width = np.load("width.npy")[0]


@T.prim_func
def kernel(A_ptr: T.handle):
    A = T.match_buffer(A_ptr, (32, width), "float32")
    T.device_entry()
    lane = T.lane_id([32])
    A[lane, 0] = T.float32(0)
