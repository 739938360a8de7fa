#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How large files, functions and classes are, and whether any is larger than the house allows.

usage: code_sizes.py [--root DIR] [--check | --self-test]

Prints a table for src/ without its tests: lines of files and functions, and the largest classes. Universal
Ctags reads the sources. With --check prints, and fails with, what breaks one of these rules, in src/, tests/,
bench/ and python/:

  class  no class has more than 40 members: variables, functions with all their overloads, types. Friends,
         enumerators and deleted functions do not count
  file   no file has more than 500 lines

--self-test checks that a planted violation of each rule is found, and nothing else. Exits 1 when something
was found, 77 without Universal Ctags.
"""

import argparse
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import text_checks

MAX_MEMBERS = 40
MAX_LINES = 500
FOLDERS = ["src", "tests", "bench", "python"]
SOURCES = (".h", ".cpp", ".def", ".py")
# Programs of other people's compilers, and what they are made from: kept as they came.
FOREIGN = "tests/corpus/foreign/"


def is_test(path):
    return path.stem.endswith("_test") or path.stem.startswith("test_")


def sources(root, folders):
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SOURCES and not path.relative_to(root).as_posix().startswith(FOREIGN):
                yield path


def lines_of(path):
    return len(path.read_bytes().splitlines())


def has_ctags():
    try:
        version = subprocess.run(["ctags", "--version"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return False
    return version.stdout.startswith("Universal Ctags")  # Emacs has another ctags


def read_tags(paths):
    """What Universal Ctags finds in C++ files: a dictionary for each declaration or definition."""
    command = ["ctags", "--quiet", "--languages=C++", "--langmap=C++:.h.cpp", "--kinds-C++=cfgmnpstu",
               "--fields=NFneKZ", "--fields-C++=+{properties}", "--output-format=json", "-L", "-", "-f", "-"]
    names = "\n".join(str(path) for path in paths if path.suffix in (".h", ".cpp"))
    out = subprocess.run(command, input=names, capture_output=True, text=True, check=True).stdout
    tags = [json.loads(line) for line in out.splitlines()]
    return [tag for tag in tags if tag["_type"] == "tag"]


def class_sizes(tags):
    """(path, line, name) of every class, with the number of its members."""
    classes = {}
    for tag in tags:
        if tag["kind"] in ("class", "struct", "union"):
            name = "::".join(filter(None, [tag.get("scope"), tag["name"]]))
            classes[tag["path"], name] = tag
    sizes = Counter()
    for tag in tags:
        home = classes.get((tag["path"], tag.get("scope")))
        # A member that is defined below its class has the class as scope, too.
        inside = home is not None and home["line"] <= tag["line"] <= home.get("end", 0)
        if inside and "delete" not in tag.get("properties", ""):
            sizes[tag["path"], home["line"], home["name"]] += 1
    return sizes


def problems(root):
    paths = list(sources(root, FOLDERS))
    for (path, line, name), members in sorted(class_sizes(read_tags(paths)).items()):
        if members > MAX_MEMBERS:
            yield Path(path), line, "class", f"`{name}` has {members} members, {MAX_MEMBERS} at most"
    for path in paths:
        if lines_of(path) > MAX_LINES:
            yield path, MAX_LINES + 1, "file", f"has {lines_of(path)} lines, {MAX_LINES} at most"


# --- the table ------------------------------------------------------------------------------------

def spread(numbers):
    numbers = sorted(numbers)
    return f"{numbers[len(numbers) // 2]}, {numbers[len(numbers) * 9 // 10]}, {numbers[-1]}"


def print_table(root):
    paths = [path for path in sources(root, ["src"]) if not is_test(path)]
    files = [lines_of(path) for path in paths]
    tags = read_tags(paths)
    functions = [tag["end"] - tag["line"] + 1 for tag in tags if tag["kind"] == "function" and "end" in tag]
    largest = class_sizes(tags).most_common(3)
    rows = [
        ("files, lines", f"{len(files):,}, {sum(files):,}"),
        ("lines of a file: median, nine of ten below, longest", spread(files)),
        ("lines of a function: median, nine of ten below, longest", spread(functions)),
        ("functions above 40 lines", f"{sum(each > 40 for each in functions)} of {len(functions):,}"),
        ("members of the largest classes", ", ".join(f"{n} (`{name}`)" for (_, _, name), n in largest)),
    ]
    for row in rows:
        print("| {} | {} |".format(*row))


# --- self-test ------------------------------------------------------------------------------------

def a_class(members):
    """A class with that many members, and some that do not count."""
    return ("class Large {\n public:\n  Large(const Large&) = delete;\n  enum Kind { A, B };\n  int a(), b;\n"
            + "".join(f"  int member_{i}();\n" for i in range(members - 3))
            + "  friend bool operator==(const Large&, const Large&);\n};\nint Large::a() { return 1; }\n")


CASES = [
    ("nothing planted", {"src/a/a.h": a_class(40), "src/a/b.cpp": "\n" * 500}, []),
    ("a class of 41 members", {"src/a/a.h": "\n" + a_class(41)}, [("class", "src/a/a.h", 2)]),
    ("the same in a test", {"tests/a/a_test.cpp": a_class(41)}, [("class", "tests/a/a_test.cpp", 1)]),
    ("501 lines", {"python/a.py": "\n" * 501}, [("file", "python/a.py", 501)]),
    ("501 lines of others", {FOREIGN + "a.py": "\n" * 501}, []),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if not has_ctags():
        print("Universal Ctags is not installed")
        return 77
    if options.self_test:
        return text_checks.self_test(problems, CASES)
    if not options.check:
        return print_table(options.root)
    return text_checks.show(problems(options.root), options.root)


if __name__ == "__main__":
    sys.exit(main())
