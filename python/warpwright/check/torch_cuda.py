# SPDX-License-Identifier: Apache-2.0
"""PyTorch without a GPU for programs that say `device="cuda"`: CPU tensors that answer as CUDA's would.

What makes a tensor with a CUDA device makes one of the CPU, which is remembered as CUDA's together with
everything computed from it. What torch writes is defined from then on.
"""

from __future__ import annotations

import contextlib
import functools
from types import SimpleNamespace
from typing import Any, Callable, Iterator
from unittest import mock

from ..errors import Error
from .driver import TARGETS, answer
from .memory import Memory, is_torch


class Unsupported(Error):
    """Something of CUDA that a program asks for and that does not exist without a GPU."""


# What makes a tensor that nothing has written.
_EMPTY = ["empty", "empty_like", "empty_strided", "empty_permuted"]
_EMPTY += ["new_empty", "new_empty_strided"]
# By dotted name, what cannot work, in words.
_REFUSED = {
    "cuda.CUDAGraph": "CUDA graphs",
    "cuda.graph": "CUDA graphs",
    "cuda.make_graphed_callables": "CUDA graphs",
    "distributed.init_process_group": "NCCL and other process groups",
    "utils.cpp_extension.load": "CUDA extensions of other libraries",
    "utils.cpp_extension.load_inline": "CUDA extensions of other libraries",
}


class Stream(contextlib.AbstractContextManager):
    """Work is done at once and in order, so streams and events have nothing to wait for."""

    cuda_stream = device_index = 0
    synchronize = wait_stream = wait_event = record_stream = record = wait = answer(None)
    query = answer(True)
    elapsed_time = answer(1.0)
    __exit__ = answer(None)

    def __init__(self, *args: Any, **options: Any) -> None:
        pass

    def record_event(self, event: Any = None) -> Any:
        return event or Stream()


