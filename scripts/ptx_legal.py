#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ask the installed ptxas about every case of tests/ptx/isa/legality.txt and write its verdicts there.

The file is both the list of questions and the stored answers, so that tests can compare the
catalogue with ptxas on machines that have none. A line is

    family | verdicts | lowest PTX | setup | instruction;

where the verdicts are one digit per architecture of the header line (1: assembles at the newest PTX
version), the lowest PTX version is for the first architecture that accepts (`-` if none does), with
`, sm_90 7.8` behind it where a later one has accepted it earlier, and the setup is empty or one of `entry DIRECTIVES`, `global DECLARATION;`, `param LIST`. A new case is
a line with `?` as its verdicts. {%r1..%r4} stands for the whole list.

usage: ptx_legal.py [--ptxas PATH] [--new] [--check] [FILE]
  --new     only ask about lines whose verdicts are `?`
  --check   write nothing; report lines whose stored verdicts differ, exit 1 if there are any
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

VERSIONS = ("6.3 6.4 6.5 7.0 7.1 7.2 7.3 7.4 7.5 7.6 7.7 7.8 8.0 8.1 8.2 8.3 8.4 8.5 8.6 8.7 8.8 9.0").split()
ARCHS = ("sm_75 sm_80 sm_86 sm_87 sm_88 sm_89 sm_90 sm_90a sm_100 sm_100a sm_100f sm_103 sm_103a sm_103f "
         "sm_110 sm_110a sm_110f sm_120 sm_120a sm_120f sm_121 sm_121a sm_121f").split()
# What every case may use. tests/ptx/isa/legality_test.cpp declares the same.
GLOBALS = (".shared .align 128 .b8 sm[1024];\n.global .align 16 .b8 gl[1024];\n"
           ".const .align 16 .b8 cn[1024];\n")
REGISTERS = (".reg .pred %p<8>; .reg .b8 %b<8>; .reg .b16 %rs<16>; .reg .b32 %r<300>; "
             ".reg .b64 %rd<80>; ")
WIDE = ".reg .b128 %rq<8>; "  # only where used: it needs PTX 8.3


class Case:
    def __init__(self, line):
        self.family, self.bits, self.ptx, self.setup, self.text = [p.strip() for p in line.split("|", 4)]
        self.ok = {}

    def line(self):
        return f"{self.family} | {self.bits} | {self.ptx} | {self.setup} | {self.text}"

    def kernel(self, index):
        kind, _, what = self.setup.partition(" ")
        head = what + "\n" if kind == "global" else ""
        params = what if kind == "param" else ".param .u64 pa"
        attrs = what if kind == "entry" else ""
        text = expand(self.text)
        regs = REGISTERS + (WIDE if "%rq" in text else "")
        return (f"{head}.visible .entry k{index}({params}) {attrs} {{ {regs}.local .align 16 .b8 lo[64];\n"
                f"{text}\nret; }}\n")


def expand(text):
    def run(match):
        prefix, first, last = match.group(1), int(match.group(2)), int(match.group(3))
        return ", ".join(f"{prefix}{i}" for i in range(first, last + 1))
    return re.sub(r"(%[a-z]+)(\d+)\.\.%[a-z]+(\d+)", run, text)


def assemble(ptxas, text, arch):
    """(accepted, {line: message}, [kernel numbers named in messages without a line])"""
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "m.ptx")
        with open(path, "w") as out:
            out.write(text)
        run = subprocess.run([ptxas, "-O1", f"-arch={arch}", path, "-o", os.path.join(work, "m.cubin")],
                             capture_output=True, text=True)
    said = run.stderr + run.stdout
    lines = {int(m.group(1)): m.group(2) for m in re.finditer(r"m\.ptx, line (\d+); (?:error|fatal)\s*:\s*(.*)", said)}
    # Alone it would be fatal; beside kernels that use 64-bit addresses it is a warning.
    lines |= {int(n): "32-bit address" for n in re.findall(r"32-bit address on line '(\d+)'", said)}
    named = [int(k) for k in re.findall(r"(?:error|fatal).*?[Ff]unction '?k(\d+)\b", said)]
    return run.returncode == 0 and not lines, lines, named


