#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures, and writes the result as docs/benchmarks.md.

    scripts/make_benchmarks.py                      run `./warpwright bench --json` and write the page
    scripts/make_benchmarks.py --from RESULT.json   write the page from a run made earlier or elsewhere
    scripts/make_benchmarks.py --machine "TEXT"     how the page names the machine (default: what Linux says)

The numbers are medians over the repetitions of one run. They change from machine to machine; compare rows
of one page, not of two.
"""
import argparse
import json
import pathlib
import platform
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"

HEAD = """# Benchmarks

Written by `scripts/make_benchmarks.py`; do not edit. One run of `./warpwright bench`, median of
{repetitions} repetitions, version {version}, {machine}.

`layout/`: the number after an operation is the rank of its layout: 4 an `mma` C fragment (16×8), 5 an A fragment (16×16), 6 a
`tcgen05` register tile (64×64). Each benchmark checks its own answer before it is timed. Enumerations write all places
of a 128×256 tile: `registers` on three axes, `swizzled` on one; `reused` means into memory from the call before.

`ptx/`: a module of 64 kernels with 2000 lines each, as compilers write them. For `check` an element is an instruction.

| benchmark | median | per element or rate | spread |
|---|--:|--:|--:|
"""


def measure():
    command = [str(ROOT / "warpwright"), "bench", "--repetitions", "5", "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


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
        median = kinds["median"]
        unit = {"ns": 1, "us": 1e3, "ms": 1e6}[median["time_unit"]]
        yield name, median["cpu_time"] * unit, rate_text(median), kinds["cv"]["cpu_time"]


def rate_text(median):
    if "bytes_per_second" in median:
        return f"{median['bytes_per_second'] / 1e6:.0f} MB/s"
    if "items_per_second" in median:
        return f"{1e9 / median['items_per_second']:.1f} ns"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="source", type=pathlib.Path)
    parser.add_argument("--machine", default=machine_name())
    options = parser.parse_args()
    result = json.loads(options.source.read_text()) if options.source else measure()
    repetitions = max(entry.get("repetitions", 1) for entry in result["benchmarks"])
    page = HEAD.format(repetitions=repetitions, version=version(), machine=options.machine)
    for name, median, each, spread in rows(result):
        page += f"| `{name}` | {time_text(median)} | {each} | {100 * spread:.0f} % |\n"
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
