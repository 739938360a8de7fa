# Y = 2 X + Z, eight neighbours at a time: the rounds of a loop over T.vectorized become accesses of 16
# bytes where the elements follow each other and are aligned. The results are those of single rounds.
#
#   warpwright run examples/basics/vectorized.py --expect 'Y == 2 * X + Z'
#   warpwright explain examples/basics/vectorized.py
from tvm.script import tirx as T

ROWS, THREADS, EACH = 4, 64, 8
COLUMNS = THREADS * EACH

@T.prim_func
def kernel(X: T.Buffer((ROWS, COLUMNS), "float16"), Z: T.Buffer((ROWS, COLUMNS), "float16"),
           Y: T.Buffer((ROWS, COLUMNS), "float16")):
    T.device_entry()
    row = T.cta_id([ROWS])
    tid = T.thread_id([THREADS])
    part = T.alloc_buffer((EACH,), "float16", scope="local")
    for v in T.vectorized(EACH):                     # one ld.global.v4 of 16 bytes
        part[v] = X[row, tid * EACH + v] * T.float16(2)
    for v in T.vectorized(EACH):                     # another, and one st.global.v4
        Y[row, tid * EACH + v] = part[v] + Z[row, tid * EACH + v]
