# What the package's language does not have.
from warpwright import kernel
from warpwright.lang import T, lanid


@kernel
def fill(A: T.Buffer((32,), "int32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    A[t] = T.int32(lanid)
#--- expected
bad_name.py:11:12: error: this value is not known at compile time: `lanid` of module `warpwright.lang` is not modelled [Opaque]
        A[t] = T.int32(lanid)
               ^~~~~~~~~~~~~~
bad_name.py:3:32: note: it comes from here
    from warpwright.lang import T, lanid
                                   ^~~~~
