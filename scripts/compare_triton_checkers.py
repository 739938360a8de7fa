#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the same Triton programs, with planted faults and without, under three checkers, and writes docs/evidence/triton_checkers.md.

usage: compare_triton_checkers.py [-k PART_OF_A_NAME] [--print]

The checkers are `python -m warpwright check`, Triton's interpreter (TRITON_INTERPRET=1) and triton-viz's sanitizer.
The programs are those of python/tests/triton_programs, on CPU tensors. Needs a Python that has `warpwright`, PyTorch 2
and triton-viz with a Triton that it supports:

    pip install torch==2.12.1 triton-viz && pip install . && python scripts/compare_triton_checkers.py

Every program runs in a process of its own, forked from one that has imported PyTorch and Triton; CPU time and memory
are those of that process. With -k or --print the page is printed instead.
"""

import argparse
import contextlib
import importlib.metadata
import io
import json
import os
import pathlib
import platform
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import traceback

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "evidence" / "triton_checkers.md"
TESTS = ROOT / "python" / "tests"
SECONDS = 30  # that a program may take
TOOLS = {"warpwright": "Warpwright", "interpreter": "Triton's interpreter", "triton-viz": "triton-viz"}

# What a checker did with a planted fault, best first.
LINE, REPORT, WRONG, CRASH = "line", "report", "wrong values", "crash"
ENDLESS, NOTHING, UNABLE = "no end", "nothing", "cannot run"


# --- in a process of one tool -------------------------------------------------------------------------


def programs():
    """Planted faults and right programs by name."""
    sys.path.insert(0, str(TESTS))
    from triton_programs import faults, faults_of_values, gluon_faults, planted, right  # noqa: F401

    version = tuple(map(int, importlib.metadata.version("triton").split(".")[:2]))

    def named(*lists):
        return {each.__name__: each for part in lists for each in part if getattr(each, "since", version) <= version}

    return named(planted.PROGRAMS, planted.GLUON), named(right.PROGRAMS, planted.GLUON_RIGHT)


def run_tool(tool, wanted):
    """Prints a line of JSON for each program."""
    if tool == "triton-viz":
        patch_triton_viz()
    import torch

    torch.set_num_threads(1)
    planted, right = programs()
    for name, program in {**planted, **right}.items():
        if wanted in name:
            row = in_child(lambda: verdict(tool, program), SECONDS)
            print(json.dumps({"tool": tool, "program": name, **row}), flush=True)


def patch_triton_viz():
    """As its command `triton-sanitizer` does before it runs a script."""
    import triton
    import triton_viz.wrapper as wrapper

    triton.jit = triton.language.jit = wrapper.create_patched_jit(wrapper.sanitizer_wrapper)
    triton.autotune = wrapper.create_patched_autotune(wrapper.sanitizer_wrapper)


def in_child(answer, seconds):
    """What `answer` returns in a fork of this process, with the fork's time and memory."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reads)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        signal.setitimer(signal.ITIMER_REAL, seconds)  # its default is to end the process
        with os.fdopen(writes, "w") as pipe:
            json.dump(answer(), pipe)
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as pipe:
        text = pipe.read()
    _, status, usage = os.wait4(child, 0)
    row = {"seconds": usage.ru_utime + usage.ru_stime, "megabytes": usage.ru_maxrss / 1024}
    if text:
        return {**row, **json.loads(text)}
    ended = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    return {**row, "endless": True} if ended == signal.SIGALRM else {**row, "error": f"signal {ended}", "lines": []}


def verdict(tool, program):
    """The lines that were reported, and the error and the wrong values of the program."""
    if tool == "warpwright":
        return checked_here(program)
    said, out = io.StringIO(), {"lines": [], "error": ""}
    try:
        with contextlib.redirect_stdout(said):
            result = program()
        if tool == "interpreter" and result is not None:
            out["wrong"] = differs(*result)
    except SystemExit:
        out["error"] = "reported"
    except AssertionError:  # of a right program: the sanitizer computes no values
        out["wrong"] = tool == "interpreter"
    except Exception as error:
        out["error"] = f"{type(error).__name__}: {error}".split("\n")[0][:80]
        out["lines"] = [[each.filename, each.lineno] for each in traceback.extract_tb(error.__traceback__)]
    text = re.sub(r"\x1b\[\d*m", "", said.getvalue())  # colours
    for path, line in re.findall(r"^ *File: *(\S+)\n.*\n *Line (\d+):", text, re.M):
        out["error"] = "reported"
        out["lines"] = [[path, int(line)]]
    return out


