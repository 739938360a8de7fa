# SPDX-License-Identifier: Apache-2.0
"""Triton's driver for the virtual GPU: its own compiler makes the PTX, and launches end here."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import re
import struct
from dataclasses import dataclass
from typing import Any, Callable, Iterator
from unittest import mock

from .. import _core
from ..errors import Error
from .masked_loads import bare_loads, without_zeros
from .memory import Block, Memory, Place, View


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
_REGISTERS = 65536  # of a multiprocessor


class Unsupported(Error):
    """Something of CUDA that a program asks for and that does not exist without a GPU."""


class DriverMismatch(Error):
    """An interface of Triton that is not as in the supported versions."""


class Loaded:
    """A kernel's PTX, ready to run, and where its instructions come from."""

    def __init__(self, name: str, ptx: str) -> None:
        self.locs = [""]  # of each line of the PTX, from 1, the `.loc` before it
        self.calls: dict[Any, str] = {}  # `.loc` of what was inlined, by its place
        for text in _ASM.sub(lambda asm: asm[0].replace(".loc", "//"), ptx).split("\n"):
            place = _LOC.match(text)
            self.locs.append(text if place else self.locs[-1])
            if place and "function_name" in text:
                self.calls.setdefault(place.groups(), text)
        files = re.findall(r'^\s*\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?', ptx, re.M)
        self.files = {number: f"{a}/{b}" if b else a for number, a, b in files}
        try:
            self.placed = _core.load_placed(ptx, name)
        except Error as error:
            line = re.search(r"line (\d+) of the PTX", str(error))
            at = [f"{Place(*each)}: " for each in self.places(int(line[1]) if line else 0)][:1]
            raise type(error)("".join([*at, f"kernel `{name}`: {str(error).strip()}"])) from None
        self.threads = max(map(int, re.findall(r"\.reqntid\s+(\d+)", ptx)), default=0)

    def places(self, line: int) -> list[tuple[str, int, int]]:
        """File, line and column that a line of PTX comes from, then where those were inlined."""
        text = self.locs[line]
        found = _LOC.findall(text)
        names = {path.rsplit("/", 1)[-1]: number for number, path in self.files.items()}
        for name, row, column in re.findall(r"@\[ (\S+?):(\d+):(\d+)", text):
            found.append((names.get(name, ""), row, column))
        while len(found) < 50 and (inlined := _INLINED.search(text)):
            found.append(inlined.groups())
            text = self.calls.get(inlined.groups(), "")
        return [(self.files.get(f, ""), int(row), int(column)) for f, row, column in found]


# LLVM counts lines on inside of Triton's inline assembly.
_ASM = re.compile(r"// begin inline asm.*?// end inline asm", re.S)
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)")
_INLINED = re.compile(r"inlined_at (\d+) (\d+) (\d+)")


def refuse(what: str, *args: Any, **options: Any) -> None:
    raise Unsupported(f"{what} cannot run without a GPU: leave them out of what is checked")


def answer(value: Any) -> Callable:
    """A function that takes anything and returns the value."""
    return lambda *args, **options: value