def refused(ptxas, cases, arch, version):
    """The set of cases that ptxas refuses for an architecture and version."""
    bad, todo = set(), list(cases)
    while todo:
        text = f".version {version}\n.target {arch}\n.address_size 64\n" + GLOBALS
        owner, line = {}, text.count("\n")
        for index, case in enumerate(todo):
            part = case.kernel(index)
            for number in range(line + 1, line + part.count("\n") + 1):
                owner[number] = case
            line += part.count("\n")
            text += part
        ok, lines, named = assemble(ptxas, text, arch)
        if ok:
            return bad
        found = {owner[n] for n in lines if n in owner} | {todo[k] for k in named if k < len(todo)}
        if not found:  # a message without a place, or a crash: divide
            if len(todo) == 1:  # a crash is asked about once more
                return bad if assemble(ptxas, text, arch)[0] else bad | {todo[0]}
            half = len(todo) // 2
            return bad | refused(ptxas, todo[:half], arch, version) | refused(ptxas, todo[half:], arch, version)
        bad |= found
        todo = [case for case in todo if case not in found]
    return bad


def judge(ptxas, cases, pool):
    jobs = {arch: pool.submit(refused, ptxas, cases, arch, VERSIONS[-1]) for arch in ARCHS}
    for arch, job in jobs.items():
        bad = job.result()
        for case in cases:
            case.ok[arch] = case not in bad
    groups = {}
    for case in cases:
        case.bits = "".join("1" if case.ok[arch] else "0" for arch in ARCHS)
        case.ptx = "-"
        first = next((arch for arch in ARCHS if case.ok[arch]), None)
        if first:
            groups.setdefault(first, []).append(case)
    list(pool.map(lambda group: lowest(ptxas, *group), groups.items()))
    for arch in ARCHS:
        earlier(ptxas, arch, [case for case in cases if case.ok[arch] and "," not in case.ptx])


def lowest(ptxas, arch, cases):
    """Finds the lowest version by going up; what a version accepts is done."""
    todo = list(cases)
    for version in VERSIONS:
        if not todo:
            return
        bad = refused(ptxas, todo, arch, version)
        for case in todo:
            if case not in bad:
                case.ptx = version
        todo = [case for case in todo if case in bad]


def earlier(ptxas, arch, cases):
    """Adds where an architecture takes a case before the first one that accepts it does."""
    for at, version in enumerate(VERSIONS):
        todo = [case for case in cases if "," not in case.ptx and VERSIONS.index(case.ptx) > at]
        empty = f".version {version}\n.target {arch}\n.address_size 64\n"
        if not todo or not assemble(ptxas, empty, arch)[0]:
            continue
        bad = refused(ptxas, todo, arch, version)
        for case in todo:
            if case not in bad:
                case.ptx += f", {arch} {version}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ptxas", default=shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas")
    parser.add_argument("--new", action="store_true")
    parser.add_argument("--check", action="store_true")
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("file", nargs="?", default=os.path.join(here, "..", "tests", "ptx", "isa", "legality.txt"))
    args = parser.parse_args()
    if not os.access(args.ptxas, os.X_OK):
        sys.exit("ptx_legal.py: no ptxas found; name one with --ptxas")
    with open(args.file) as lines:
        lines = [line.rstrip("\n") for line in lines]
    cases = {i: Case(line) for i, line in enumerate(lines) if line and not line.startswith("#")}
    asked = [case for case in cases.values() if not args.new or "?" in case.bits]
    before = {case: (case.bits, case.ptx) for case in asked}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        judge(args.ptxas, asked, pool)
    changed = [case for case in asked if before[case] != (case.bits, case.ptx)]
    print(f"{len(asked)} cases asked, {len(changed)} changed")
    if args.check:
        for case in changed:
            print(f"{case.text}\n  stored {before[case]}, ptxas says {(case.bits, case.ptx)}")
        sys.exit(1 if changed else 0)
    for i, case in cases.items():
        lines[i] = case.line()
    lines[0] = "# " + " ".join(ARCHS)
    with open(args.file + ".new", "w") as out:
        out.write("\n".join(lines) + "\n")
    os.replace(args.file + ".new", args.file)


if __name__ == "__main__":
    main()
