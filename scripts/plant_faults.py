#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants small faults in src/ at random and counts how many of them the tests find.

usage: plant_faults.py [--count N] [--seed S] [--folder F]... [--jobs J] [--list] [--self-test]

A fault is what a person mistypes: `<` where `<=` was meant, `&&` for `||`, a constant off by one, a refusal left
out, min for max. All of them are compiled into one build of a copy of the tree (build/faults), each behind a
switch: the environment variable WW_FAULT has the number of the one that is on. Every test runs once without
a fault and records which faults it reaches; then each fault runs with the tests that reach it, the quickest
first, until one fails. Prints a line for each fault, `found`, `survived` or `not reached`, with the test that
failed; then a table by folder.

`survived` wants a test, or a reason why nobody can see the difference. --list prints the faults and plants none.
--self-test checks what is planted in a small text. Exits 1 when fewer than 90 % of the faults are found.
"""

import argparse
import concurrent.futures
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WANTED = 0.9
TEST_SECONDS = 60  # a fault may make a test hang; more than three times what the slowest one takes
MAX_FAULTS = 4096

SWITCH = """
#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cstdlib>
#include <type_traits>
// Whether planted fault `number` is on. Notes in the file of $WW_FAULTS_REACHED that it was asked.
inline bool ww_fault_at_run_time(int number) {
  struct Switch {
    int on = -1;
    unsigned char* reached = nullptr;
    Switch() {
      if (const char* text = std::getenv("WW_FAULT")) on = std::atoi(text);
      const char* file = std::getenv("WW_FAULTS_REACHED");
      const int opened = file == nullptr ? -1 : open(file, O_RDWR | O_CLOEXEC);
      if (opened < 0) return;
      void* mapped = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
      if (mapped != MAP_FAILED) reached = static_cast<unsigned char*>(mapped);
      close(opened);
    }
  };
  static const Switch chosen;
  if (chosen.reached != nullptr) chosen.reached[number] = 1;
  return chosen.on == number;
}
constexpr bool ww_fault(int number) {
  return __builtin_is_constant_evaluated() ? false : ww_fault_at_run_time(number);
}
"""

# --- where faults can be planted -----------------------------------------------------------------

SWAPS = {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == ",
         " && ": " || ", " || ": " && ", "std::min(": "std::max(", "std::max(": "std::min("}
SWAP = re.compile("|".join(map(re.escape, SWAPS)))
NUMBER = re.compile(r"(?<![\w.'\"])\d+(?![\w.'\"])")
REFUSALS = re.compile(r"\s*\{?\s*return\s+[\w:]*(?:decline|refuse|error|fail|problem|diag|reject)\w*\(", re.IGNORECASE)
TEXTS = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^\s()\\]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
                   r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'|^[ \t]*#(?:\\\n|[^\n])*", re.DOTALL | re.MULTILINE)


@dataclass
class Fault:
    path: Path
    begin: int  # of the text that is replaced
    end: int
    text: str  # what replaces it; {n} is the fault's number
    title: str
    line: int = 0


def hidden(text):
    """The text with strings, comments and preprocessor lines blanked, every character where it was."""
    return TEXTS.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def closing(text, at):
    """Where the parenthesis that opens at `at` closes."""
    depth = 0
    for i in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i
    return len(text)


def is_plain(expression):
    """Whether it can stand twice: no declaration, no lambda, no assignment."""
    return not re.search(r"[{};]|\[[&=\]]|(?<![=!<>+\-*/|&^])=(?!=)|\bWW_TRY|\bco_", expression)


def changes(expression, shown):
    """(what it is changed into, title) for each small mistake; `shown` has its strings."""
    for match in SWAP.finditer(expression):
        swapped = SWAPS[match[0]]
        yield (shown[:match.start()] + swapped + shown[match.end():],
               f"`{match[0].strip(' (')}` -> `{swapped.strip(' (')}`")
    for match in NUMBER.finditer(expression):
        other = str(int(match[0]) + 1)
        yield shown[:match.start()] + other + shown[match.end():], f"`{match[0]}` -> `{other}`"


def of_conditions(path, text, bare):
    for match in re.finditer(r"\b(?:if|while) \(", bare):
        begin, end = match.end(), closing(bare, match.end() - 1)
        semicolon = bare.rfind(";", begin, end)
        begin = semicolon + 2 if semicolon >= 0 else begin
        condition = bare[begin:end]
        if not is_plain(condition) or re.search(r"\b(?:auto|const)\b", condition):
            continue
        shown = text[begin:end]
        for changed, title in changes(condition, shown):
            yield Fault(path, begin, end, f"(ww_fault({{n}}) ? ({changed}) : ({shown}))", title)
        if REFUSALS.match(bare, end + 1):
            yield Fault(path, begin, end, f"!ww_fault({{n}}) && ({shown})", "a refusal left out")


def of_returns(path, text, bare):
    for match in re.finditer(r"\breturn ([^;{}]+);", bare):
        begin, end = match.span(1)
        expression, shown = bare[begin:end], text[begin:end]
        if expression in ("true", "false"):
            other = "false" if expression == "true" else "true"
            yield Fault(path, begin, end, f"ww_fault({{n}}) ? {other} : {shown}", f"`{expression}` -> `{other}`")
        elif is_plain(expression):
            for changed, title in changes(expression, shown):
                yield Fault(path, begin, end, f"ww_fault({{n}}) ? ({changed}) : ({shown})", title)


def of_statements(path, _, bare):
    for match in re.finditer(r"(?<=[;{})\n] )continue;|(?<=\n)[ ]+continue;", bare):
        begin = match.start() + match[0].index("continue")
        yield Fault(path, begin, match.end(), "if (!ww_fault({n})) continue;", "`continue` left out")


def sites(path, text):
    bare = hidden(text)
    for kind in (of_conditions, of_returns, of_statements):
        for fault in kind(path, text, bare):
            fault.line = text.count("\n", 0, fault.begin) + 1
            yield fault


def is_source(path):
    return path.suffix == ".cpp" and not path.stem.endswith("_test") and not path.stem.startswith("test_")


def folder_of(fault):
    parts = fault.path.parts  # src/sim/checks/race.cpp
    return "/".join(parts[1:3]) if parts[1] == "sim" and parts[2] == "checks" else parts[1]


def choose(root, count, seed, folders):
    """`count` faults, at most one to a line, so that no two stand in each other's text."""
    every = []
    for path in sorted((root / "src").rglob("*.cpp")):
        relative = path.relative_to(root)
        if is_source(path) and (not folders or relative.parts[1] in folders):
            every += sites(relative, path.read_text(encoding="utf-8"))
    random.Random(seed).shuffle(every)
    chosen, taken = [], defaultdict(list)
    for fault in every:
        if len(chosen) == count:
            break
        if all(fault.end <= begin or fault.begin >= end for begin, end in taken[fault.path]):
            taken[fault.path].append((fault.begin, fault.end))
            chosen.append(fault)
    return chosen


