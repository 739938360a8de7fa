@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (64,), "float32")
    T.device_entry()
    block = T.cta_id([2])
    t = T.thread_id([32])
    x = T.blockIdx
    y = T.alloc_fragment((4,), "float32")
    z = exp(A[0])
    w = math.exp(1.0)
    l = [i for i in range(block)]
    T.syncthreads()
#--- expected
bad_other_languages.py:7:11: error: `T` has no `blockIdx`; did you mean `cta_id`? [UnknownName]
        x = T.blockIdx
              ^~~~~~~~
bad_other_languages.py:8:11: error: `T` has no `alloc_fragment`; did you mean `alloc_local`? [UnknownName]
        y = T.alloc_fragment((4,), "float32")
              ^~~~~~~~~~~~~~
bad_other_languages.py:9:9: error: `exp` has no value here; did you mean `T.exp`? [UnknownName]
        z = exp(A[0])
            ^~~
bad_other_languages.py:10:9: error: `math` has no value here [UnknownName]
        w = math.exp(1.0)
            ^~~~
  note: `import math` brings it
bad_other_languages.py:11:21: error: this runs at compile time, and how often is known at run time only [HostError]
        l = [i for i in range(block)]
                        ^~~~~~~~~~~~
  note: a `for` statement loops at run time
bad_other_languages.py:12:7: error: `T` has no `syncthreads`; did you mean `cuda.cta_sync`? [UnknownName]
        T.syncthreads()
          ^~~~~~~~~~~
