@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float16")
    A_map: T.handle("tensormap") = T.tvm_stack_alloca("tensormap", 1)
    B_map: T.let[T.handle("tensormap")] = T.stack_alloca("tensormap", 1)
    T.device_entry()
    tx = T.thread_id([32])
#--- expected
bad_tensormap.py:4:38: error: `T.tvm_stack_alloca` is not taken: `T.tensor_map` before `T.device_entry()` makes a tensor map by hand [UnknownName]
        A_map: T.handle("tensormap") = T.tvm_stack_alloca("tensormap", 1)
                                         ^~~~~~~~~~~~~~~~
bad_tensormap.py:5:45: error: `T.stack_alloca` is not taken: `T.tensor_map` before `T.device_entry()` makes a tensor map by hand [UnknownName]
        B_map: T.let[T.handle("tensormap")] = T.stack_alloca("tensormap", 1)
                                                ^~~~~~~~~~~~
