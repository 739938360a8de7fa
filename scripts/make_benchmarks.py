#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures, and writes the result into docs/benchmarks.md.

    scripts/make_benchmarks.py                      run `./warpwright bench --json` and write the page
    scripts/make_benchmarks.py --suite sim          only that suite; the sections of the others stay
    scripts/make_benchmarks.py --from RESULT.json   write what a run made earlier or elsewhere measured
    scripts/make_benchmarks.py --machine "TEXT"     how the page names the machine (default: what Linux says)

What a run skipped, because there is no GPU or no nvcc, is left out; a suite that was skipped as a whole keeps
the section it has. A benchmark that failed is an error.

The numbers are medians over the repetitions of one run. They change from machine to machine; compare rows
of one section, not of two.
"""
import argparse
import json
import pathlib
import platform
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"

HEAD = """# Benchmarks

Written by `scripts/make_benchmarks.py`; do not edit. Each section is one run of `./warpwright bench`; the median of its
repetitions counts. To measure again, and write the page:

    scripts/make_benchmarks.py                          all suites that can run here
    scripts/make_benchmarks.py --suite compile          one of them; with nvcc on the machine it is measured as well
    ./warpwright bench kernels --json > kernels.json    the suite `kernels`, on a machine with a GPU
    ./warpwright bench kernels --filter gemm --json > kernels.json    only its matrix products
    scripts/make_benchmarks.py --suite kernels --from kernels.json --machine "NVIDIA H200"
"""

SUITES = {
    "compile": """Programs of `examples/` from source text to PTX in one process: the whole, and its phases (the tile program,
verified; the lowered one, each copy of it proven; PTX text). Beside them what NVIDIA's compilers take for the same
kernel, as processes of their own: `nvcc_to_ptx` and `nvcc_to_cubin` for the CUDA C++ that `warpwright compile --emit
cuda` makes of it, `ptxas` for our PTX; the factor is their time over `source_to_ptx`, measured next to it. Then the
front end alone, from source text to a verified tile program, for a kernel of one screen and one of about 2000 lines
with scalar code, loops, branches and tile primitives.""",
    "kernels": """Kernels of `examples/` on a real GPU. `copy_through` moves 4 GiB from global memory through shared memory and
registers back to global memory; RxT is R rounds of 16 bytes for each of T threads, the tile of a CTA. `transpose` turns
its tiles with `ldmatrix.trans` and `stmatrix`. Times are medians of 20 launches, rates count bytes read and bytes
written, and the percentage is the time of the driver's own copy (`cuMemcpyDtoD`, as in `driver_copy`) of as many bytes in
the same memory, measured next to the kernel, over the kernel's. In the same run every byte of every result is compared
with what it must be.""",
    "layout": """The number after an operation is the rank of its layout: 4 an `mma` C fragment (16×8), 5 an A fragment (16×16), 6 a
`tcgen05` register tile (64×64). Each benchmark checks its own answer before it is timed. Enumerations write all places
of a 128×256 tile: `registers` on three axes, `swizzled` on one; `reused` means into memory from the call before.""",
    "ptx": """A module of 64 kernels with 2000 lines each, as compilers write them. For `check` an element is an instruction.""",
    "sim": """Loops of a dozen instructions on 16 blocks of 128 threads, on one core unless it says otherwise; the rate counts
warp instructions, or multiplications and additions of `mma.sync`. `checked` has every check on, `unchecked` none.
`exact` rounds like the tensor cores, `plain` does not. `gemm_1024` is a product of 1024×1024×1024 halves with cp.async,
ldmatrix and mma on all cores. `start_up` reads, checks and decodes a kernel.""",
}

# A section of its own, made by the suite `kernels`.
PRODUCTS = "matrix products"
PRODUCTS_TEXT = """Matrix products of `examples/` on a real GPU; rows and tiles are in `bench/kernels/gemm_rows.cpp`. A
GPU slows down when it draws too much power, so that a number alone says little: in each round the ceiling, cuBLAS, our
kernels and a kernel in Triton (`bench/kernels/triton_gemm.py`) take turns, with as many products in a turn, 20 ms of
them in a row but at most 1000; medians over the rounds are shown, and the best round of ours. The ceiling is `mma.sync`
on registers and nothing else (8 warps on each SM, 32 accumulators each), as long as the products: what no kernel with
this instruction exceeds. cuBLAS and Triton use `wgmma` on Hopper, which can. A tile is BM×BN×BK of a CTA, WM×WN of a
warp, the depth of the ring of shared memory (s), and how many rows of tiles CTAs go through together (g). Operands are
normal with deviation 1 (int8: all values), kept as A (M×K) and B (K×N) or, with A' and B', the other way round; sums
are float32 or int32. TOP/s for int8. cuBLAS beside `gemm_bias_relu` makes the product alone. In the same run each
result of ours is compared with sums in float64 (at least 4096 elements) and with that of cuBLAS (all of them): |d −
exact| ≤ 2u·|exact| + 2^-11·√K, u the rounding of D's type."""

PRODUCTS_TABLE = """
| product | type | size | tile | TFLOP/s | of ceiling | ceiling | cuBLAS | Triton | registers | shared bytes | best |
|---|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|
"""

TABLE = """
| benchmark | median | per element or rate | spread |
|---|--:|--:|--:|
"""


def measure(suite):
    command = [str(ROOT / "warpwright"), "bench", *([suite] if suite else []), "--repetitions", "5", "--json"]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode not in (0, 1) or not run.stdout:  # 1: a result was wrong, and it says which
        sys.exit(run.stderr)
    return json.loads(run.stdout)


