# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries as the extension takes them: where they lie, without a copy."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import ArgumentError

# One byte each in ml_dtypes, two to a byte in kernels.
_UNPACKED = {"int4", "uint4", "float4_e2m1fn"}

# Address, element type, shape, strides in bytes (None: C order), read-only.
Described = tuple[int, str, tuple[int, ...], "tuple[int, ...] | None", bool]


def describe(value: Any, name: str) -> Described | bool | int | float:
    """What the extension gets for an argument. `name` is the parameter's, for messages."""
    if isinstance(value, np.ndarray):
        return _of_numpy(value, name)
    if isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, np.generic):
        return _number(value, name)
    if getattr(value, "is_cuda", False) or hasattr(value, "__cuda_array_interface__"):
        raise ArgumentError(f"`{name}` is in the memory of a GPU: expected memory of the host")
    if _is_torch(value):
        return _of_torch(value, name)
    if hasattr(value, "__dlpack__"):
        return _of_dlpack(value, name)
    raise ArgumentError(
        f"`{name}` was given {type(value).__name__}: expected a number or an array "
        "(NumPy, PyTorch, or anything with `__dlpack__`)"
    )


def _number(value: np.generic, name: str) -> bool | int | float:
    item = value.item()
    if isinstance(item, (bool, int, float)):
        return item
    try:  # a scalar of ml_dtypes
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ArgumentError(f"`{name}` was given {value!r}: expected a number") from None


def _of_numpy(array: np.ndarray, name: str) -> Described:
    dtype = array.dtype
    if dtype.name in _UNPACKED:
        raise ArgumentError(
            f"`{name}` was given an array of {dtype.name} with one element to a byte: "
            "expected uint8 with two, the first in the low half"
        )
    if not dtype.isnative or dtype.hasobject or dtype.names is not None:
        raise ArgumentError(f"`{name}` was given an array of {dtype}: expected plain elements")
    return (
        array.ctypes.data,
        dtype.name,
        array.shape,
        array.strides,
        not array.flags.writeable,
    )


def _is_torch(value: Any) -> bool:
    return type(value).__module__.split(".")[0] == "torch" and hasattr(value, "data_ptr")


def _of_torch(tensor: Any, name: str) -> Described:
    if tensor.device.type != "cpu":
        raise ArgumentError(
            f"`{name}` is on {tensor.device}: expected memory of the host, for the virtual GPU"
        )
    if tensor.requires_grad and not tensor.is_leaf:
        tensor = tensor.detach()
    width = tensor.element_size()
    return (
        tensor.data_ptr(),
        str(tensor.dtype).removeprefix("torch."),
        tuple(tensor.shape),
        tuple(stride * width for stride in tensor.stride()),
        False,
    )


def _of_dlpack(value: Any, name: str) -> Described:
    try:
        array = np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError) as why:
        raise ArgumentError(f"`{name}` cannot be read where it is: {why}") from None
    return _of_numpy(array, name)
