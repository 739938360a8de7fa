@T.prim_func
def f(a: T.handle, n: T.int32):
    A = T.match_buffer(a, (100,), "float32")
    T.device_entry()
    bx, by = T.cta_id([3, 5])
    warp = T.warp_id([4])
    T.lane_id([32])
    s = T.alloc_shared((32,), "float32")
    # before the start, in one CTA
    first: T.let = by * 16 - 1
    Tx.cta.copy(s[:], A[first : first + 32])
    # past the end, in the last warp
    Tx.warp.copy(s[:], A[warp * 32 : warp * 32 + 32])
    Tx.warp.copy(A[warp * 32 : warp * 32 + 32], s[:])
    # in a round of a loop
    for k in range(4):
        Tx.cta.copy(s[:], A[k * 32 : k * 32 + 32])
    Tx.cta.fill(A[bx * 50 : bx * 50 + 10], 0.0)
    # guarded, or known at run time only
    if by > 0:
        Tx.cta.copy(s[:], A[first : first + 32])
    Tx.cta.copy(s[:], A[first : first + 32], predicate=by > 0)
    Tx.cta.copy(s[:], A[first : first + 32], fill_mode="zero")
    Tx.cta.copy(s[:], A[by * n - 1 : by * n + 31])
    if n > 3:
        Tx.cta.copy(s[:], A[first : first + 32])
    for k in range(4):
        if k == 3:
            break
        Tx.cta.copy(s[:], A[k * 32 : k * 32 + 32])
#--- expected
bad_region_ids.py:11:23: error: a region takes 32 from -1 in dimension 0 of `A`, which has extent 100, where by = 0 [OutOfBounds]
        Tx.cta.copy(s[:], A[first : first + 32])
                          ^~~~~~~~~~~~~~~~~~~~~
bad_region_ids.py:3:9: note: declared here
        A = T.match_buffer(a, (100,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: with `fill_value=0` zeros arrive for what lies outside the source
bad_region_ids.py:13:24: error: a region takes 32 from 96 in dimension 0 of `A`, which has extent 100, where warp = 3 [OutOfBounds]
        Tx.warp.copy(s[:], A[warp * 32 : warp * 32 + 32])
                           ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_region_ids.py:3:9: note: declared here
        A = T.match_buffer(a, (100,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: with `fill_value=0` zeros arrive for what lies outside the source
bad_region_ids.py:14:18: error: a region takes 32 from 96 in dimension 0 of `A`, which has extent 100, where warp = 3 [OutOfBounds]
        Tx.warp.copy(A[warp * 32 : warp * 32 + 32], s[:])
                     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
bad_region_ids.py:3:9: note: declared here
        A = T.match_buffer(a, (100,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: with `clip=True` a copy writes nothing outside its destination
bad_region_ids.py:17:27: error: a region takes 32 from 96 in dimension 0 of `A`, which has extent 100, where k = 3 [OutOfBounds]
            Tx.cta.copy(s[:], A[k * 32 : k * 32 + 32])
                              ^~~~~~~~~~~~~~~~~~~~~~~
bad_region_ids.py:3:9: note: declared here
        A = T.match_buffer(a, (100,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: with `fill_value=0` zeros arrive for what lies outside the source
bad_region_ids.py:18:17: error: a region takes 10 from 100 in dimension 0 of `A`, which has extent 100, where bx = 2 [OutOfBounds]
        Tx.cta.fill(A[bx * 50 : bx * 50 + 10], 0.0)
                    ^~~~~~~~~~~~~~~~~~~~~~~~~
bad_region_ids.py:3:9: note: declared here
        A = T.match_buffer(a, (100,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