def version():
    return re.search(r"VERSION (\d+\.\d+\.\d+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def machine_name():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.lower().startswith("model name"):
            return f"{line.split(':', 1)[1].strip()}, {platform.machine()}"
    return f"{platform.machine()} host"


def time_text(nanoseconds):
    if nanoseconds < 10_000:
        return f"{nanoseconds:.0f} ns"
    if nanoseconds < 10_000_000:
        return f"{nanoseconds / 1000:.0f} µs"
    return f"{nanoseconds / 1e6:.1f} ms"


def rows(result):
    """(name, median ns, time per element or rate as text, spread) in the order of the run."""
    found = {}
    for entry in result["benchmarks"]:
        found.setdefault(entry["run_name"], {})[entry.get("aggregate_name")] = entry
    for name, kinds in found.items():
        if "median" not in kinds:  # skipped
            continue
        median = kinds["median"]
        unit = {"ns": 1, "us": 1e3, "ms": 1e6}[median["time_unit"]]
        time = "real_time" if name.endswith(("/real_time", "/manual_time")) else "cpu_time"
        name = re.sub(r"/(real_time|manual_time|iterations:1)(?=/|$)", "", name)
        yield name, median[time] * unit, rate_text(name, median), kinds["cv"][time]


def failures(result):
    """What went wrong, other than that something is not on this machine."""
    for entry in result["benchmarks"]:
        message = entry.get("error_message", "")
        if entry.get("error_occurred") and not message.startswith("skipped"):
            yield f"{entry['run_name']}: {message}"
    for entry in result.get("products", []):
        if "wrong" in entry:
            yield f"{entry['name']} {entry['tile_text']}: {entry['wrong']}"


def rate_text(name, median):
    if "of_copy" in median:
        return f"{median['bytes_per_second'] / 1e12:.2f} TB/s, {100 * median['of_copy']:.1f} %"
    if "ratio" in median:
        return f"{median['ratio']:.3g} ×" if median["ratio"] < 100 else f"{median['ratio']:.0f} ×"
    if "FLOP" in median:
        return f"{median['FLOP'] / 1e9:.2f} GFLOP/s"
    if "bytes_per_second" in median:
        return f"{median['bytes_per_second'] / 1e6:.0f} MB/s"
    if "items_per_second" in median and name.startswith("sim/"):
        return f"{median['items_per_second'] / 1e6:.1f} M/s"
    if "items_per_second" in median:
        return f"{1e9 / median['items_per_second']:.1f} ns"
    return ""


def section(suite, result, machine):
    mine = [row for row in rows(result) if row[0].startswith(suite + "/")]
    if not mine:
        return None
    repetitions = max(entry.get("repetitions", 1) for entry in result["benchmarks"])
    text = f"## {suite}\n\n{SUITES[suite]}\n\n{repetitions} repetitions, version {version()}, {machine}.\n" + TABLE
    for name, median, each, spread in mine:
        text += f"| `{name}` | {time_text(median)} | {each} | {100 * spread:.0f} % |\n"
    return text


def products_section(result, machine):
    measured = [entry for entry in result.get("products", []) if entry["tflops"] is not None]
    if not measured:
        return None
    rounds = max(entry["rounds"] for entry in measured)
    text = f"## {PRODUCTS}\n\n{PRODUCTS_TEXT}\n\n{rounds} rounds, version {version()}, {machine}.\n" + PRODUCTS_TABLE
    for entry in measured:
        cells = [f"`{entry['kernel']}`", entry["dtype"], entry["size"].replace("x", "×"),
                 entry["tile_text"].replace("x", "×"), number_text(entry["tflops"]), share_text(entry["of_ceiling"]),
                 *(number_text(entry[rival]["tflops"]) for rival in ("ceiling", "cublas", "triton")),
                 "-" if entry["registers"] is None else str(entry["registers"]), str(entry["shared_bytes"]),
                 number_text(entry["best_tflops"])]
        text += f"| {' | '.join(cells)} |\n"
    return text


def number_text(value):
    return "-" if value is None else f"{value:.0f}" if value >= 100 else f"{value:.1f}"


def share_text(value):
    return "-" if value is None else f"{100 * value:.1f} %"


def sections_of(page):
    """The sections that are there, by suite."""
    parts = re.split(r"^## ", page, flags=re.M)[1:]
    return {part.split("\n", 1)[0]: "## " + part.rstrip("\n") + "\n" for part in parts}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="source", type=pathlib.Path)
    parser.add_argument("--suite", choices=sorted(SUITES))
    parser.add_argument("--machine", default=machine_name())
    options = parser.parse_args()
    result = json.loads(options.source.read_text()) if options.source else measure(options.suite)
    if failed := list(failures(result)):
        sys.exit("\n".join(failed))
    sections = sections_of(PAGE.read_text()) if PAGE.exists() else {}
    for suite in SUITES:
        if options.suite not in (None, suite):
            continue
        if text := section(suite, result, options.machine):
            sections[suite] = text
        if suite == "kernels" and (text := products_section(result, options.machine)):
            sections[PRODUCTS] = text
    order = [name for suite in SUITES for name in (suite, *([PRODUCTS] if suite == "kernels" else []))]
    PAGE.write_text(HEAD + "".join("\n" + sections[name] for name in order if name in sections))


if __name__ == "__main__":
    main()
