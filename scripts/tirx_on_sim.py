#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles a tile program with Apache TVM and runs the CUDA C++ it makes on the virtual GPU.

    pip install apache-tvm==0.27.0.post1        (in a virtual environment)
    python3 scripts/tirx_on_sim.py docs/evidence/mislowerings/01_float32_fragment.py --expect 'B == A'

TVM's CUDA C++ goes through nvcc to PTX, and that through `warpwright sim` with all checks. The
first array is filled with 0, 1, 2, ..., the others are results without contents, unless --arg
says otherwise. Needs nvcc on the PATH. Exit status: that of `warpwright sim`; 3 when TVM refuses
the program, 4 when nvcc does.
"""

import argparse
import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent


def load(path):
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cuda_of(kernel, arch):
    import tvm

    target = tvm.target.Target({"kind": "cuda", "arch": arch})
    with target:
        built = tvm.compile(tvm.IRModule({"main": kernel}), target=target, tir_pipeline="tirx")
    return built.mod.imports[0].inspect_source()


def arrays_of(kernel):
    """Name and array of each parameter, in the words of `warpwright sim --arg`, as TVM prints them."""
    signature = re.search(r"def \w+\((.*)\):", kernel.script()).group(1)
    parameter = re.compile(r"(\w+): T\.(?:Buffer\(\(([\d, ]+?),?\)(?:, \"(\w+)\")?[^)]*\)|\w+)")
    return {
        name: f"{dtype or 'float32'}[{shape.replace(' ', '')}]" if shape else "i32:0"
        for name, shape, dtype in parameter.findall(signature)
    }


def places_of(source, names):
    """The place of each parameter in TVM's CUDA C++, which drops unused ones and has its own order."""
    signature = re.search(r"__launch_bounds__\(\d+[^)]*\)\s*\w+\(([^)]*)\)", source).group(1)
    kept = [re.search(r"(\w+)$", each.strip()).group(1) for each in signature.split(",")]
    return {name: kept.index(each) for name in names for each in (name, name + "_ptr") if each in kept}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--arch", default="sm_90a")
    parser.add_argument("--grid", default="1")
    parser.add_argument("--block", help="threads; TVM's __launch_bounds__ if not said")
    parser.add_argument("--arg", action="append", default=[], metavar="NAME=ARRAY",
                        help="a parameter in the words of `warpwright sim --arg`, such as A=float32[128]:arange")
    parser.add_argument("--expect", action="append", default=[])
    parser.add_argument("--show", action="store_true", help="print TVM's CUDA C++ first")
    args = parser.parse_args()
    given = dict(each.split("=", 1) for each in args.arg)

    warnings.simplefilter("ignore")
    try:
        kernel = load(args.file).kernel
        source = cuda_of(kernel, args.arch)
    except Exception as error:  # whatever a compiler raises
        lines = [line for line in str(error).splitlines() if line.strip(" ^~|\t")]
        print(f"TVM refuses the program: {type(error).__name__}: {lines[-1].strip() if lines else ''}")
        return 3
    if args.show:
        print(source)
    with tempfile.TemporaryDirectory() as folder:
        cu, ptx = pathlib.Path(folder, "kernel.cu"), pathlib.Path(folder, "kernel.ptx")
        cu.write_text(source)
        made = subprocess.run(["nvcc", "-ptx", f"-arch={args.arch}", cu, "-o", ptx], capture_output=True, text=True)
        if made.returncode != 0:
            print("nvcc refuses TVM's CUDA C++: " + next((l for l in made.stderr.splitlines() if "error" in l), made.stderr))
            return 4
        threads = args.block or re.search(r"__launch_bounds__\((\d+)", source).group(1)
        command = [ROOT / "warpwright", "sim", ptx, "--grid", args.grid, "--block", threads]
        arrays = arrays_of(kernel)
        places = places_of(source, arrays)
        for i, (name, place) in enumerate(places.items()):
            command += ["--arg", f"{place}=" + given.get(name, arrays[name] + (":arange" if i == 0 else ""))]
        for name in arrays.keys() - places.keys():
            print(f"TVM has dropped `{name}`: its code does not use it")
        for each in args.expect:
            command += ["--expect", re.sub(r"\b[A-Za-z_]\w*\b", lambda m: f"${places[m[0]]}" if m[0] in places else m[0], each)]
        return subprocess.run(command).returncode


if __name__ == "__main__":
    sys.exit(main())