def checked_here(program):
    from warpwright import check

    target = getattr(program, "targets", ["sm_90a"])[-1]
    try:
        session = check.run(program, target=target, time=2 if is_endless(program) else SECONDS)
    except Exception as error:
        return {"lines": [], "error": f"{type(error).__name__}: {error}".split("\n")[0][:80]}
    found = session.findings.list()
    places = [place for each in found for place in (each.place, each.other_place) if place is not None]
    return {
        "lines": [[each.file, each.line] for each in places],
        "error": "reported" if found else "",
        "endless": session.status == 2,
    }


def differs(actual, wanted):
    actual, wanted = actual.double(), wanted.double()
    return not bool(((actual - wanted).abs() <= 1e-2 * wanted.abs().max().clamp(min=1)).all())


def is_endless(program):
    from triton_programs import planted

    return program in planted.PROGRAMS and planted.marks(program)[0] == "hang"


# --- the page -------------------------------------------------------------------------------------------


def measure(wanted):
    """What each tool did: by tool and program."""
    out = {}
    for tool in TOOLS:
        with tempfile.TemporaryDirectory() as cache:
            env = {**os.environ, "TRITON_CACHE_DIR": cache, "TRITON_DEFAULT_FP_FUSION": "1"}
            if tool == "interpreter":
                env["TRITON_INTERPRET"] = "1"
            words = [sys.executable, __file__, "--tool", tool, "-k", wanted]
            done = subprocess.run(words, env=env, stdout=subprocess.PIPE, text=True, check=True)
        for line in done.stdout.splitlines():
            if line.startswith("{"):
                row = json.loads(line)
                out[tool, row["program"]] = row
    return out


def found_in(row, kind, lines, file):
    """What the row says of a planted fault."""
    named = {line for path, line in row.get("lines", []) if pathlib.Path(path).name == file}
    if row.get("error") and named & lines:
        return LINE
    if row.get("error") == "reported":
        return REPORT
    if row.get("endless"):
        return ENDLESS
    if row.get("error"):
        return CRASH if row["error"].startswith("signal") else UNABLE
    return WRONG if row.get("wrong") else NOTHING


def said_of_right(row):
    if row.get("error") == "reported":
        return "false alarm"
    if row.get("endless"):
        return ENDLESS
    if row.get("error"):
        return f"{UNABLE} ({row['error']})"
    return WRONG if row.get("wrong") else "clean"


def versions():
    names = ("triton", "triton-viz", "torch")
    found = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)
    return f"{found}, Python {platform.python_version()}, {os.cpu_count()} CPU cores"


def page(rows):
    planted, right = programs()
    from triton_programs import planted as marks

    planted = {name: each for name, each in planted.items() if (next(iter(TOOLS)), name) in rows}
    right = {name: each for name, each in right.items() if (next(iter(TOOLS)), name) in rows}
    faults, seen = [], {}
    for name, program in planted.items():
        kind, lines = marks.marks(program)
        file = pathlib.Path(program.__code__.co_filename).name
        if file == "planted.py":  # where programs in Gluon are made
            file = "gluon_faults.py"
        for tool in TOOLS:
            seen[tool, name] = found_in(rows[tool, name], kind, lines, file)
        faults.append([f"`{name}`", kind, *(seen[tool, name] for tool in TOOLS)])
    verdicts = {(tool, name): said_of_right(rows[tool, name]) for tool in TOOLS for name in right}
    print(HEAD.format(faults=len(planted), right=len(right), versions=versions(), seconds=SECONDS))
    table(["", *TOOLS.values()], summary(rows, planted, right, seen, verdicts))
    print("\n<!-- end of triton checkers -->\n\n## Each planted fault\n")
    print("*line*: reports the fault and names a line that the program's comments mark; *report*: names another line, or none;")
    print("*wrong values*: reports nothing, but the values are not those of a right program; *crash*: a signal ends the process;")
    print("*no end*: does not end in time; *nothing*: none of these; *cannot run*: an error of another kind. The programs are")
    print("[faults.py](../../python/tests/triton_programs/faults.py),")
    print("[faults_of_values.py](../../python/tests/triton_programs/faults_of_values.py) and, in Gluon,")
    print("[gluon_faults.py](../../python/tests/triton_programs/gluon_faults.py).\n")
    table(["program", "fault", *TOOLS.values()], faults)
    print("\n## Right programs that are not clean everywhere\n")
    odd = [[f"`{name}`", *(verdicts[tool, name] for tool in TOOLS)] for name in right
           if any(verdicts[tool, name] != "clean" for tool in TOOLS)]
    table(["program", *TOOLS.values()], odd)


