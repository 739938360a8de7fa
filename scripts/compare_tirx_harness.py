#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the same TIRx programs under Warpwright and TIRx Harness, and writes the tables of docs/evidence/tirx_harness.md.

usage: compare_tirx_harness.py [-k PART_OF_A_NAME] [--print] [--warpwright PROGRAM]

The tools are `warpwright run` on the virtual GPU, and NumSim, Racecheck and Synccheck. The programs are those of
docs/evidence/tirx_harness. Needs a Python of 3.12 or 3.13 with TIRx Harness, and a Rust toolchain:

    pip install --pre tirx-harness==0.1.2.post2 && python scripts/compare_tirx_harness.py

Each tool runs each program twice, in a process of its own: NumSim and the checkers translate a program to Rust, compile
it, and keep the result for the next run. CPU time and memory are those of the process and its children. The engines that
such programs are linked with are built before, in build/tirx_harness, if they are not there. With -k or --print the tables are printed instead.
"""

import argparse
import contextlib
import importlib
import importlib.metadata
import io
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

from compare_triton_checkers import table

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "evidence" / "tirx_harness.md"
FOLDER = ROOT / "docs" / "evidence" / "tirx_harness"
BUILT = ROOT / "build" / "tirx_harness"  # the harness' engines, and what it has compiled of programs
TOOLS = {"warpwright": "Warpwright", "numsim": "NumSim", "racecheck": "Racecheck", "synccheck": "Synccheck"}

BEGIN, END = "<!-- measured: tirx harness -->\n", "\n<!-- end of tirx harness -->"

# What must hold after a run, for Warpwright and for NumPy.
PROGRAMS = {
    "elementwise": ("C ~= 2 * A + B", lambda A, B, C: (C, 2 * A + B)),
    "reduction": ("B ~= sum(A, 1)", lambda A, B: (B, A.sum(1))),
    "tma_ring": ("B == 2 * A", lambda A, B: (B, 2 * A)),
    "roles": ("B == 2 * A", lambda A, B: (B, 2 * A)),
    "no_barrier": ("B ~= sum(A, 1)", lambda A, B: (B, A.sum(1))),
    "uncounted": ("B == A", lambda A, B, C: (B, A)),
}


# --- in a process of one tool of the harness ------------------------------------------------------------


def run_tool(tool, name):
    """Prints a line of JSON: what the tool says of a program."""
    import numpy as np

    sys.path.insert(0, str(FOLDER))
    kernel = getattr(importlib.import_module(name), name)
    rng = np.random.default_rng(1)
    inputs = {}
    for each in kernel.params:
        inputs[each.name] = rng.standard_normal([int(n) for n in each.shape]).astype(str(each.dtype))
    if tool == "numsim":
        from tirx_harness import numsim

        after = numsim.Engine().run(numsim.transpile(kernel), inputs).outputs
        actual, wanted = PROGRAMS[name][1](**{key: np.asarray(after.get(key, inputs[key])) for key in inputs})
        good = np.allclose(actual, wanted, rtol=1e-4, atol=1e-4)
        row = {"verdict": "clean" if good else "wrong values", "kinds": [], "text": ""}
    else:
        import tirx_harness

        report = getattr(tirx_harness, tool)(kernel, inputs)
        kinds = sorted({each.kind for each in report.findings})
        row = {"verdict": report.verdict, "kinds": kinds, "text": report.format()}
    print("\n" + json.dumps(row))


# --- the page -------------------------------------------------------------------------------------------


def measured(words, env=None):
    """What a process prints, with the CPU seconds and the memory of it and its children."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen(words, env=env, stdout=out, stderr=errors, text=True)
        _, _, usage = os.wait4(child.pid, 0)
        child.returncode = 0  # it has been waited for
        out.seek(0)
        errors.seek(0)
        text, error = out.read(), errors.read()
    return text, error, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measure(name, tool, warpwright):
    """The verdict on a program, seconds of the first run and of the second, and megabytes."""
    file, runs = FOLDER / f"{name}.py", []
    shutil.rmtree(BUILT / "artifacts", ignore_errors=True)
    with tempfile.TemporaryDirectory() as cache:
        for _ in range(2):
            if tool == "warpwright":
                words = [warpwright, "run", file, "--target", "sm_100a", "--device", "sim", "--json"]
                runs.append(measured([*words, "--expect", PROGRAMS[name][0]]))
            else:
                words = [sys.executable, __file__, "--tool", tool, "-k", name]
                env = {**os.environ, "NUMSIM_CACHE_DIR": cache, "NUMSIM_BUILD_CACHE_DIR": str(BUILT)}
                runs.append(measured(words, env))
    text, error, _, _ = runs[0]
    said = said_by_us(text, error) if tool == "warpwright" else said_by_them(text, error)
    return [verdict(*said, file), *(run[2] for run in runs), max(run[3] for run in runs)]


