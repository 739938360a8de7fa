# The id of a CTA in its cluster is declared, not looped over; a tensor map has no address.
from tvm.script import tirx as T


@T.prim_func
def f(A: T.Buffer((32,), "float32"), A_map: T.TensorMap()):
    T.device_entry()
    T.cta_id([4])
    t = T.thread_id([32])
    T.evaluate(T.address_of(A_map))
    for c in T.thread_binding(4, thread="clusterCtaIdx.x"):
        A[t] = 0.0
#--- expected
bad_cluster_binding.py:10:29: error: the address of a pointer or a tensor map is not taken: the name of a map stands for its address [BadType]
        T.evaluate(T.address_of(A_map))
                                ^~~~~
bad_cluster_binding.py:11:41: error: a loop over `clusterCtaIdx.x`, expected `blockIdx` or `threadIdx` with `.x`, `.y` or `.z` [BadArgument]
        for c in T.thread_binding(4, thread="clusterCtaIdx.x"):
                                            ^~~~~~~~~~~~~~~~~
  note: `T.cta_id_in_cluster([n])` declares this id
