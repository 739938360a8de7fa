#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times examples/gemm_hopper.py on a GPU of sm_90a beside PyTorch (cuBLAS), in turns, and compares the results.

    scripts/device_gemm.py                     all types at 4096 cubed, halves at 8192 cubed too
    scripts/device_gemm.py --emit DIR          only writes what is to be run, on a machine without a GPU
    scripts/device_gemm.py --run DIR           only runs it: needs PyTorch and the driver, nothing of ours

Each row is the median of rounds in which all kernels of a size take turns; PyTorch multiplies the same random numbers.
"""

import argparse
import ctypes
import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("WARPWRIGHT", str(ROOT / "warpwright"))
ROUNDS = 12
SECONDS = 4e-3  # of one measurement

# Type, what a kernel of it is built with, sizes.
KERNELS = [
    ("float16", "", [(4096, 4096, 4096), (8192, 8192, 8192)]),
    ("bfloat16", "dtype='bfloat16', out='bfloat16'", [(4096, 4096, 4096), (1000, 1032, 520)]),
    ("float32", "BK=32, chunk=32, dtype='float32', out='float32'", [(4096, 4096, 4096)]),
    ("float8_e4m3fn", "BK=128, dtype='float8_e4m3fn', out='bfloat16'", [(4096, 4096, 4096)]),
    ("int8", "BK=128, chunk=32, dtype='int8', out='int32', acc_dtype='int32'", [(4096, 4096, 4096)]),
]
ENUMS = {
    "CU_TENSOR_MAP_SWIZZLE_32B": 1, "CU_TENSOR_MAP_SWIZZLE_64B": 2, "CU_TENSOR_MAP_SWIZZLE_128B": 3,
    "CU_TENSOR_MAP_L2_PROMOTION_L2_64B": 1, "CU_TENSOR_MAP_L2_PROMOTION_L2_128B": 2,
    "CU_TENSOR_MAP_L2_PROMOTION_L2_256B": 3,
}  # fmt: skip
MAX_DYNAMIC_SHARED, REGISTERS, LOCAL_BYTES = 8, 4, 3  # of CUfunction_attribute


def emit(folder):
    """Writes TYPE-MxNxK.ptx and .json for every kernel."""
    for dtype, words, sizes in KERNELS:
        for m, n, k in sizes:
            call = f"build({m}, {n}, {k}, ctas=132{', ' + words if words else ''})"
            for kind, end in (("ptx", "ptx"), ("launch", "json")):
                to = folder / f"{dtype}-{m}x{n}x{k}.{end}"
                words_of = ["compile", "examples/gemm_hopper.py", "--kernel", call, "--emit", kind, "-o", str(to)]
                subprocess.run([PROGRAM, *words_of], cwd=ROOT, check=True)


def check(status, what):
    if status != 0:
        raise RuntimeError(f"{what}: the driver says {status}")


def number(value):
    """An extent or stride of a launch description; ours are all constant."""
    return value if isinstance(value, int) else int(eval(re.sub(r'T\.Cast\("int64", ([^)]*)\)', r"(\1)", value)))


class Kernel:
    """A PTX module and its launch description, through the driver API."""

    def __init__(self, cuda, base):
        self.cuda = cuda
        self.launch = json.loads(base.with_suffix(".json").read_text(encoding="utf-8"))
        self.module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        text = base.with_suffix(".ptx").read_bytes() + b"\0"
        check(cuda.cuModuleLoadData(ctypes.byref(self.module), text), "cuModuleLoadData")
        name = self.launch["entry"].encode()
        check(cuda.cuModuleGetFunction(ctypes.byref(self.function), self.module, name), "cuModuleGetFunction")
        self.shared = self.launch["dynamic_shared"]
        check(cuda.cuFuncSetAttribute(self.function, MAX_DYNAMIC_SHARED, self.shared), "cuFuncSetAttribute")
        self.grid = [number(extent) for extent in self.launch["grid"]]

    def attribute(self, which):
        value = ctypes.c_int()
        check(self.cuda.cuFuncGetAttribute(ctypes.byref(value), which, self.function), "cuFuncGetAttribute")
        return value.value

    def tensor_map(self, row, arrays):
        raw = (ctypes.c_uint64 * 24)()
        at = (ctypes.addressof(raw) + 63) // 64 * 64
        self.kept.append(raw)
        rank = row["tensorRank"]
        dims = (ctypes.c_uint64 * rank)(*map(number, row["globalDim"]))
        strides = (ctypes.c_uint64 * max(rank - 1, 1))(*map(number, row["globalStrides"]))
        box = (ctypes.c_uint32 * rank)(*row["boxDim"])
        steps = (ctypes.c_uint32 * rank)(*row["elementStrides"])
        start = ctypes.c_void_p(arrays[row["array"]].data_ptr() + row["offset"])
        words = [ENUMS.get(row[key], 0) for key in ("interleave", "swizzle", "l2Promotion", "oobFill")]
        status = self.cuda.cuTensorMapEncodeTiled(
            ctypes.c_void_p(at), row["tensorDataType"], rank, start, dims, strides, box, steps, *words
        )
        check(status, "cuTensorMapEncodeTiled")
        return (ctypes.c_char * 128).from_address(at)

    def bind(self, arrays):
        self.kept = []
        for param in self.launch["params"]:
            if param["kind"] == "tensor_map":
                self.kept.append(self.tensor_map(param["map"], arrays))
            else:
                self.kept.append(ctypes.c_void_p(arrays[param["name"]].data_ptr()))
        given = [each for each in self.kept if not isinstance(each, ctypes.Array) or each._type_ is ctypes.c_char]
        self.args = (ctypes.c_void_p * len(given))(*map(ctypes.addressof, given))

    def __call__(self, stream):
        block = self.launch["block"]
        status = self.cuda.cuLaunchKernel(
            self.function, *self.grid, *block, self.shared, ctypes.c_void_p(stream), self.args, None
        )
        check(status, "cuLaunchKernel")


def run(folder):
    import torch

    cuda = ctypes.CDLL("libcuda.so.1")
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.manual_seed(1)
    torch.zeros(1, device="cuda")
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}; medians of {ROUNDS} rounds")
    print("| A, B | M x N x K | TFLOP/s | PyTorch | ratio | largest difference |")
    print("|---|---|--:|--:|--:|--:|")
    for base in sorted(path.with_suffix("") for path in folder.glob("*.ptx")):
        measure(torch, cuda, base)


def factor(torch, shape, dtype):
    if dtype == torch.int8:
        return torch.randint(-8, 8, shape, device="cuda", dtype=dtype)
    return torch.randn(shape, device="cuda").to(dtype)


def multiply(torch, a, b):
    """PyTorch's own product."""
    if a.dtype == torch.int8:
        return torch._int_mm(a, b.t())
    if a.dtype == torch.float8_e4m3fn:
        one = torch.ones((), device="cuda")
        return torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=True)
    return a @ b.t()


