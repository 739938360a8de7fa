# SPDX-License-Identifier: Apache-2.0
"""Triton's driver for the virtual GPU: its own compiler makes the PTX, and launches end here."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import re
import struct
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Callable, Iterator
from unittest import mock

from .. import _core
from ..errors import Error
from .masked_loads import bare_loads, without_zeros
from .memory import Block, Memory, View


@dataclass(frozen=True)
class Target:
    number: int
    processors: int
    shared: int  # bytes of a program, at most


TARGETS = {
    "sm_80": Target(80, 108, 166912),
    "sm_90a": Target(90, 132, 232448),
    "sm_100a": Target(100, 148, 232448),
    "sm_120a": Target(120, 170, 101376),
}
SUPPORTED = ((3, 4), (3, 9))
_REGISTERS = 65536  # of a multiprocessor


class DriverMismatch(Error):
    """An interface of Triton that is not as in the supported versions."""


class Loaded:
    """A kernel's PTX, ready to run, and where its instructions come from."""

    def __init__(self, name: str, ptx: str) -> None:
        self.locs: list[str] = []  # of each line of the PTX, the `.loc` before it
        self.calls: dict[Any, str] = {}  # `.loc` of what was inlined, by its place
        inside = False  # LLVM counts lines on inside of Triton's inline assembly
        for text in ptx.split("\n"):
            inside = "// begin inline asm" in text or inside and "// end inline asm" not in text
            place = None if inside else _LOC.match(text)
            self.locs.append(text if place else self.locs[-1] if self.locs else "")
            if place and "function_name" in text:
                self.calls.setdefault(place.groups(), text)
        files = re.findall(r'^\s*\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?', ptx, re.M)
        self.files = {number: f"{a}/{b}" if b else a for number, a, b in files}
        try:
            self.placed = _core.load_placed(ptx, name)
        except Error as error:
            raise type(error)(self._with_line(name, str(error))) from None
        found = re.search(r"\.reqntid\s+(\d+)", ptx)
        self.threads = int(found[1]) if found else 0

    def _with_line(self, name: str, text: str) -> str:
        found = re.search(r"line (\d+) of the PTX", text)
        places = self.places(int(found[1])) if found else []
        at = f"{places[0][0]}:{places[0][1]}: " if places else ""
        return f"{at}kernel `{name}`: {text.strip()}"

    def places(self, line: int) -> list[tuple[str, int, int]]:
        """File, line and column that a line of PTX comes from, then where those were inlined."""
        text = self.locs[line - 1]
        found = _LOC.findall(text)
        names = {path.rsplit("/", 1)[-1]: number for number, path in self.files.items()}
        for name, row, column in re.findall(r"@\[ (\S+?):(\d+):(\d+)", text):
            found.append((names.get(name, ""), row, column))
        while len(found) < 50 and (inlined := _INLINED.search(text)):
            found.append(inlined.groups())
            text = self.calls.get(inlined.groups(), "")
        return [(self.files.get(f, ""), int(row), int(column)) for f, row, column in found]


_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)")
_INLINED = re.compile(r"inlined_at (\d+) (\d+) (\d+)")


def answer(value: Any) -> Callable:
    """A function that takes anything and returns the value."""
    return lambda *args, **options: value