def planted(text, faults):
    """The text of a file with these faults: (number, fault)."""
    for number, fault in sorted(faults, key=lambda pair: -pair[1].begin):
        text = text[:fault.begin] + fault.text.replace("{n}", str(number)) + text[fault.end:]
    return text


# --- the build -----------------------------------------------------------------------------------


def write_if_changed(path, data):
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def copy_tree(tree, faults):
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                           capture_output=True, check=True).stdout.decode().split("\0")
    by_file = defaultdict(list)
    for number, fault in faults.items():
        by_file[str(fault.path)].append((number, fault))
    for name in filter(None, names):
        source = ROOT / name
        if not source.is_file():
            continue
        data = source.read_bytes()
        if name in by_file:
            data = planted(data.decode(), by_file[name]).encode()
        write_if_changed(tree / name, data)
        (tree / name).chmod(source.stat().st_mode)
    write_if_changed(tree / "fault_switch.h", SWITCH.encode())


def build(tree, jobs):
    """The build's output, or nothing if it succeeded."""
    out = tree / "build/release"
    configure = ["cmake", "--preset", "release", "-DBUILD_TESTING=ON", "-DWW_UNIT_TESTS=ON",
                 "-DWW_WHOLE_EXECUTABLES=OFF", f"-DCMAKE_CXX_FLAGS=-include {tree}/fault_switch.h -Wno-error -w"]
    for command, where in ((configure, tree), (["ninja", "-k", "0", f"-j{jobs}", "-C", str(out)], tree)):
        done = subprocess.run(command, cwd=where, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return done.stdout + done.stderr
    return ""


def syntax_errors(tree, faults, jobs):
    """What the compiler says of the files by themselves: sooner than a build does."""
    def check(path):
        command = ["c++", "-std=c++23", "-fsyntax-only", "-w", "-include", "fault_switch.h", "-Isrc", str(path)]
        return subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False).stderr

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return "".join(pool.map(check, sorted({fault.path for fault in faults.values()})))


def drop_broken(faults, output, tree):
    """Takes out the faults on lines that the compiler refuses; whether there were any."""
    wrong = set()
    for match in re.finditer(r"(\S+):(\d+):\d+: (?:error|note|  required)", output):
        name = Path(os.path.normpath(match[1]))
        name = name.relative_to(tree) if name.is_absolute() and name.is_relative_to(tree) else name
        wrong |= {number for number, fault in faults.items()
                  if fault.path == name and 0 <= int(match[2]) - fault.line <= fault.text.count("\n")}
    for number in wrong:
        del faults[number]
    return bool(wrong)


# --- the tests -----------------------------------------------------------------------------------


@dataclass
class Test:
    name: str
    command: list
    folder: str
    environment: dict
    seconds: float = 0