class Utils:
    """What Triton asks a driver for about devices and modules."""

    unload_module = answer(None)

    def __init__(self, target: Target) -> None:
        self.get_device_properties = answer({
            "max_shared_mem": target.shared,
            "max_num_regs": _REGISTERS,
            "multiprocessor_count": target.processors,
            "warpSize": 32,
            "sm_clock_rate": 1_700_000,
            "mem_clock_rate": 2_600_000,
            "mem_bus_width": 5120,
        })

    def load_binary(self, name: str, kernel: Any, shared: int, device: int) -> tuple:
        loaded = Loaded(name, kernel.decode() if isinstance(kernel, bytes) else kernel)
        # Programs divide by the number of registers. ptxas would choose it; this many always fit.
        registers = min(255, _REGISTERS // max(loaded.threads, 32))
        return loaded, loaded, registers, 0, 1024


class Tuning:
    """What autotuning runs: the first legal configuration, or all of them, each on a copy of memory."""

    def __init__(self, runs_all: bool) -> None:
        self.runs_all, self.is_tuning = runs_all, False
        self.saved: list[tuple[Block, bytes, Any]] = []
        self._tuned: Any = None  # the arguments for which a configuration was found

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
def virtual_gpu(memory: Memory, arch: str, tuning: Tuning, run: Callable) -> Iterator[None]:
    """Makes the virtual GPU Triton's device: `run` gets every launch."""
    from triton import testing
    from triton.backends import Backend, backends
    from triton.backends.nvidia.compiler import CUDABackend
    from triton.backends.nvidia.driver import CudaDriver
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

    class VirtualGpu(CudaDriver):
        """Triton's driver, which would ask torch and CUDA."""

        __init__ = answer(None)
        utils = Utils(target)
        launcher_cls = staticmethod(functools.partial(functools.partial, _launch))
        session = memory, tuning, run
        is_active = answer(True)
        get_current_device = answer(target.number)  # Triton keeps compiled kernels by it
        get_current_stream = answer(0)
        get_device_capability = answer(divmod(target.number, 10))
        set_current_device = get_empty_cache_for_benchmark = clear_cache = answer(None)

        def get_active_torch_device(self) -> Any:
            import torch

            return torch.device("cuda", 0)

    cublas, profiler = (functools.partial(refuse, what) for what in ("calls of cuBLAS", "profilers"))
    run_bench = Autotuner._bench
    bench = lambda *args, **options: tuning.configuration(run_bench, *args, **options)  # noqa: E731
    with (
        mock.patch.dict(backends, nvidia=Backend(compiler=PtxBackend, driver=VirtualGpu)),
        mock.patch.multiple(testing, do_bench=benchmark, do_bench_cudagraph=benchmark),
        mock.patch.object(Autotuner, "_bench", bench),
        mock.patch("triton._C.libtriton.nvidia.cublas.CublasLt", cublas),
        mock.patch("triton.profiler.start", profiler),
        mock.patch.dict(vars(config)),
    ):
        config.set_active(VirtualGpu())
        yield


def _launch(
    src: Any, metadata: Any, x: int, y: int, z: int, stream: Any, kernel: Loaded, *rest: Any
) -> None:
    """What Triton's launchers do: of the rest, the first four are about hooks."""
    from triton.runtime import driver

    memory, tuning, run = driver.active.session  # kernels are kept from session to session
    if 0 not in (x, y, z) and (tuning.runs_all or not tuning.is_tuning):
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
        return {each for each in (*(view.block for view in self.views), *self.scratch) if each.size}

    def add(self, name: str, kind: Any, value: Any) -> None:
        if isinstance(kind, tuple):
            for i, (each, part) in enumerate(zip(kind, value)):
                self.add(f"{name}[{i}]", each, part)
        elif kind.startswith("tensordesc"):
            self.add_descriptor(name, value)
        elif kind[0] == "*":
            self.args.append(number_bytes("u64", self.address(name, value)))
        elif kind != "constexpr":
            self.kinds.append(kind)
            self.args.append(number_bytes(kind, value))

    def address(self, name: str, value: Any) -> int:
        if not hasattr(value, "data_ptr"):
            return int(value or 0)
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
            align = getattr(self.metadata, f"{kind}_scratch_align", 1)
            self.scratch.append(self.memory.scratch(size, align))
            self.args.append(number_bytes("u64", self.scratch[-1].address))


# Attributes of a descriptor that are passed with its parts, by the versions that have them.
_FLAGS = ("padding", "round_f32_to_tf32")


def _map(meta: dict, address: int, value: Any, shape: list[int], strides: list[int]) -> bytes:
    if meta.get("is_im2col"):
        raise Error("im2col descriptors from the host are not simulated yet")
    width, kind = meta["elem_size"], meta["elem_type"]
    rounds = getattr(value, "round_f32_to_tf32", False)
    kind = 11 if rounds else {8: 10, 9: 8, 10: 9}.get(kind, kind)
    shape = [*shape[:-1], shape[-1] * (2 if meta["fp4_padded"] else 1)]
    strides = [stride * width for stride in strides[-2::-1]]
    box, swizzle = list(meta["block_size"])[::-1], meta["swizzle"]
    fill = int(getattr(value, "padding", "zero") == "nan")
    return _core.encode_map(address, kind, shape[::-1], strides, box, swizzle, fill)


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


def triton_version() -> str:
    import triton

    return triton.__version__


def mismatch(what: str) -> DriverMismatch:
    return DriverMismatch(
        f"Triton {triton_version()} has another interface than expected: {what}; supported are 3.4 to 3.9"
    )
