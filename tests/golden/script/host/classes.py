#: kernel = Wide(3).kernel()
from tvm.script import tirx as T


class Base:
    LANES = 32

    def __init__(self, n):
        self.n = n

    def size(self):
        return self.n * self.LANES

    def value(self):
        return 1

    @staticmethod
    def scaled(x):
        return 10 * x

    @classmethod
    def made(cls, n):
        return cls(n + 1)


class Wide(Base):
    def value(self):
        return value() + self.scaled(2)

    def kernel(self):
        assert isinstance(self, Base) and not isinstance(Base(1), Wide)
        more = Wide.made(self.n)

        @T.prim_func
        def kernel(B_ptr: T.handle):
            B = T.match_buffer(B_ptr, (more.size(),), "float32")
            T.device_entry()
            T.cta_id([1])
            tid = T.thread_id([32])
            B[tid] = T.float32(self.value())
        return kernel


def value():
    return 5  # not the method
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (128,))
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(25.0)