def summary(rows, planted, right, seen, verdicts):
    def count(label, names, found, begins):
        return [label, *(sum(found[tool, name].startswith(begins) for name in names) for tool in TOOLS)]

    def combined(label, column, digits, combine):
        names = [*planted, *right]
        return [label, *(f"{combine(rows[tool, name][column] for name in names):.{digits}f}" for tool in TOOLS)]

    faults, gluon_faults = split(planted)
    whole, gluon_whole = split(right)
    return [
        [f"**{len(faults)} planted faults**", "", "", ""],
        count("reported, with the line", faults, seen, LINE),
        count("reported, with another line or none", faults, seen, REPORT),
        count("not reported, but the values are wrong, or it crashes", faults, seen, (WRONG, CRASH)),
        count("not reported, and the program does not end", faults, seen, ENDLESS),
        count("not noticed", faults, seen, NOTHING),
        [f"**{len(whole)} right programs**", "", "", ""],
        count("clean", whole, verdicts, "clean"),
        count("accused", whole, verdicts, "false alarm"),
        count("cannot run, or no end", whole, verdicts, (UNABLE, ENDLESS)),
        [f"**{len(gluon_faults)} faults and {len(gluon_whole)} right programs in Gluon**", "", "", ""],
        count("faults reported, with the line", gluon_faults, seen, LINE),
        count("right programs that are clean", gluon_whole, verdicts, "clean"),
        ["**all programs**", "", "", ""],
        combined("CPU seconds for a program, median", "seconds", 2, statistics.median),
        combined("CPU seconds for all", "seconds", 0, sum),
        combined("MB of a process, at most", "megabytes", 0, max),
    ]


def split(found):
    """Names of programs in Triton's language, and in Gluon."""
    gluon = [name for name, each in found.items() if hasattr(each, "kernels")]
    return [name for name in found if name not in gluon], gluon


def table(header, lines):
    numbers = [all(re.fullmatch(r"[\d.]*", str(line[i])) for line in lines) for i in range(len(header))]
    print("|", " | ".join(header), "|")
    print("|" + "|".join("--:" if number else "---" for number in numbers) + "|")
    for line in lines:
        print("|", " | ".join(map(str, line)), "|")


HEAD = """# Checkers of Triton kernels, compared

The same programs under three checkers: `python -m warpwright check`, Triton's interpreter (`TRITON_INTERPRET=1`) and triton-viz's
sanitizer (`triton-sanitizer`). `scripts/compare_triton_checkers.py` runs them and writes this page.

{faults} programs have one planted fault each, and {right} are right; all are in
[triton_programs](../../python/tests/triton_programs). The faults are of the kinds that Warpwright looks for, chosen by its authors.
A program runs in a process of its own, for at most {seconds} s. Seconds are of CPU time, with what the checker compiles and without the
imports; memory is the peak of the process.

The interpreter reports nothing by itself: a fault shows as wrong values, which a test must compare. The sanitizer looks for accesses
outside tensors and computes no values. Neither runs Gluon. What they do with memory that nothing has written, or that is outside
tensors, depends on what lies there, and varies from run to run.

<!-- measured: triton checkers -->
{versions}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-k", default="", metavar="PART", help="only programs with this in their names")
    parser.add_argument("--print", action="store_true", help="print the page")
    parser.add_argument("--tool", choices=TOOLS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.tool:
        return run_tool(args.tool, args.k)
    rows = measure(args.k)
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        page(rows)
    if args.k or args.print:
        print(text.getvalue(), end="")
    else:
        PAGE.write_text(text.getvalue(), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
