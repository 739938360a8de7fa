#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what the documents say about the variants, as the program is now.

usage: make_variants.py table | pages

table: variants by architectures and engines (docs/reference/support.md). pages: docs/reference/variants.md
behind its first words. Everything is asked of the program named by WARPWRIGHT: which variants there are
(`warpwright variants --json`), which architectures take the smallest program of each
(docs/reference/variants/small.py), and whether the engines run it without findings and with equal results.
Where WARPWRIGHT_ANSWERS names the program of tests/docs/answers.cpp, processes of it answer, one for each core.
docs_tests fails where a document says something else; BLESS=1 rewrites it.
"""

import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("WARPWRIGHT", str(ROOT / "warpwright"))
ANSWERS = os.environ.get("WARPWRIGHT_ANSWERS")
SMALL = "docs/reference/variants/small.py"
ARCHS = ["sm_75", "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a"]
ENGINES = ["evaluator", "virtual GPU", "CUDA C++", "H200"]
# What has run on a GPU of sm_90a (docs/internals/lowering.md, docs/evidence/tensor_copies.md): a new variant joins
# when it has.
ON_GPU = {("copy", "vec"), ("copy", "gmem_smem"), ("copy", "ldstmatrix"), ("copy", "reg"),
          ("copy", "movmatrix"), ("copy", "shfl"), ("copy", "smem"), ("copy", "fallback"),
          ("copy", "dsmem"), ("copy_async", "bulk"), ("copy_async", "dsmem"), ("copy_async", "st_async"),
          ("copy_async", "ldgsts"), ("copy_async", "tma"), ("copy_async", "sync"), ("gemm", "mma"), ("gemm_async", "wgmma"), ("elementwise", "reg"),
          ("elementwise", "memory"), ("elementwise", "mixed"), ("reduce", "registers"), ("reduce", "warps"), ("reduce", "cluster"),
          ("scan", "registers"), ("scan", "warps"), ("gather", "indexed"), ("permute", "swizzled")}
INDEXED = ("gather", "scatter", "scatter_add")
FOLDERS = {"permute_layout": "permute", **{op: "gather" for op in INDEXED}}


local = threading.local()
answering = []  # the processes of all threads


def ask_answers(words):
    """What a process of tests/docs/answers.cpp says, which this thread keeps."""
    if not hasattr(local, "process"):
        local.process = subprocess.Popen([ANSWERS], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        answering.append(local.process)
    question = [f"{len(words)}\n".encode()]
    for word in map(str.encode, words):
        question += [f"{len(word)}\n".encode(), word]
    local.process.stdin.write(b"".join(question))
    local.process.stdin.flush()
    status, length = map(int, local.process.stdout.readline().split())
    return status, local.process.stdout.read(length).decode()


def ask(*words):
    """The exit status of the program with these arguments, and what it prints."""
    if ANSWERS:
        return ask_answers(words)
    done = subprocess.run([PROGRAM, *words], cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    return done.returncode, done.stdout


def variants():
    return json.loads(ask("variants", "--json")[1])["variants"]


def is_reduction(row):
    return row["op"] in ("sum", "prod", "max", "min", "any", "all", "argmax", "argmin")


def is_scan(row):
    return row["op"] in ("cumsum", "cumprod", "cummax", "cummin")


def is_elementwise(row):
    return (row["op"] not in ("copy", "copy_async", "gemm", "gemm_async", *FOLDERS) and not is_reduction(row)
            and not is_scan(row))


def kernel_of(row):
    """The builder of its smallest program."""
    name = row["name"]
    if name.startswith("vec_"):
        return f"vec({name[4:-1]})"
    if is_elementwise(row):
        return f'{"elementwise" if name == "reg" else name}("{row["op"]}")'
    if is_reduction(row) or row["op"] in INDEXED or name in ("dsmem", "wgmma"):
        return f'{name}("{row["op"]}")'
    if is_scan(row):
        return f'scan_{name}("{row["op"]}")'
    return f"{name}()"


def chosen(row, arch):
    """What the program reports of the primitive that this variant takes there, or None."""
    _, out = ask("explain", SMALL, "--kernel", kernel_of(row), "--target", arch, "--json")
    for primitive in json.loads(out)["primitives"] if out else []:
        if primitive["op"] == row["op"] and primitive["chosen"] == row["name"]:
            return primitive
    return None


def archs_of(row):
    return [arch for arch in ARCHS if chosen(row, arch)]


def results(row, arch, device):
    """The bytes of the result, or None where it cannot be run or has findings."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.npy"
        name = "D" if row["op"].startswith("gemm") else "B"
        words = ["run", SMALL, "--kernel", kernel_of(row), "--target", arch, "--device", device,
                 "--out", f"{name}={out}"]
        if row["name"] == "fallback":
            words += ["--arg", "rows=64"]
        status, _ = ask(*words)
        return out.read_bytes() if status == 0 else None


