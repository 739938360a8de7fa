@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    T.cta_id_in_cluster([32])
    T.cta_id([64])
    T.thread_id([32])
    A[0, 0] = 1.0
#--- expected
bad_cluster.py:5:5: error: a cluster has 32 CTAs: at most 16 are possible [BadScopeIds]
        T.cta_id_in_cluster([32])
        ^~~~~~~~~~~~~~~~~~~~~~~~~
