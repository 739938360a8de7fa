# SPDX-License-Identifier: Apache-2.0
"""Kernels as operators of PyTorch, so that `torch.compile` keeps them in its graphs.

    op = ww.torch_op("demo::scale", scale)
    op(x, y)                                     # y is written; torch.ops.demo.scale is the same

The schema follows from the kernel's parameters, and the compiler knows which of them it writes.
"""

from __future__ import annotations

from typing import Any, Callable, Iterable, NamedTuple, Union

from .decorator import KernelFunction
from .errors import ArgumentError
from .kernels import Kernel

AnyKernel = Union[Kernel, KernelFunction]


class _Param(NamedTuple):
    name: str
    type: str  # in the words of a schema
    writes: bool


def torch_op(
    name: str,
    kernel: AnyKernel | None = None,
    *,
    outputs: Callable[..., Any] | None = None,
    mutates_args: Iterable[str] | None = None,
    **constants: Any,
) -> Any:
    """Registers a kernel with `torch.library` under `name`, "namespace::operator".

    The operator takes the kernel's parameters and writes into the arrays that the kernel writes. With
    `outputs` it is a function: it takes the other parameters and returns what `outputs` makes of
    them, a tensor or a tuple of tensors for the arrays that are written, in their order; then
    `register_autograd` of the result takes a formula. `constants` are those of a `@ww.kernel`.
    `mutates_args` names the written arrays where calls choose element types or extents. CUDA tensors
    run on their GPU, CPU tensors on the virtual one. Without `kernel` it is a decorator.
    """
    if kernel is None:
        return lambda given: torch_op(
            name, given, outputs=outputs, mutates_args=mutates_args, **constants
        )
    library = _library()
    if not isinstance(kernel, (Kernel, KernelFunction)):
        raise ArgumentError(f"`ww.torch_op` was given {type(kernel).__name__}: expected a kernel")
    call, params = _callable(name, kernel, constants, mutates_args)
    written = tuple(param.name for param in params if param.writes)
    if outputs is None:
        operator = library.custom_op(name, call, mutates_args=written, schema=_schema(params, 0))
        operator.register_fake(lambda *args: None)
        return operator
    if not written:
        raise ArgumentError(f"`outputs` of `{name}`: the kernel writes none of its arrays")
    schema = _schema([param for param in params if not param.writes], len(written))
    function = _returning(name, call, params, outputs)
    operator = library.custom_op(name, function, mutates_args=(), schema=schema)
    operator.register_fake(outputs)
    return operator


def _returning(
    name: str, call: Callable[..., Any], params: list[_Param], outputs: Callable[..., Any]
) -> Callable[..., Any]:
    """The kernel as a function of what it reads, which returns what it writes."""
    count = sum(param.writes for param in params)

    def function(*inputs: Any) -> Any:
        made = outputs(*inputs)
        outs = made if isinstance(made, tuple) else (made,)
        if len(outs) != count:
            raise ArgumentError(
                f"`outputs` of `{name}` gives {len(outs)} tensors: the kernel writes {count}"
            )
        rest, results = iter(inputs), iter(outs)
        call(*(next(results if param.writes else rest) for param in params))
        return made

    return function


def _library() -> Any:
    try:
        import torch.library  # noqa: PLC0415  only for this
    except ImportError:
        raise ArgumentError("`ww.torch_op` needs PyTorch, which is not installed") from None
    if not hasattr(torch.library, "custom_op"):
        raise ArgumentError(f"`ww.torch_op` needs PyTorch 2.4: this is {torch.__version__}")
    return torch.library


def _callable(
    name: str, kernel: AnyKernel, constants: dict[str, Any], mutates: Iterable[str] | None
) -> tuple[Callable[..., Any], list[_Param]]:
    """What a call of the operator does, and its parameters."""
    if isinstance(kernel, KernelFunction):
        signature = kernel.signature
        shaped = [*signature.open_tensors, *signature.shape_constants()]
        chosen = [*shaped, *kernel.tuned_constants]
        if any(each not in constants for each in chosen):
            return _open_kernel(name, kernel, constants, chosen, mutates)
        kernel = kernel._specialize(constants, f"`ww.torch_op({name!r}, {{}}, {{}})`")
    elif constants:
        raise ArgumentError(f"`{name}` was given constants: `{kernel.name}` is compiled already")
    params = [
        _Param(_name_of(row), _type_of(row["is_array"], row["dtype"] or ""), row["writes"])
        for row in kernel.params
    ]
    _check_written(name, kernel, mutates)
    return kernel, params


def _open_kernel(
    name: str,
    kernel: KernelFunction,
    constants: dict[str, Any],
    chosen: list[str],
    mutates: Iterable[str] | None,
) -> tuple[Callable[..., Any], list[_Param]]:
    """Of a kernel that is compiled when its arrays are known."""
    if mutates is None:
        names = ", ".join(f"`{each}`" for each in chosen)
        raise ArgumentError(
            f"`{name}` is compiled when it is called, which chooses {names}: give the arrays that it "
            "writes, `mutates_args=(…)`"
        )
    written = tuple(mutates)
    signature = kernel.signature
    unknown = [each for each in written if each not in signature.params]
    if unknown:
        raise ArgumentError(
            f"`mutates_args` of `{name}`: the kernel has no parameter `{unknown[0]}`"
        )
    checked: set[Kernel] = set()

    def call(*args: Any) -> None:
        made, rest = kernel.chosen_by(*args, **constants)
        if made not in checked:
            _check_written(name, made, written)
            checked.add(made)
        made(*rest)

    params = [
        _Param(each, _type_of(each in signature.tensors, signature.types[each]), each in written)
        for each in signature.params
        if each not in signature.constants
    ]
    return call, params


def _check_written(name: str, kernel: Kernel, mutates: Iterable[str] | None) -> None:
    if mutates is None:
        return
    given = tuple(mutates)
    for row in kernel.params:
        if row["writes"] and row["name"] not in given and row["variable"] not in given:
            raise ArgumentError(
                f"`mutates_args` of `{name}` has {', '.join(given) or 'nothing'}: "
                f"the kernel also writes `{row['name']}`"
            )


def _name_of(row: dict[str, Any]) -> str:
    return row["name"] if row["name"].isidentifier() else row["variable"]


def _type_of(is_array: bool, dtype: str) -> str:
    if is_array or dtype.startswith(("handle", "Buffer")):
        return "Tensor"
    if dtype == "bool":
        return "bool"
    return "float" if "float" in dtype else "SymInt"


def _schema(params: list[_Param], results: int) -> str:
    texts = [
        f"Tensor(a{i}!) {param.name}" if param.writes else f"{param.type} {param.name}"
        for i, param in enumerate(params)
    ]
    result = {0: "()", 1: "Tensor"}.get(results, f"({', '.join(['Tensor'] * results)})")
    return f"({', '.join(texts)}) -> {result}"
