#: kernel = build(Config(rows=4, tile=Tile(2, 3)))
from dataclasses import dataclass

from tvm.script import tirx as T


@dataclass(frozen=True)
class Tile:
    m: int
    n: int = 8


@dataclass
class Config:
    """Sizes, and what follows from them."""

    tile: Tile
    rows: int = 1
    dtype: str = "float32"

    def __post_init__(self):
        self.total = self.rows * self.size

    @property
    def size(self):
        return self.tile.m * self.tile.n


def build(config):
    assert config == Config(Tile(2, 3), 4)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (config.total,), config.dtype)
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(config.size)
    return kernel
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (24,))
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(6.0)