def _utils(target: Target) -> SimpleNamespace:
    """What Triton asks a driver for about devices and modules."""

    def load_binary(name: str, kernel: Any, shared: int, device: int) -> tuple:
        loaded = Loaded(name, kernel.decode() if isinstance(kernel, bytes) else kernel)
        # Programs divide by the number of registers. ptxas would choose it; this many always fit.
        registers = min(255, _REGISTERS // max(loaded.threads, 32))
        return loaded, loaded, registers, 0, 1024

    properties = {
        "max_shared_mem": target.shared,
        "max_num_regs": _REGISTERS,
        "multiprocessor_count": target.processors,
        "warpSize": 32,
        "sm_clock_rate": 1_700_000,
        "mem_clock_rate": 2_600_000,
        "mem_bus_width": 5120,
    }
    return SimpleNamespace(
        load_binary=load_binary,
        unload_module=answer(None),
        get_device_properties=answer(properties),
    )


class Tuning:
    """What autotuning runs: the first legal configuration, or all of them, each on a copy of memory."""

    def __init__(self, runs_all: bool) -> None:
        self.runs_all = runs_all
        self.is_tuning = False
        self.saved: list[tuple[Block, bytes, Any]] = []
        self._tuned: Any = None  # the arguments for which a configuration was found

    @property
    def is_dry(self) -> bool:
        return self.is_tuning and not self.runs_all

    def configuration(self, bench: Callable, tuner: Any, *args: Any, **options: Any) -> Any:
        """In place of an autotuner's `_bench`."""
        if self._tuned is tuner.nargs:
            return [float("inf")]
        self.is_tuning = True
        try:
            times = bench(tuner, *args, **options)
        finally:
            self.is_tuning = False
            for block, contents, undefined in reversed(self.saved):
                ctypes.memmove(block.data, contents, block.size)
                block.undefined = undefined
            self.saved.clear()
        if not self.runs_all and times[0] < float("inf"):
            self._tuned = tuner.nargs
        return times

    def before(self, launch: Launch) -> None:
        for block in launch.blocks() if self.is_tuning else []:
            copy = None if block.undefined is None else block.undefined.copy()
            self.saved.append((block, ctypes.string_at(block.data, block.size), copy))


def benchmark(call: Callable[[], Any], *_: Any, quantiles: Any = None, **options: Any) -> Any:
    """In place of Triton's: one run, as long as any other."""
    call()
    return 1.0 if quantiles is None else [1.0] * len(quantiles)


@contextlib.contextmanager
def virtual_gpu(
    memory: Memory, arch: str, tuning: Tuning, run: Callable[[Launch], None]
) -> Iterator[None]:
    """Makes the virtual GPU Triton's device: `run` gets every launch."""
    from triton import testing
    from triton.backends import Backend, backends
    from triton.backends.compiler import GPUTarget
    from triton.backends.driver import DriverBase
    from triton.backends.nvidia.compiler import CUDABackend
    from triton.runtime import driver as config
    from triton.runtime.autotuner import Autotuner

    target = TARGETS[arch]

    class PtxBackend(CUDABackend):
        """Triton's compiler for NVIDIA's GPUs, which stops at PTX."""

        def __init__(self, wanted: Any) -> None:
            super().__init__(wanted)
            self.binary_ext = "ptx"

        def add_stages(self, stages: dict, options: Any, *more: Any) -> None:
            super().add_stages(stages, options, *more)
            stages.pop("cubin", None)
            first = next(iter(stages))
            make_first, make_ptx = stages[first], stages["ptx"]

            def first_stage(src: Any, metadata: dict) -> Any:
                module = make_first(src, metadata)
                metadata["own_warps"] = options.num_warps
                metadata["bare_loads"] = bare_loads(str(module))
                return module

            def ptx_stage(src: Any, metadata: dict) -> str:
                return without_zeros(make_ptx(src, metadata), metadata["bare_loads"])

            stages.update({first: first_stage, "ptx": ptx_stage})

        def hash(self) -> str:
            return f"warpwright-{self.target.arch}"

    class VirtualGpu(DriverBase):
        utils = _utils(target)
        launcher_cls = staticmethod(functools.partial(functools.partial, _launch))
        is_active = answer(True)
        map_python_to_cpp_type = answer("")
        get_benchmarker = answer(benchmark)
        get_current_target = answer(GPUTarget("cuda", target.number, 32))
        get_current_device = answer(target.number)  # Triton keeps compiled kernels by it
        get_current_stream = answer(0)
        get_device_capability = answer(divmod(target.number, 10))
        set_current_device = get_empty_cache_for_benchmark = clear_cache = answer(None)

        def __init__(self) -> None:  # Triton's would ask torch
            pass

        def get_active_torch_device(self) -> Any:
            import torch

            return torch.device("cuda", 0)

        def get_device_interface(self) -> Any:
            import torch

            return torch.cuda

    bench = Autotuner._bench

    def configuration(tuner: Any, *args: Any, **options: Any) -> Any:
        return _current()[1].configuration(bench, tuner, *args, **options)

    with contextlib.ExitStack() as stack:
        for patch in (
            mock.patch(f"{__name__}._session", (memory, tuning, run)),
            mock.patch.dict(backends, nvidia=Backend(compiler=PtxBackend, driver=VirtualGpu)),
            mock.patch.multiple(testing, do_bench=benchmark, do_bench_cudagraph=benchmark),
            mock.patch.object(Autotuner, "_bench", configuration),
            mock.patch.dict(vars(config)),
        ):
            stack.enter_context(patch)
        config.set_active(VirtualGpu())
        yield


# Where launches go now: kernels and autotuners keep what they were given from session to session.
_session: tuple[Memory, Tuning, Callable[[Any], None]] | None = None


def _current() -> tuple[Memory, Tuning, Callable[[Any], None]]:
    if _session is None:
        raise Error("a kernel was compiled for the virtual GPU, and its session is over")
    return _session


def _launch(
    src: Any, metadata: Any, x: int, y: int, z: int, stream: Any, kernel: Loaded, *rest: Any
) -> None:
    """What Triton's launchers do: of the rest, the first four are about hooks."""
    memory, tuning, run = _current()
    if 0 not in (x, y, z) and not tuning.is_dry:
        launch = Launch(memory, src, metadata, kernel, (x, y, z), rest[4:])
        tuning.before(launch)
        run(launch)


class Launch:
    """A call of a kernel, ready to run: Python's arguments as the parameters of the PTX."""

    def __init__(
        self, memory: Memory, src: Any, metadata: Any, kernel: Loaded, grid: tuple, values: tuple
    ) -> None:
        self.memory, self.metadata, self.kernel = memory, metadata, kernel
        self.name = metadata.name
        self.fn = getattr(src, "fn", None)
        self.is_gluon = bool(getattr(self.fn, "is_gluon", bool)())
        self.values = dict(zip(src.signature, values))  # by parameter
        self.ctas = getattr(metadata, "num_ctas", 1)  # of a program
        self.grid = (grid[0] * self.ctas, grid[1], grid[2])
        self.block = (kernel.threads or 32 * metadata.num_warps, 1, 1)
        self.args: list[bytes] = []
        self.kinds: list[str] = []  # of the numbers among the arguments
        self.views: list[View] = []
        self.scratch: list[Block] = []
        self._descriptors = iter(getattr(metadata, "tensordesc_meta", None) or ())
        for name, kind in src.signature.items():
            self.add(str(name), kind, self.values[name])
        self.add_scratch()
        sizes = [size for _, size in kernel.placed.params]
        if [len(each) for each in self.args] != sizes:
            seen = ", ".join(str(len(each)) for each in self.args)
            raise mismatch(f"arguments of {seen} bytes for parameters of {sizes}")

    def blocks(self) -> set[Block]:
        """The memory of all arguments."""
        found = {*(view.block for view in self.views), *self.scratch}
        return {each for each in found if each.size > 0}

    def add(self, name: str, kind: Any, value: Any) -> None:
        if isinstance(kind, tuple):
            for i, (each, part) in enumerate(zip(kind, value)):
                self.add(f"{name}[{i}]", each, part)
        elif kind == "constexpr":
            pass
        elif kind.startswith("tensordesc"):
            self.add_descriptor(name, value)
        elif kind[0] == "*":
            self.args.append(number_bytes("u64", self.address(name, value)))
        else:
            self.kinds.append(kind)
            self.args.append(number_bytes(kind, value))

    def address(self, name: str, value: Any) -> int:
        if value is None:
            return 0
        if not hasattr(value, "data_ptr"):
            return int(value)
        value = getattr(value, "base", value)  # that triton.reinterpret wraps
        if not hasattr(value, "shape") or not hasattr(value, "dtype"):
            raise Error(
                f"`{name}` was given {type(value).__name__}: expected `data_ptr`, `dtype` and `shape`"
            )
        view = self.memory.view(value, name)
        self.views.append(view)
        return view.block.address + view.offset

    # As Triton's own launchers pass a descriptor: a tensor map and its extents, or its parts twice.
    def add_descriptor(self, name: str, value: Any) -> None:
        shape, strides = list(value.shape), list(value.strides)
        address = self.address(name, value.base)
        extents = [("i32", n) for n in shape] + [("i64", n) for n in strides]
        meta = next(self._descriptors, None)
        if meta is not None:
            self.args.append(_map(meta, address, value, shape, strides))
        else:
            flags = [getattr(value, name) for name in _FLAGS if hasattr(value, name)]
            parts = [("i64", n) for n in (address, *shape, *strides)]
            extents = parts + [("i1", flag in ("nan", True)) for flag in flags] + extents
        self.args += [number_bytes(*each) for each in extents]

    def add_scratch(self) -> None:
        """Memory for the parameters that Triton adds to the kernel's own."""
        x, y, z = self.grid
        for kind in ("global", "profile")[: len(self.kernel.placed.params) - len(self.args)]:
            size = getattr(self.metadata, f"{kind}_scratch_size", 0) * x * y * z
            block = None
            if size:
                align = getattr(self.metadata, f"{kind}_scratch_align", 1)
                self.scratch.append(block := self.memory.scratch(size, align))
            self.args.append(number_bytes("u64", block.address if block else 0))


# Attributes of a descriptor that are passed with its parts, by the versions that have them.
_FLAGS = ("padding", "round_f32_to_tf32")


def _map(meta: dict, address: int, value: Any, shape: list[int], strides: list[int]) -> bytes:
    if meta.get("is_im2col"):
        raise Error("im2col descriptors from the host are not simulated yet")
    width, kind = meta["elem_size"], {8: 10, 9: 8, 10: 9}.get(meta["elem_type"], meta["elem_type"])
    if getattr(value, "round_f32_to_tf32", False):
        kind = 11
    shape = [*shape[:-1], shape[-1] * (2 if meta["fp4_padded"] else 1)]
    return _core.encode_map(
        address,
        kind,
        shape[::-1],
        [stride * width for stride in strides[-2::-1]],
        list(meta["block_size"])[::-1],
        meta["swizzle"],
        int(getattr(value, "padding", "zero") == "nan"),
    )


_FLOATS = {"fp16": "<e", "fp32": "<f", "f32": "<f", "fp64": "<d"}


def number_bytes(kind: str, value: Any) -> bytes:
    """A number as a parameter of that type of Triton's."""
    if kind in _FLOATS:
        return struct.pack(_FLOATS[kind], float(value))
    if kind == "bf16":
        return struct.pack("<f", float(value))[2:]
    if not re.fullmatch(r"[iu]\d+", kind):
        raise mismatch(f"a parameter of type `{kind}`")
    width = max(1, int(kind[1:]) // 8)
    return (int(value) & ((1 << 8 * width) - 1)).to_bytes(width, "little")


def mismatch(what: str) -> DriverMismatch:
    import triton

    first, last = (".".join(map(str, each)) for each in SUPPORTED)
    return DriverMismatch(
        f"Triton {triton.__version__} has another interface than expected: {what}; supported are {first} to {last}"
    )
