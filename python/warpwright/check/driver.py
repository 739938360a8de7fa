# SPDX-License-Identifier: Apache-2.0
"""Triton's driver for the virtual GPU: its own compiler makes the PTX, and launches end here."""

from __future__ import annotations

import ctypes
import re
import struct
import sys
from dataclasses import dataclass
from typing import Any, Callable

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


@dataclass
class Launch:
    """A call of a kernel, ready to run."""

    kernel: Loaded
    name: str
    is_gluon: bool
    fn: Any
    values: dict[str, Any]  # by parameter
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    ctas: int  # of a program
    own_warps: int  # that the author asked for; Triton adds warps where it specializes them
    shared: int
    args: list[bytes]
    views: list[View]
    scratch: list[Block]
    is_programmatic: bool
    kinds: list[str]  # of the numbers among the arguments

    def blocks(self) -> list[Block]:
        """The memory of all arguments."""
        found = {id(each): each for each in [*(view.block for view in self.views), *self.scratch]}
        return [each for each in found.values() if each.size > 0]


class Loaded:
    """A kernel's PTX, ready to run, and where its instructions come from."""

    def __init__(self, name: str, ptx: str) -> None:
        self.ptx = ptx.split("\n")
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
        # LLVM counts lines on inside of Triton's inline assembly: its place is the one before.
        for start in range(line - 1, -1, -1):
            if "// end inline asm" in self.ptx[start]:
                break
            if "// begin inline asm" in self.ptx[start]:
                line = start
                break
        for text in reversed(self.ptx[:line]):
            match = re.match(r"\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)", text)
            if match is None:
                continue
            found = [match.groups()]
            names = {path.rsplit("/", 1)[-1]: number for number, path in self.files.items()}
            for name, row, column in re.findall(r"@\[ (\S+?):(\d+):(\d+)", text):
                found.append((names.get(name, ""), row, column))
            while len(found) < 50 and (inlined := re.search(r"inlined_at (\d+) (\d+) (\d+)", text)):
                found.append(inlined.groups())
                text = next((each for each in self.ptx if _is_loc(each, inlined.groups())), "")
            return [(self.files.get(f, ""), int(row), int(column)) for f, row, column in found]
        return []


def _is_loc(text: str, place: tuple[str, ...]) -> bool:
    found = re.match(r"\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+), function_name", text)
    return found is not None and found.groups() == place