def numbers(npy):
    """The elements of a .npy file of float32."""
    begin = 10 + struct.unpack_from("<H", npy, 8)[0]
    return struct.unpack(f"<{(len(npy) - begin) // 4}f", npy[begin:])


def agree(row, meant, ran):
    """Moved elements, integers and bools are the same; computed floats may be rounded otherwise."""
    if meant is None or ran is None:
        return False
    if row["op"] in ("copy", "copy_async") or b"'<f4'" not in meant[:128]:
        return meant == ran
    return all((a != a and b != b) or a == b or abs(a - b) <= 1e-3 * max(1, abs(a))
               for a, b in zip(numbers(meant), numbers(ran)))


def engines_of(row, archs):
    arch = "sm_90a" if "sm_90a" in archs else archs[0]
    meant = results(row, arch, "eval")
    ran = results(row, arch, "sim")
    cuda, _ = ask("compile", SMALL, "--kernel", kernel_of(row), "--target", arch, "--emit", "cuda")
    return {"evaluator": meant is not None, "virtual GPU": agree(row, meant, ran),
            "CUDA C++": cuda == 0, "H200": group_of(row) in ON_GPU and "sm_90a" in archs}


def group_of(row):
    """Rows of one file: elementwise primitives, and the widths of a forced vector, are one page."""
    return (folder_of(row), "vec" if row["name"].startswith("vec_") else row["name"])


def folder_of(row):
    """Of its file."""
    if row["op"] in FOLDERS:
        return FOLDERS[row["op"]]
    if is_scan(row):
        return "scan"
    return "elementwise" if is_elementwise(row) else "reduce" if is_reduction(row) else row["op"]


def groups():
    out = {}
    for row in variants():
        out.setdefault(group_of(row), []).append(row)
    return out


def facts(row):
    archs = archs_of(row)
    return archs, engines_of(row, archs) if archs else {}


def cell(words):
    return ", ".join(f"`{word}`" for word in words)


def primitives(ops):
    """Their names, or their number where a line of names would be too long to read."""
    if len(ops) <= 8:
        return cell(ops)
    return f"[{len(ops)} elementwise primitives](language.md#tile-primitives)"


def table():
    rows = [(key, row) for key, members in groups().items() for row in members]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda item: facts(item[1]), rows))
    # Lines that would say the same are one.
    lines = {}
    for (key, row), (archs, engines) in zip(rows, found):
        marks = tuple(arch in archs for arch in ARCHS)
        marks += tuple(bool(engines.get(engine)) for engine in ENGINES)
        lines.setdefault((key, marks), []).append(row)
    print("| primitive | variant | " + " | ".join(ARCHS + ENGINES) + " |")
    print("|---|---|" + ":-:|" * len(ARCHS + ENGINES))
    for (key, marks), members in lines.items():
        ops = primitives(dict.fromkeys(row["op"] for row in members))
        names = cell(dict.fromkeys(row["name"] for row in members))
        cells = " | ".join("✓" if mark else "" for mark in marks)
        print(f"| {ops} | [{names}](variants.md#{anchor(key)}) | {cells} |")


