#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Compiles the corpus: triton_kernels.py with Triton, cuda/*.cu with nvcc. Writes ptx/*.ptx, data/*.npy and
# cases.txt, which the tests read; they need neither compiler. A text that two targets share, but for its
# version and target, is stored once. Run it in an environment with Triton 3.9 and NumPy (pip install triton
# numpy), with nvcc 13 on the PATH:
#
#   tests/foreign/stored/make_corpus.py              all of it
#   tests/foreign/stored/make_corpus.py cuda         only what comes from nvcc; `triton` only the rest
#
# A CUDA file has lines `// case KERNEL TARGETS: options of warpwright sim`.
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
HEAD = """# SPDX-License-Identifier: Apache-2.0
# Written by make_corpus.py: `FILE options of warpwright sim`. `--same P=FILE` and `--near P=FILE` compare a buffer
# with an array of data/. `--text FILE --version V --target T`: the text of FILE with another head.
"""


def compact(ptx):
    """Without comments, debug sections and empty lines."""
    ptx = ptx.split("\n\t.section")[0]
    ptx = re.sub(r"//.*", "", ptx)
    ptx = "\n".join(line.rstrip() for line in ptx.splitlines() if line.strip()) + "\n"
    # Triton 3.9 lets LLVM use registers of tcgen05.ld before the wait for them, which the manual does not allow.
    wait = "\ttcgen05.wait::ld.sync.aligned;\n"
    return re.sub(r"(\ttcgen05\.ld\.[^\n]*;\n)(?!%s)" % re.escape(wait), lambda load: load[1] + wait, ptx)


class Texts:
    """What ptx/ holds, by all of a text but its first two lines, the version and the target."""

    def __init__(self):
        self.files = {}

    def store(self, file, ptx):
        """Options that say where the text is; none when it is in a file of its own."""
        version, target, rest = ptx.split("\n", 2)
        assert version.startswith(".version ") and target.startswith(".target "), file
        at = self.files.setdefault(rest, file)
        path = HERE / "ptx" / f"{file}.ptx"
        if at == file:
            path.write_text(ptx)
            return ""
        path.unlink(missing_ok=True)
        return f" --text {at}.ptx --version {version.split()[1]} --target {target.split()[1]}"


def make_triton():
    os.environ["TRITON_DISABLE_LINE_INFO"] = "1"
    os.environ.setdefault("TRITON_CACHE_DIR", tempfile.mkdtemp())
    import numpy as np
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    sys.path.insert(0, str(HERE))
    import triton_kernels as rows
    (HERE / "data").mkdir(exist_ok=True)
    for name, array in rows.data().items():
        np.save(HERE / "data" / f"{name}.npy", array)
    cases, texts = [], Texts()
    for kernel, targets, warps, types, constants, options in rows.KERNELS:
        kernel, suffix = kernel if isinstance(kernel, tuple) else (kernel, "")
        names = kernel.arg_names
        sixteens = {(i,): [["tt.divisibility", 16]] for i, of in enumerate(types) if of.endswith(":16")}
        types = [of.removesuffix(":16") for of in types]
        signature = dict(zip(names, types)) | {name: "constexpr" for name in names[len(types):]}
        name = kernel.__name__ + ("_" + suffix if suffix else "")
        for target in targets:
            file = f"triton_{name}_{target}"
            source = ASTSource(kernel, signature, {(names.index(k),): v for k, v in constants.items()},
                               attrs=sixteens or None)
            try:
                made = triton.compile(source, target=GPUTarget("cuda", target, 32),
                                      options={"num_warps": warps, "num_stages": 2})
            except Exception as problem:
                print(f"{file}: {str(problem).splitlines()[-1]}")
                continue
            ptx = compact(made.asm["ptx"])
            text = texts.store(file, ptx)
            params = ptx.split(".entry")[1].split(")")[0].count(".param")
            extra = "".join(f" --arg {i}=null" for i in range(len(types), params))
            shared = made.metadata.shared
            cases.append(f"{file}.ptx{text} --block {32 * warps}" + (f" --shared {shared}" if shared else "") +
                         f" {options}{extra}")
    return cases


def make_cuda():
    cases, texts, stored = [], Texts(), {}
    for source in sorted((HERE / "cuda").glob("*.cu")):
        text = source.read_text()
        flags = re.search(r"// options: (.*)", text)
        for kernel, targets, options in re.findall(r"// case (\w+) ([\w ]+): (.*)", text):
            for target in targets.split():
                file = f"{source.stem}_{target[3:]}"
                to = HERE / "ptx" / f"{file}.ptx"
                if file not in stored:
                    subprocess.run(["nvcc", "-std=c++20", "-ptx", f"-arch={target}", *(flags[1].split() if flags else []),
                                    "-o", str(to), str(source)], check=True)
                    stored[file] = texts.store(file, compact(to.read_text()))
                cases.append(f"{file}.ptx{stored[file]} --kernel {kernel} {options}")
    return cases


def main():
    what = sys.argv[1:] or ["triton", "cuda"]
    (HERE / "ptx").mkdir(exist_ok=True)
    old = (HERE / "cases.txt").read_text().splitlines() if (HERE / "cases.txt").exists() else []
    kept = lambda is_triton: [line for line in old if line.startswith("triton_") == is_triton and ".ptx " in line
                              and not line.startswith("#")]
    triton_cases = make_triton() if "triton" in what else kept(True)
    cuda_cases = make_cuda() if "cuda" in what else kept(False)
    (HERE / "cases.txt").write_text(HEAD + "\n".join(triton_cases + cuda_cases) + "\n")


main()
