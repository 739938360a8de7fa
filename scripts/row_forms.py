#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the short and the tuned form of each row kernel on the GPU here, by `warpwright tune`.

usage: row_forms.py [TEXT...]     only pairs whose names contain one of the texts

Prints a line for each pair: the best time of each form over the listed parameters, in microseconds, and
short / tuned. A tuned form stays in examples/ while it is at least 2 % faster at some length. X has 256 MiB
of zeros (attention: random numbers). Exit status 1: a form could not be measured.
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BYTES = 1 << 28  # of X
SIZE = {"bfloat16": 2, "float32": 4}
THREADS = "128,256,512,1024"
LANES = "None,128,256,512"

# name, parameters of the short form to try, those of the tuned form, element types, lengths
ROWS = [
    ("softmax", {"threads": THREADS}, {"lanes": LANES}, ["float32"], [1024, 4096, 16384]),
    ("layer_norm", {"threads": THREADS}, {"ahead": "None,0"}, ["float32"], [1024, 4096, 16384]),
    ("rms_norm", {"threads": THREADS}, {"lanes": LANES}, ["bfloat16", "float32"], [1024, 4096, 16384]),
]
INPUTS = ("X", "W", "B", "Scale", "Shift")


def fastest(file, sizes, space, inputs):
    """The best time in microseconds and its parameters; None and the reason where there is none."""
    path = ROOT / "examples" / f"{file}.py"
    expression = f"build({sizes}{''.join(f', {name}=?' for name in space)})"
    command = [str(ROOT / "warpwright"), "tune", str(path), "--kernel", expression, "--device", "cuda",
               "--repetitions", "100", "--json"]
    for name, values in space.items():
        command += ["--space", f"{name}={values}"]
    for each in inputs:
        command += ["--arg", each]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if not ran.stdout.startswith("{"):
        return None, (ran.stderr or ran.stdout).strip()
    report = json.loads(ran.stdout)
    if not report["ranked"]:
        return None, report["dropped"][0]["reason"]
    best = report["ranked"][0]
    return best["time_us"]["median"], " ".join(f"{name}={value}" for name, value in best["parameters"].items())


def inputs_of(file):
    """Zeros for those of INPUTS that the kernel has."""
    text = (ROOT / "examples" / f"{file}.py").read_text(encoding="utf-8")
    return [f"{name}=zeros" for name in INPUTS if re.search(rf"\b{name}(_ptr)?: ", text)]


def pairs():
    """Name, then file, sizes, parameters and arguments of the short and of the tuned form."""
    for name, short_space, tuned_space, dtypes, lengths in ROWS:
        short, tuned = f"rows/{name}", f"rows/{name}_tuned"
        for dtype in dtypes:
            for n in lengths:
                m = BYTES // SIZE[dtype] // n
                sizes = f'm={m}, n={n}, dtype="{dtype}"'
                yield f"{name} {dtype} {n}", (short, sizes, short_space, inputs_of(short)), (
                    tuned, sizes, tuned_space, inputs_of(tuned))
    yield "attention bfloat16 2x8192x16x128", (
        "rows/attention", 'rows=16384, sequences=2, heads=16, dim=128, dtype="bfloat16"',
        {"slots": "32,64,128", "BN": "32,64"}, ["cu_seqlens=list:0,8192,16384"]), (
        "rows/attention_tuned", 'batch=2, seq=8192, heads=16, kv_heads=16, dim=128, dtype="bfloat16"', {"BM": "64"}, [])


def main(words):
    if any(word.startswith("-") for word in words):
        print(__doc__)
        return 0 if words in (["-h"], ["--help"]) else 2
    print(f"{'pair':<34} {'short':>9} {'tuned':>9} {'short/tuned':>12}", flush=True)
    status = 0
    for name, short, tuned in pairs():
        if words and not any(word in name for word in words):
            continue
        (a, how_a), (b, how_b) = fastest(*short), fastest(*tuned)
        if a is None or b is None:
            status = 1
            print(f"{name:<34} not measured: short: {how_a}; tuned: {how_b}", flush=True)
        else:
            print(f"{name:<34} {a:>9.1f} {b:>9.1f} {a / b:>12.3f}   {how_a}; {how_b}", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