def read_tests(out):
    shown = subprocess.run(["ctest", "--show-only=json-v1"], cwd=out, capture_output=True, text=True, check=True)
    for row in json.loads(shown.stdout)["tests"]:
        properties = {entry["name"]: entry["value"] for entry in row.get("properties", [])}
        if "command" in row and not properties.get("DISABLED"):
            environment = dict(entry.split("=", 1) for entry in properties.get("ENVIRONMENT", []))
            yield Test(row["name"], row["command"], properties.get("WORKING_DIRECTORY", str(out)), environment)


def run_test(test, number, reached=None):
    """How it ends: "" for a pass, or what went wrong."""
    environment = {**os.environ, **test.environment, "WW_FAULT": str(number)}
    if reached is not None:
        environment["WW_FAULTS_REACHED"] = str(reached)
    begin = time.monotonic()
    try:
        done = subprocess.run(test.command, cwd=test.folder, env=environment, capture_output=True, check=False,
                              timeout=TEST_SECONDS, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return "hangs"
    finally:
        test.seconds = test.seconds or time.monotonic() - begin
    if done.returncode < 0:
        return f"ends with signal {-done.returncode}"
    skipped = b"SKIPPED" in done.stdout or done.returncode == 77
    return "" if done.returncode == 0 or skipped else "fails"


def record(test):
    """How the test ends without a fault, and the faults that it reaches."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(bytes(MAX_FAULTS))
        file.flush()
        end = run_test(test, -1, file.name)
        return end, {number for number, byte in enumerate(Path(file.name).read_bytes()) if byte}


def try_fault(number, tests):
    for test in sorted(tests, key=lambda test: test.seconds):
        if end := run_test(test, number):
            return f"{test.name} {end}"
    return ""


def measure(faults, tests, jobs):
    """(result, detail) of each fault."""
    by_fault = defaultdict(list)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for test, (end, reached) in zip(tests, pool.map(record, tests)):
            if end:
                print(f"without a fault {test.name} {end}: left out", file=sys.stderr)
                continue
            for number in reached:
                by_fault[number].append(test)
        running = {pool.submit(try_fault, number, by_fault[number]): number for number in faults}
        for ended in concurrent.futures.as_completed(running):
            number = running[ended]
            count = len(by_fault[number])
            if end := ended.result():
                yield number, "found", end
            else:
                yield number, "survived" if count else "not reached", f"{count} tests reach it"


def show(faults, results):
    """Prints the lines and the table; the exit status."""
    by_folder = defaultdict(Counter)
    for number, result, detail in results:
        fault = faults[number]
        by_folder[folder_of(fault)][result] += 1
        print(f"{result:11} {fault.path}:{fault.line}: {fault.title} ({detail})", flush=True)
    total = Counter()
    print(f"\n{'folder':12} {'faults':>6} {'found':>6}")
    for folder, ends in sorted(by_folder.items()):
        total += ends
        print(f"{folder:12} {ends.total():6} {ends['found']:6}")
    print(f"{'all':12} {total.total():6} {total['found']:6}")
    return 0 if total["found"] >= WANTED * total.total() else 1


def self_test():
    text = '''int f(int n) {
  if (n < 2 && n != 7) return decline("n < {}", n);
  for (;;) { if (g("a < b")) continue; }
  return n + 1;
}
'''
    expected = ["2: `!=` -> `==`", "2: `&&` -> `||`", "2: `2` -> `3`", "2: `7` -> `8`", "2: `<` -> `<=`",
                "2: a refusal left out", "3: `continue` left out", "4: `1` -> `2`"]
    faults = list(sites(Path("src/base/f.cpp"), text))
    seen = sorted(f"{fault.line}: {fault.title}" for fault in faults)
    wrong = int(seen != expected)
    refusal = next(fault for fault in faults if fault.title == "a refusal left out")
    wrong += "if (!ww_fault(5) && (n < 2 && n != 7)) return" not in planted(text, [(5, refusal)])
    if wrong:
        print(f"self-test: expected {expected}, found {seen}")
    print(f"self-test: {2 - wrong} of 2 cases as expected")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=int(time.time()) // 86400)
    parser.add_argument("--folder", action="append", default=[], help="only faults of this folder of src/")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if not 0 < options.count < MAX_FAULTS:
        parser.error(f"--count is 1 to {MAX_FAULTS - 1}, saw {options.count}")
    faults = dict(enumerate(choose(ROOT, options.count, options.seed, options.folder)))
    if options.list:
        for fault in faults.values():
            print(f"{fault.path}:{fault.line}: {fault.title}")
        return 0
    print(f"{len(faults)} faults, seed {options.seed}", flush=True)
    tree = ROOT / "build/faults"
    copy_tree(tree, faults)
    drop_broken(faults, syntax_errors(tree, faults, options.jobs), tree)
    while True:
        copy_tree(tree, faults)
        output = build(tree, options.jobs)
        if not output:
            break
        if not drop_broken(faults, output, tree):
            print(output[-4000:], file=sys.stderr)
            return 2
    return show(faults, measure(faults, list(read_tests(tree / "build/release")), options.jobs))


if __name__ == "__main__":
    sys.exit(main())