def anchor(key):
    return f"{key[0]}-{key[1]}"


def source_of(row):
    name = "vec_forced" if row["name"].startswith("vec_") else row["name"]
    path = pathlib.Path("src/lower") / folder_of(row) / f"{name}.cpp"
    return path if (ROOT / path).exists() else pathlib.Path("src/lower/convert") / f"{name}.cpp"


def opening(path):
    """The comment at the top of a file, behind its licence."""
    lines = []
    for line in (ROOT / path).read_text(encoding="utf-8").splitlines()[1:]:
        if not line.startswith("//"):
            break
        lines.append(line[3:])
    return lines


def page(key, members):
    row = next(row for row in members if row["op"] in ("add", "fill", "sum", "cumsum", "gather") or row["name"] == "vec_128b"
               or len(members) == 1)
    archs = archs_of(row)
    arch = "sm_90a" if "sm_90a" in archs else archs[0]
    print(f"## {key[0]} {key[1]}\n")
    print(f"{row['about'][0].upper()}{row['about'][1:]}. Priority {row['priority']}"
          + (", only where `dispatch=` names it" if row["only_by_name"] else "")
          + (f", also called {', '.join(f'`{each}`' for each in row['aliases'])}"
             if row["aliases"] else "") + ".")
    if len(members) > 1:
        of = "op" if key[0] in ("elementwise", "reduce", "scan", "gather") else "name"
        print(f"The same for {cell(each[of] for each in members)}; shown for `{row[of]}`.")
    print(f"Its smallest program is taken on {', '.join(archs)}.")
    print(f"From [{source_of(row)}](../../{source_of(row)}):\n")
    for line in opening(source_of(row)):
        print(f"    {line}".rstrip())
    print()
    _, text = ask("explain", SMALL, "--kernel", kernel_of(row), "--target", arch)
    print("```text")
    print(f"$ warpwright explain {SMALL} --kernel '{kernel_of(row)}' --target {arch}")
    print(part_of(text, row))
    print("```\n")
    words = ["compile", SMALL, "--kernel", kernel_of(row), "--target", arch, "--emit", "ir"]
    print("What it becomes:\n\n```python")
    print(code_of(ask(*words)[1], row))
    print("```\n")


def code_of(ir, row):
    """The lines that `--emit ir` has for the first call that the variant takes."""
    lines = ir.splitlines()
    wanted = re.compile(rf'^( *)with T\.attr\(\{{"primitive": ".*\.{re.escape(row["op"])}\(.* by {row["name"]}"')
    for i, line in enumerate(lines):
        if found := wanted.match(line):
            inside = found.group(1) + "    "
            end = next((j for j in range(i + 1, len(lines)) if not lines[j].startswith(inside)), len(lines))
            return "\n".join(each[len(found.group(1)):] for each in lines[i:end])
    raise ValueError(f"`{row['name']}` of `{row['op']}` is not in\n{ir}")


def part_of(text, row):
    """What `explain` says of the first call that the variant takes."""
    for part in re.split(rf"^(?={re.escape(SMALL)}:)", text, flags=re.MULTILINE)[1:]:
        is_chosen = re.search(rf"^  {row['name']} +chosen", part, flags=re.MULTILINE)
        if is_chosen and f".{row['op']} by" in part:
            return part.rstrip()
    raise ValueError(f"`{row['name']}` is not chosen in\n{text}")


def main(words):
    if words == ["table"]:
        table()
    elif words == ["pages"]:
        for key, members in groups().items():
            page(key, members)
    else:
        print(__doc__, file=sys.stderr)
        return 2
    for process in answering:
        process.communicate()  # nothing more: it ends
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