def timed(torch, call, times):
    begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
    begin.record()
    for _ in range(times):
        call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / times * 1e-3


def measure(torch, cuda, base):
    name, size = base.name.rsplit("-", 1)
    m, n, k = map(int, size.split("x"))
    dtype = getattr(torch, name)
    kernel = Kernel(cuda, base)
    a, b = factor(torch, (m, k), dtype), factor(torch, (n, k), dtype)
    out = next(param["dtype"] for param in kernel.launch["params"] if param["name"] == "D")
    d = torch.full((m, n), 7, device="cuda").to(getattr(torch, out))
    kernel.bind({"A": a, "B": b, "D": d})
    ours = lambda: kernel(torch.cuda.current_stream().cuda_stream)
    ours()
    expected = multiply(torch, a, b)
    difference = (d.float() - expected.float()).abs().max().item()
    if kernel.attribute(LOCAL_BYTES) != 0:
        print(f"{base.name}: {kernel.attribute(LOCAL_BYTES)} bytes of local memory")
    theirs = lambda: multiply(torch, a, b)
    times = {ours: [], theirs: []}
    repeats = max(1, int(SECONDS / (2 * m * n * k / 600e12)))
    for each in times:
        timed(torch, each, 3)
    for _ in range(ROUNDS):
        for each in times:
            times[each].append(timed(torch, each, repeats))
    mine, other = (2 * m * n * k / statistics.median(times[each]) / 1e12 for each in (ours, theirs))
    print(f"| {name} | {m} x {n} x {k} | {mine:.0f} | {other:.0f} | {mine / other:.2f} | {difference:.3g} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--emit", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--run", type=pathlib.Path, metavar="DIR")
    given = parser.parse_args()
    if given.emit:
        given.emit.mkdir(parents=True, exist_ok=True)
        return emit(given.emit.resolve())
    if given.run:
        return run(given.run)
    with tempfile.TemporaryDirectory() as folder:
        emit(pathlib.Path(folder))
        run(pathlib.Path(folder))
    return None


if __name__ == "__main__":
    main()