class _Utils:
    """What Triton asks a driver for about devices and modules."""

    def __init__(self, target: Target) -> None:
        self.target = target

    def load_binary(self, name: str, kernel: Any, shared: int, device: int) -> tuple:
        loaded = Loaded(name, kernel.decode() if isinstance(kernel, bytes) else kernel)
        # Programs divide by the number of registers. ptxas would choose it; this many always fit.
        registers = min(255, _REGISTERS // max(loaded.threads, 32))
        return loaded, loaded, registers, 0, 1024

    def unload_module(self, module: Any) -> None:
        pass

    def get_device_properties(self, device: int) -> dict[str, int]:
        return {
            "max_shared_mem": self.target.shared,
            "max_num_regs": _REGISTERS,
            "multiprocessor_count": self.target.processors,
            "warpSize": 32,
            "sm_clock_rate": 1_700_000,
            "mem_clock_rate": 2_600_000,
            "mem_bus_width": 5120,
        }


class Tuning:
    """What autotuning runs: the first legal configuration, or all of them, each on a copy of memory."""

    def __init__(self, runs_all: bool) -> None:
        self.runs_all = runs_all
        self.is_dry = False
        self.saved: list[tuple[Block, bytes, Any]] | None = None
        self._last: Any = None

    def benchmark(
        self, call: Callable[[], Any], *_: Any, quantiles: Any = None, **options: Any
    ) -> Any:
        found = 1.0
        tuner = _tuner()
        if tuner is None:
            call()
        elif self.runs_all:
            self._try(call)
        elif tuner is self._last:
            found = float("inf")
        else:
            self.is_dry = True
            try:
                call()
            finally:
                self.is_dry = False
            self._last = tuner
        return found if quantiles is None else [found] * len(quantiles)

    def before(self, launch: Launch) -> None:
        if self.saved is not None:
            for block in launch.blocks():
                copy = None if block.undefined is None else block.undefined.copy()
                self.saved.append((block, ctypes.string_at(block.data, block.size), copy))

    def _try(self, call: Callable[[], Any]) -> None:
        self.saved = []
        try:
            call()
        finally:
            for block, contents, undefined in reversed(self.saved):
                ctypes.memmove(block.data, contents, block.size)
                block.undefined = undefined
            self.saved = None


def _tuner() -> Any:
    """The call of an autotuner that is going on."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "run" and frame.f_code.co_filename.endswith("autotuner.py"):
            return frame
        frame = frame.f_back
    return None


def install(memory: Memory, arch: str, tuning: Tuning, run: Callable[[Launch], None]) -> Callable:
    """Makes the virtual GPU Triton's device: `run` gets every launch. Returns what undoes it."""
    from triton import testing
    from triton.backends import Backend, backends
    from triton.backends.compiler import GPUTarget
    from triton.backends.driver import DriverBase
    from triton.backends.nvidia.compiler import CUDABackend
    from triton.runtime import driver as config

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

    class Launcher:
        def __init__(self, src: Any, metadata: Any) -> None:
            self.src, self.metadata = src, metadata

        def __call__(self, x: int, y: int, z: int, stream: Any, function: Any, *rest: Any) -> None:
            _current.launch(self.src, self.metadata, (x, y, z), function, rest[4:])

    class VirtualGpu(DriverBase):
        def __init__(self) -> None:
            self.utils = _Utils(target)
            self.launcher_cls = Launcher

        @classmethod
        def is_active(cls) -> bool:
            return True

        def map_python_to_cpp_type(self, ty: str) -> str:
            return ty

        def get_current_target(self) -> Any:
            return GPUTarget("cuda", target.number, 32)

        def get_current_device(self) -> int:
            return target.number  # Triton keeps compiled kernels by it

        def set_current_device(self, device: int) -> None:
            pass

        def get_current_stream(self, device: int) -> int:
            return 0

        def get_device_capability(self, device: int = 0) -> tuple[int, int]:
            return divmod(target.number, 10)

        def get_active_torch_device(self) -> Any:
            import torch

            return torch.device("cuda", 0)

        def get_device_interface(self) -> Any:
            import torch

            return torch.cuda

        def get_benchmarker(self) -> Callable:
            return _current.benchmark

        def get_empty_cache_for_benchmark(self) -> None:
            return None

        def clear_cache(self, cache: Any) -> None:
            pass

    before = backends["nvidia"], testing.do_bench, testing.do_bench_cudagraph
    drivers, outer = dict(vars(config)), _current.session

    def undo() -> None:
        backends["nvidia"], testing.do_bench, testing.do_bench_cudagraph = before
        vars(config).update(drivers)
        _current.session = outer

    _current.session = (memory, tuning, run)
    backends["nvidia"] = Backend(compiler=PtxBackend, driver=VirtualGpu)
    testing.do_bench = testing.do_bench_cudagraph = _current.benchmark
    config.set_active(VirtualGpu())
    return undo


class _Current:
    """Where launches go now: kernels and autotuners keep what they were given from session to session."""

    session: tuple[Memory, Tuning, Callable[[Launch], None]] | None = None

    def benchmark(self, call: Callable[[], Any], *args: Any, **options: Any) -> Any:
        return self.tuning.benchmark(call, *args, **options)

    @property
    def tuning(self) -> Tuning:
        if self.session is None:
            raise Error("a kernel was compiled for the virtual GPU, and its session is over")
        return self.session[1]

    def launch(self, src: Any, metadata: Any, grid: tuple, kernel: Loaded, values: tuple) -> None:
        if 0 in grid or self.tuning.is_dry:
            return
        memory, tuning, run = self.session
        launch = _Arguments(memory, src, metadata).launch(kernel, grid, values)
        tuning.before(launch)
        run(launch)


_current = _Current()


class _Arguments:
    """Python's arguments as the parameters of the PTX."""

    def __init__(self, memory: Memory, src: Any, metadata: Any) -> None:
        self.memory, self.src, self.metadata = memory, src, metadata
        self.descriptors = iter(getattr(metadata, "tensordesc_meta", None) or ())
        self.views: list[View] = []
        self.bytes: list[bytes] = []
        self.kinds: list[str] = []

    def launch(self, kernel: Loaded, grid: tuple, values: tuple) -> Launch:
        for (name, kind), value in zip(self.src.signature.items(), values):
            self.add(str(name), kind, value)
        metadata = self.metadata
        ctas = getattr(metadata, "num_ctas", 1)
        scratch = self.add_scratch(kernel, ctas * grid[0] * grid[1] * grid[2])
        sizes = [size for _, size in kernel.placed.params]
        if [len(each) for each in self.bytes] != sizes:
            seen = ", ".join(str(len(each)) for each in self.bytes)
            raise mismatch(f"arguments of {seen} bytes for parameters of {sizes}")
        fn = getattr(self.src, "fn", None)
        return Launch(
            kernel=kernel,
            name=metadata.name,
            is_gluon=bool(getattr(fn, "is_gluon", bool)()),
            fn=fn,
            values=dict(zip(self.src.signature, values)),
            grid=(grid[0] * ctas, grid[1], grid[2]),
            block=(kernel.threads or 32 * metadata.num_warps, 1, 1),
            ctas=ctas,
            own_warps=metadata.own_warps,
            shared=metadata.shared,
            args=self.bytes,
            views=self.views,
            scratch=scratch,
            is_programmatic=bool(getattr(metadata, "launch_pdl", False)),
            kinds=self.kinds,
        )

    def add(self, name: str, kind: Any, value: Any) -> None:
        if isinstance(kind, tuple):
            for i, (each, part) in enumerate(zip(kind, value)):
                self.add(f"{name}[{i}]", each, part)
        elif kind == "constexpr":
            pass
        elif kind.startswith("tensordesc"):
            self.add_descriptor(name, value)
        elif kind[0] == "*":
            self.bytes.append(self.address(name, value).to_bytes(8, "little"))
        else:
            self.kinds.append(kind)
            self.bytes.append(number_bytes(kind, value))

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
        extents = [
            *(number_bytes("i32", n) for n in shape),
            *(number_bytes("i64", n) for n in strides),
        ]
        meta = next(self.descriptors, None)
        if meta is not None:
            self.bytes += [_map(meta, address, value, shape, strides), *extents]
            return
        parts = [number_bytes("i64", n) for n in (address, *shape, *strides)]
        flags = [getattr(value, name) for name in _FLAGS if hasattr(value, name)]
        self.bytes += [
            *parts,
            *(number_bytes("i1", each in ("nan", True)) for each in flags),
            *extents,
        ]

    def add_scratch(self, kernel: Loaded, programs: int) -> list[Block]:
        """Memory for the parameters that Triton adds to the kernel's own."""
        out = []
        for kind in ("global", "profile")[: len(kernel.placed.params) - len(self.bytes)]:
            size = getattr(self.metadata, f"{kind}_scratch_size", 0) * programs
            block = (
                self.memory.scratch(size, getattr(self.metadata, f"{kind}_scratch_align", 1))
                if size
                else None
            )
            out += [block] if block else []
            self.bytes.append((block.address if block else 0).to_bytes(8, "little"))
        return out


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
