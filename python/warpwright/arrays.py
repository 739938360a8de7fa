# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries as the extension takes them: where they lie, without a copy.

A kernel sees elements in memory. What an array means beyond them (a mask, a unit, elements that are
absent, scaled or negated) would be lost without a word, so such arrays are refused.
"""

from __future__ import annotations

import importlib.util
from typing import Any, Iterable

import numpy as np

from . import _core
from .errors import ArgumentError, ArgumentTypeError

# One byte each in ml_dtypes, two to a byte in kernels.
_UNPACKED = {"int4", "uint4", "float4_e2m1fn"}

# What kernels have and NumPy lacks, one element to one or two bytes.
_OF_ML_DTYPES = ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu")

# Subclasses of np.ndarray whose elements are all that they are.
_PLAIN = (np.ndarray, np.matrix, np.memmap, np.recarray)

# Address, element type, shape, strides in bytes (None: C order), read-only.
Described = tuple[int, str, tuple[int, ...], "tuple[int, ...] | None", bool]


def describe(value: Any, name: str, wanted: str | None = None) -> Described | bool | int | float:
    """What the extension gets for an argument. `name` is the parameter's, for messages, as `wanted`
    is: the element type."""
    if isinstance(value, np.ndarray):
        return _of_numpy(value, name, wanted or "")
    if isinstance(value, (bool, int, float)) and not isinstance(value, np.generic):
        return value
    if isinstance(value, np.generic):
        return _number(value, name)
    if _is_torch(value):
        return _of_torch(value, name)
    if getattr(value, "is_cuda", False) or hasattr(value, "__cuda_array_interface__"):
        raise ArgumentError(f"`{name}` is in the memory of a GPU: expected memory of the host")
    if hasattr(value, "__dlpack__"):
        return _of_dlpack(value, name)
    raise ArgumentTypeError(
        f"`{name}` was given {type(value).__name__}: expected a number or an array "
        "(NumPy, PyTorch, or anything with `__dlpack__`)"
    )


def check_plain(array: np.ndarray, name: str) -> None:
    """Raises for a subclass of np.ndarray that means more than its elements."""
    if isinstance(array, np.ma.MaskedArray):
        raise ArgumentTypeError(
            f"`{name}` was given a masked array, whose mask a kernel would not see: expected a plain "
            "array; pass `array.filled(value)`, or `array.data` without the mask"
        )
    if type(array) not in _PLAIN:
        raise ArgumentTypeError(
            f"`{name}` was given {type(array).__name__}, a subclass of numpy.ndarray that may mean "
            "more than its elements: expected a plain array; pass `numpy.asarray(array)`"
        )


def hint_for(given: str, wanted: Iterable[str]) -> str:
    """How an array of NumPy gets an element type that only `ml_dtypes` has, if that is what it needs."""
    kind = next((each for each in wanted if each in _OF_ML_DTYPES), None)
    if kind is None or given in wanted:
        return ""
    is_bits = given == ("uint16" if kind == "bfloat16" else "uint8")
    way = f"array.view(ml_dtypes.{kind})" if is_bits else f"array.astype(ml_dtypes.{kind})"
    has_it = importlib.util.find_spec("ml_dtypes") is not None
    install = "" if has_it else "; `pip install ml_dtypes` installs it"
    return (
        f", which NumPy gets from the package ml_dtypes{install}\n"
        f"  note: `{way}` {'takes the bits as they are' if is_bits else 'converts it'}"
    )


def _number(value: np.generic, name: str) -> bool | int | float:
    # Those of ml_dtypes are of kind "V", like records. Times would be integers, and strings be parsed.
    is_number = value.dtype.kind in "biuf" or value.dtype.name in _core.dtype_names()
    if not is_number:
        raise ArgumentTypeError(f"`{name}` was given {value!r}: expected a number")
    item = value.item()
    return item if isinstance(item, (bool, int, float)) else float(value)  # type: ignore[arg-type]


def _of_numpy(array: np.ndarray, name: str, wanted: str = "") -> Described:
    check_plain(array, name)
    dtype = array.dtype
    if dtype.name in _UNPACKED:
        raise ArgumentTypeError(
            f"`{name}` was given an array of {dtype.name} with one element to a byte: "
            "expected uint8 with two, the first in the low half"
        )
    if dtype.names is not None:
        fields = ", ".join(f"`array[{field!r}]`" for field in dtype.names)
        raise ArgumentTypeError(
            f"`{name}` was given an array of records: expected plain elements, such as a copy of {fields}"
        )
    if dtype.name not in _core.dtype_names():
        raise ArgumentTypeError(
            f"`{name}` was given an array of {dtype}: kernels have no such elements; "
            "`array.astype(...)` makes others"
        )
    if not dtype.isnative:
        raise ArgumentTypeError(
            f"`{name}` was given an array of {dtype}, of the other byte order: expected this machine's; "
            f"`array.astype('{dtype.name}')` has it"
        )
    if hint := hint_for(dtype.name, [wanted]):
        raise ArgumentTypeError(f"`{name}` was given an array of {dtype}: expected {wanted}{hint}")
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
    misfit = _torch_misfit(tensor)
    if misfit:
        raise ArgumentTypeError(f"`{name}` was given {misfit[0]}: expected {misfit[1]}")
    width = tensor.element_size()
    return (
        tensor.data_ptr(),
        str(tensor.dtype).removeprefix("torch."),
        tuple(tensor.shape),
        tuple(stride * width for stride in tensor.stride()),
        False,
    )


def _torch_misfit(tensor: Any) -> tuple[str, str] | None:
    """What a tensor is beyond elements in memory, and what to pass instead."""
    if getattr(tensor, "is_quantized", False):
        return "a quantised tensor", "its integers, `tensor.int_repr()`, or `tensor.dequantize()`"
    layout = str(getattr(tensor, "layout", "torch.strided")).removeprefix("torch.")
    if layout != "strided":
        return f"a tensor of layout {layout}", "a dense one, such as `tensor.to_dense()`"
    if getattr(tensor, "is_nested", False):
        return "a nested tensor", "a dense one, such as `tensor.to_padded_tensor(value)`"
    if _runs_python(type(tensor)):
        return f"{type(tensor).__name__}, whose elements are not in its memory", "a plain tensor"
    if _asks(tensor, "is_conj") or _asks(tensor, "is_neg"):
        return (
            "a view that negates what is in memory",
            "`tensor.resolve_conj().resolve_neg()`, which has the values themselves",
        )
    return None


def _asks(tensor: Any, question: str) -> bool:
    return hasattr(tensor, question) and getattr(tensor, question)()


def _runs_python(kind: type) -> bool:
    """Whether a class of PyTorch runs Python for its operations: masked, fake, distributed tensors."""
    dispatch = getattr(kind, "__torch_dispatch__", None)
    if dispatch is None:
        return False
    import torch  # noqa: PLC0415  it is there: the class is its own

    return dispatch is not torch._C._disabled_torch_dispatch_impl


def _of_dlpack(value: Any, name: str) -> Described:
    try:
        array = np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError) as why:
        raise ArgumentError(f"`{name}` cannot be read where it is: {why}") from None
    return _of_numpy(array, name)