def said_by_us(text, error):
    """What is wrong, in a word, and the lines named."""
    if not text.startswith("{"):
        return "cannot run: " + error.strip().split("\n")[-1][:80], set()
    row = json.loads(text)
    lines = {at["line"] for each in row["findings"] for at in (each["at"], each.get("note_at")) if at}
    return ", ".join({each["check"] for each in row["findings"]}) or ("clean" if row["good"] else "wrong values"), lines


def said_by_them(text, error):
    last = text.strip().split("\n")[-1]
    if not last.startswith("{"):
        return "cannot run: " + error.strip().split("\n")[-1][:80], set()
    row = json.loads(last)
    lines = {int(line) for line in re.findall(r"\w+\.py:(\d+):", row["text"])}
    return ": ".join([row["verdict"], *row["kinds"]]), lines


def verdict(said, lines, file):
    faults = {i for i, line in enumerate(file.read_text().split("\n"), 1) if "# fault:" in line}
    if not faults:
        return said if said == "clean" else f"**{said}**"
    if said in ("clean", "wrong values"):
        return "not found" if said == "clean" else said
    return f"{said}; names the line" if lines & faults else f"{said}; another line"


def versions(warpwright):
    def said(*words):
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split("\n")[0]

    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text()).group(1)
    names = [f"{name} {importlib.metadata.version(name)}" for name in ("tirx-harness", "apache-tvm", "numpy")]
    rust = " ".join(said("rustc", "--version").split()[:2])
    names = [said(warpwright, "--version"), *names, f"Python {platform.python_version()}", rust, cpu]
    return ", ".join(names) + f", {os.cpu_count()} cores"


def tables(rows, warpwright):
    def each(column, form):
        return [[f"[`{name}`](tirx_harness/{name}.py)", *(form.format(row[tool][column]) for tool in TOOLS)]
                for name, row in rows.items()]

    print(versions(warpwright))
    for title, column, form in (("", 0, "{}"), ("CPU seconds, first run", 1, "{:.2f}"),
                                ("CPU seconds, second run", 2, "{:.2f}"), ("MB, at most", 3, "{:.0f}")):
        print()
        table([title, *TOOLS.values()], each(column, form))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-k", default="", metavar="PART", help="only programs with this in their names")
    parser.add_argument("--print", action="store_true", help="print the page")
    parser.add_argument("--warpwright", default=str(ROOT / "build/release/bin/warpwright"), metavar="PROGRAM")
    parser.add_argument("--tool", choices=TOOLS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.tool:
        return run_tool(args.tool, args.k)
    for tool in TOOLS:  # builds its engine
        measure("elementwise", tool, args.warpwright)
    rows = {name: {tool: measure(name, tool, args.warpwright) for tool in TOOLS} for name in PROGRAMS if args.k in name}
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        tables(rows, args.warpwright)
    if args.k or args.print:
        print(text.getvalue(), end="")
    else:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text(before + BEGIN + text.getvalue() + END + after, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