@contextlib.contextmanager
def cuda_as_cpu(memory: Memory, arch: str) -> Iterator[None]:
    """Gives CUDA tensors to the program inside. Torch has been imported."""
    import torch
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    cuda_device = torch.device("cuda", 0)
    default = [False]  # torch.set_default_device("cuda")

    def is_cuda_device(device: Any) -> bool:
        return is_device(device) and (
            isinstance(device, int) or torch.device(device).type == "cuda"
        )

    def is_device(value: Any) -> bool:
        if isinstance(value, str):
            return value.split(":")[0] in ("cuda", "cpu", "meta")
        return isinstance(value, (torch.device, int)) and not isinstance(value, bool)

    def on_cuda(value: Any) -> bool:
        return any(memory.of_tensor(each).on_cuda for each in plain([value]))

    def plain(values: Any) -> Iterator[Any]:
        """Tensors that have memory here."""
        for value in values:
            if isinstance(value, (list, tuple, type({}.values()))):
                yield from plain(value)
            elif is_torch(value) and (value.device.type, value.layout) == ("cpu", torch.strided):
                yield value

    def mark(out: Any, is_cuda: bool) -> Any:
        for tensor in plain([out]):
            memory.of_tensor(tensor).on_cuda = is_cuda
        return out

    def move(func: Callable, args: tuple, options: dict[str, Any], to_cuda: bool) -> Any:
        """`x.to(...)`: a copy if the other device has it, as CUDA's would be."""
        there = on_cuda(args[0])
        out = func(*args, **options)
        if there != to_cuda and any(out.data_ptr() == each.data_ptr() for each in plain(args)):
            out = out.clone()
        return mark(out, to_cuda)

    def call(func: Callable, args: tuple, options: dict[str, Any]) -> Any:
        name = getattr(func, "__name__", "")
        attribute = getattr(getattr(func, "__self__", None), "__name__", "")
        if name == "__get__" and attribute in ("is_cuda", "device") and on_cuda(args[0]):
            return cuda_device if attribute == "device" else True
        if name == "data_ptr":
            block = memory.of_tensor(args[0])
            return block.address + func(*args) - block.data
        if name in ("pin_memory", "record_stream", "share_memory_"):
            return args[0]
        if name == "get_device":
            return 0 if on_cuda(args[0]) else -1
        if name in ("cuda", "cpu"):
            keep = {key: value for key, value in options.items() if key == "memory_format"}
            return move(torch.Tensor.to, (args[0], "cpu"), keep, name == "cuda")
        if name == "to" or name == "type" and args[1:] and "cuda" in str(args[1]):
            return convert(args, options)
        return compute(func, args, options)

    def convert(args: tuple, options: dict[str, Any]) -> Any:
        to_cuda = on_cuda(args[0]) or any(map(on_cuda, args[1:2]))
        words = list(args)
        if args[1:] and isinstance(args[1], str) and "Tensor" in args[1]:  # x.type(...)
            return mark(args[0].type(args[1].replace("cuda.", "")), True)
        if args[1:] and is_device(args[1]):
            to_cuda, words[1] = is_cuda_device(args[1]), "cpu"
        if options.get("device") is not None:
            to_cuda = is_cuda_device(options["device"])
            options["device"] = torch.device("cpu")
        return move(torch.Tensor.to, tuple(words), options, to_cuda)

    def compute(func: Callable, args: tuple, options: dict[str, Any]) -> Any:
        makes = default[0] and not any(True for _ in plain(args))
        if options.get("device") is not None:
            makes = is_cuda_device(options["device"])
            options["device"] = torch.device("cpu") if makes else options["device"]
        out = func(*args, **options)
        return mark(out, True) if makes else out

    class Functions(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            options = dict(kwargs or {})
            return func(*args, **options) if memory.is_paused else call(func, args, options)

    class Writes(TorchDispatchMode):
        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # PyTorch 2.15 would import torch._dynamo, which takes seconds

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            options = kwargs or {}
            out = func(*args, **options)
            given = [memory.of_tensor(each) for each in plain((args, options.values()))]
            if any(block.on_cuda for block in given):
                for block in map(memory.of_tensor, plain([out])):
                    block.on_cuda = block.on_cuda or not any(block is each for each in given)
            if func.overloadpacket.__name__ in _EMPTY:
                for each in plain([out]):
                    memory.mark_undefined(each)
                return out
            for i, parameter in enumerate(func._schema.arguments):
                info = parameter.alias_info
                if info is not None and info.is_write:
                    value = args[i] if i < len(args) else options.get(parameter.name)
                    for tensor in plain([value]):
                        memory.mark_written(tensor)
            return out

    def set_default_device(device: Any) -> None:
        default[0] = is_cuda_device(device)

    with contextlib.ExitStack() as stack:

        def replace(dotted: str, value: Any) -> None:
            *path, name = dotted.split(".")
            owner = functools.reduce(lambda each, part: getattr(each, part, None), path, torch)
            if owner is not None:
                stack.enter_context(mock.patch.object(owner, name, value, create=True))

        for name, words in _REFUSED.items():
            replace(name, _refusing(words))
        for name, value in _namespace(arch).items():
            replace(f"cuda.{name}", value)
        replace("_C._cuda_getCurrentRawStream", lambda device: 0)
        # What torch.compile's code makes tensors with.
        empty = functools.partial(torch.empty_strided, device="cuda")
        replace("_C._dynamo.guards._empty_strided_cuda", lambda *args: empty(*args[:2], dtype=args[2]))
        if hasattr(torch, "set_default_device"):
            replace("set_default_device", set_default_device)
        backward = torch.autograd.function.BackwardCFunction.apply

        def apply(self: Any, *args: Any) -> Any:  # the engine calls it without the mode
            with Functions():
                return backward(self, *args)

        replace("autograd.function.BackwardCFunction.apply", apply)
        stack.enter_context(Writes())
        stack.enter_context(Functions())
        yield


def _refusing(words: str) -> Callable:
    def refuse(*args: Any, **options: Any) -> Any:
        raise Unsupported(f"{words} cannot run without a GPU: leave them out of what is checked")

    return refuse


def _namespace(arch: str) -> dict[str, Any]:
    """What `torch.cuda` answers."""
    target = TARGETS[arch]
    properties = SimpleNamespace(
        name=f"Warpwright's virtual GPU ({arch})",
        major=target.number // 10,
        minor=target.number % 10,
        multi_processor_count=target.processors,
        total_memory=80 << 30,
        shared_memory_per_block_optin=target.shared,
        shared_memory_per_multiprocessor=target.shared + 1024,
        max_threads_per_multi_processor=2048,
        regs_per_multiprocessor=65536,
        warp_size=32,
        L2_cache_size=50 << 20,
        gcnArchName="",
    )

    answers = [
        (None, "synchronize set_device init _lazy_init empty_cache manual_seed manual_seed_all"),
        (None, "set_stream ipc_collect reset_peak_memory_stats reset_max_memory_allocated"),
        (None, "set_per_process_memory_fraction"),
        (0, "current_device memory_allocated max_memory_allocated"),
        (0, "memory_reserved max_memory_reserved _exchange_device _maybe_exchange_device"),
        (1, "device_count"),
        (True, "is_available is_initialized is_bf16_supported"),
        (False, "is_current_stream_capturing"),
        ((80 << 30, 80 << 30), "mem_get_info"),
        (properties, "get_device_properties"),
        ((properties.major, properties.minor), "get_device_capability"),
        (properties.name, "get_device_name"),
        (Stream(), "current_stream default_stream"),
    ]
    return {
        **{name: answer(value) for value, names in answers for name in names.split()},
        **dict.fromkeys(["Stream", "ExternalStream", "Event"], Stream),
        **dict.fromkeys(["stream", "device", "device_of", "_DeviceGuard"], contextlib.nullcontext),
    }
