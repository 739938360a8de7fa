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

from .driver import TARGETS, answer, refuse
from .memory import Memory, is_torch


# What makes a tensor that nothing has written.
_EMPTY = "empty empty_like empty_strided empty_permuted new_empty new_empty_strided".split()
# What cannot work, and its names.
_REFUSED = {
    "CUDA graphs": "cuda.CUDAGraph cuda.graph cuda.make_graphed_callables",
    "NCCL and other process groups": "distributed.init_process_group",
    "CUDA extensions of other libraries": "utils.cpp_extension.load utils.cpp_extension.load_inline",
}


class Stream(contextlib.AbstractContextManager):
    """Work is done at once and in order, so streams and events have nothing to wait for."""

    cuda_stream = device_index = 0
    synchronize = wait_stream = wait_event = record_stream = record = wait = answer(None)
    __init__ = __exit__ = answer(None)
    query = answer(True)
    elapsed_time = answer(1.0)
    record_event = lambda self, event=None: event or Stream()  # noqa: E731


@contextlib.contextmanager
def cuda_as_cpu(memory: Memory, arch: str) -> Iterator[None]:
    """Gives CUDA tensors to the program inside. Torch has been imported."""
    import torch
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    answers = {"is_cuda": True, "device": torch.device("cuda", 0), "get_device": 0}
    defaults = ["cpu"]  # the last is what torch.set_default_device was given

    def device_type(value: Any) -> str:
        """"cuda", "cpu" or "meta", or other words for what names no device."""
        if type(value) is int:
            return "cuda"
        return str(value).split(":")[0] if isinstance(value, (str, torch.device)) else ""

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

    def call(func: Callable, args: tuple, options: dict[str, Any]) -> Any:
        name = getattr(func, "__name__", "")
        if name == "__get__":  # of an attribute
            name = getattr(func.__self__, "__name__", "")
        if name in answers and on_cuda(args[0]):
            return answers[name]
        if name == "data_ptr":
            block = memory.of_tensor(args[0])
            return block.address + func(*args) - block.data
        if name in ("pin_memory", "record_stream", "share_memory_"):
            return args[0]
        if name in ("cuda", "cpu"):
            keep = {key: value for key, value in options.items() if key == "memory_format"}
            return convert((args[0], name), keep)
        return (convert if name == "to" else functools.partial(compute, func))(args, options)

    def convert(args: tuple, options: dict[str, Any]) -> Any:
        """`x.to(...)`: a copy if the other device has it, as CUDA's would be."""
        there, words = on_cuda(args[0]), list(args)
        to_cuda = there or any(map(on_cuda, args[1:2]))
        if args[1:] and device_type(args[1]) in ("cuda", "cpu", "meta"):
            to_cuda, words[1] = device_type(args[1]) == "cuda", "cpu"
        if options.get("device") is not None:
            to_cuda = device_type(options["device"]) == "cuda"
            options["device"] = torch.device("cpu")
        out = torch.Tensor.to(*words, **options)
        if there != to_cuda and any(out.data_ptr() == each.data_ptr() for each in plain(args)):
            out = out.clone()
        return mark(out, to_cuda)

    def compute(func: Callable, args: tuple, options: dict[str, Any]) -> Any:
        makes = device_type(defaults[-1]) == "cuda" and not any(True for _ in plain(args))
        if options.get("device") is not None:
            makes = device_type(options["device"]) == "cuda"
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
            parameters = func._schema.arguments
            named = {**dict(zip((each.name for each in parameters), args)), **options}
            for each in parameters:
                if each.alias_info is not None and each.alias_info.is_write:
                    for tensor in plain([named.get(each.name)]):
                        memory.mark_written(tensor)
            return out

    with contextlib.ExitStack() as stack:

        def replace(dotted: str, value: Any) -> None:
            *path, name = dotted.split(".")
            owner = functools.reduce(lambda each, part: getattr(each, part, None), path, torch)
            if owner is not None:
                stack.enter_context(mock.patch.object(owner, name, value, create=True))

        for what, names in _REFUSED.items():
            for name in names.split():
                replace(name, functools.partial(refuse, what))
        for name, value in _namespace(arch).items():
            replace(f"cuda.{name}", value)
        replace("_C._cuda_getCurrentRawStream", lambda device: 0)
        # What torch.compile's code makes tensors with.
        empty = functools.partial(torch.empty_strided, device="cuda")
        replace("_C._dynamo.guards._empty_strided_cuda", lambda *args: empty(*args[:2], dtype=args[2]))
        replace("set_default_device", defaults.append)
        backward = torch.autograd.function.BackwardCFunction.apply

        def apply(self: Any, *args: Any) -> Any:  # the engine calls it without the mode
            with Functions():
                return backward(self, *args)

        replace("autograd.function.BackwardCFunction.apply", apply)
        stack.enter_context(Writes())
        stack.enter_context(Functions())
        yield


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
    )

    answers = [
        (None, "synchronize set_device init _lazy_init empty_cache manual_seed manual_seed_all"),
        (None, "set_stream ipc_collect reset_peak_memory_stats set_per_process_memory_fraction"),
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
