# SPDX-License-Identifier: Apache-2.0
"""The memory that kernels see: tensors where they lie, each at an address of its own.

Addresses of the virtual GPU are far apart and the same in every run, so that an index that is off by a
little does not land in another tensor. Bytes that nothing has written are marked from launch to launch.
"""

from __future__ import annotations

import contextlib
import linecache
import math
import re
import sys
import traceback
import weakref
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Iterable
from unittest import mock

import numpy as np

_FIRST_ADDRESS = 1 << 40
_GAP = 1 << 20
_OWN_FOLDER = str(Path(__file__).parent.parent)


@dataclass(frozen=True)
class Place:
    """A line of the program."""

    file: str
    line: int
    column: int = 0

    @property
    def text(self) -> str:
        return linecache.getline(self.file, self.line).strip()

    def __str__(self) -> str:
        return f"{shown(self.file)}:{self.line}"


def shown(path: str) -> str:
    """Relative to the current folder, where it is below that."""
    return path.removeprefix(f"{Path.cwd()}/")


@dataclass(eq=False)
class Block:
    """A run of the host's memory that belongs to one tensor, or to several that share it."""

    address: int  # on the virtual GPU
    data: int  # here
    size: int
    is_expired: Callable[[], bool]
    undefined: np.ndarray | None = None  # a byte for each; None: all is defined
    on_cuda: bool = False
    place: Place | None = None  # where it was made
    keep: Any = None

@dataclass(frozen=True)
class View:
    """A tensor that a kernel is called with, as messages show its elements."""

    name: str
    block: Block
    offset: int  # of its first element in the block, in bytes
    width: int  # of an element
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in elements

    def element(self, address: int) -> str:
        """`x[3, 17]`, also for addresses that are no longer in the tensor."""
        left = (address - self.block.address - self.offset) // self.width
        index = [0] * len(self.shape)
        for dim in sorted(range(len(index)), key=lambda d: -self.strides[d]):
            if self.strides[dim] > 0 and (self.shape[dim] > 1 or len(index) == 1):
                index[dim], left = divmod(left, self.strides[dim])
        return f"{self.name}[{', '.join(map(str, index))}]" if index else self.name


@dataclass
class Memory:
    blocks: dict[int, Block] = field(default_factory=dict)  # by where they lie here
    next_address: int = _FIRST_ADDRESS
    is_paused: bool = False  # tensors answer as the CPU's

    def paused(self) -> contextlib.AbstractContextManager:
        return mock.patch.object(self, "is_paused", True)

    def block(self, data: int, size: int, expiry: Callable[[], Callable[[], bool]]) -> Block:
        """The block that lies there. `expiry` gives a new one what tells when it is gone."""
        block = self.blocks.get(data)
        if block is None or block.size != size or block.is_expired():
            block = self.blocks[data] = self._place(data, size, expiry())
        return block

    def _place(self, data: int, size: int, is_expired: Callable[[], bool]) -> Block:
        block = Block(self.next_address + data % 16, data, size, is_expired)
        self.next_address += -(-(2 * size + _GAP) // _GAP) * _GAP
        return block

    def scratch(self, size: int, align: int) -> Block:
        """Memory that nothing has written, for one launch."""
        bytes_ = np.full(size + align, 0xCD, np.uint8)
        start = -bytes_.ctypes.data % max(align, 16)
        block = self._place(bytes_.ctypes.data + start, size, lambda: True)
        block.undefined, block.keep = np.full(size, 0xFF, np.uint8), bytes_
        return block

    def of_tensor(self, tensor: Any) -> Block:
        """Of a tensor of PyTorch: its storage."""
        from torch.multiprocessing.reductions import StorageWeakRef

        storage = getattr(tensor, "untyped_storage", tensor.storage)()
        expiry = lambda: StorageWeakRef(storage).expired  # noqa: E731
        return self.block(storage.data_ptr(), storage.nbytes(), expiry)

    def view(self, value: Any, name: str) -> View:
        """Of a tensor, or of anything with `data_ptr`, `dtype` and `shape`."""
        shape = tuple(int(extent) for extent in value.shape)
        if is_torch(value):
            strides, width = tuple(value.stride()), value.element_size()
            block = self.of_tensor(value)
            return View(name, block, value.storage_offset() * width, width, shape, strides)
        width = _width(value.dtype)
        rows = (math.prod(shape[dim + 1 :]) for dim in range(len(shape)))  # in C's order
        strides = tuple(value.stride() if hasattr(value, "stride") else rows)
        span = 1 + sum((n - 1) * s for n, s in zip(shape, strides)) if 0 not in shape else 0
        block = self.block(value.data_ptr(), span * width, lambda: _expiry(value))
        return View(name, block, 0, width, shape, strides)

    def live(self) -> list[Block]:
        """All blocks that are still there; forgets the others."""
        self.blocks = {data: each for data, each in self.blocks.items() if not each.is_expired()}
        return [block for block in self.blocks.values() if block.size > 0]

    def mark_undefined(self, tensor: Any) -> None:
        block = self.of_tensor(tensor)
        block.undefined = np.full(block.size, 0xFF, np.uint8)
        block.place = caller()

    def mark_written(self, tensor: Any) -> None:
        block = self.of_tensor(tensor)
        if block.undefined is None or tensor.numel() == 0:
            return
        width = tensor.element_size()
        strides = [stride * width for stride in tensor.stride()]
        start = block.undefined[tensor.storage_offset() * width :]
        shape = (*tensor.shape, width)
        np.lib.stride_tricks.as_strided(start, shape, (*strides, 1))[...] = 0


class Array:
    """A NumPy array as Triton takes it: `data_ptr`, `dtype`, `shape` and strides in elements."""

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.dtype, self.shape = array, array.dtype.name, array.shape

    def data_ptr(self) -> int:
        return self.array.ctypes.data

    def stride(self, dim: int | None = None) -> Any:
        strides = tuple(each // self.array.itemsize for each in self.array.strides)
        return strides if dim is None else strides[dim]

def is_torch(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def caller(frames: Iterable[tuple[Any, int]] | None = None) -> Place | None:
    """The line of the program that is being executed, outside of libraries; or of these frames."""
    for frame, line in frames or traceback.walk_stack(None):
        path = frame.f_code.co_filename
        if not path.startswith(_OWN_FOLDER) and "-packages/" not in path and path[0] != "<":
            return Place(path, line)
    return None


def _expiry(value: Any) -> Callable[[], bool]:
    alive = weakref.ref(value) if type(value).__weakrefoffset__ else lambda: True
    return lambda: alive() is None


def _width(dtype: Any) -> int:
    bits = re.search(r"\d+", str(dtype).split(".")[-1])
    return max(1, int(bits[0]) // 8) if bits else 1  # bool
