from tvm.script import tirx as T


@T.prim_func
def f(A: T.Buffer((32,), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([128])
    a = T.cuda.decl_tmem(T.uint32(0), ty_args=[])
    b = T.cuda.decl_tmem(T.uint32(0), ty_args=["float32"])
    c = T.cuda.decl_tmem(T.uint32(0))
    d = T.cuda.decl_tmem(T.uint32(0), ty_args=[T.Tensor((128, 32), "float32", scope="tmem")])
#--- expected
bad_decl_tmem.py:9:47: error: `ty_args` of `T.cuda.decl_tmem`, expected `[T.Tensor(shape, dtype, scope="tmem", layout=…)]` [BadArgument]
        a = T.cuda.decl_tmem(T.uint32(0), ty_args=[])
                                                  ^~
bad_decl_tmem.py:10:47: error: `ty_args` of `T.cuda.decl_tmem`, expected `[T.Tensor(shape, dtype, scope="tmem", layout=…)]` [BadArgument]
        b = T.cuda.decl_tmem(T.uint32(0), ty_args=["float32"])
                                                  ^~~~~~~~~~~
bad_decl_tmem.py:11:9: error: `T.cuda.decl_tmem` without `ty_args` [BadArgument]
        c = T.cuda.decl_tmem(T.uint32(0))
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: it takes (address, ty_args)
