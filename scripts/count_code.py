#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the code of the product, folder by folder, and whether it stays below its ceilings.

usage: count_code.py [--root DIR] [--check | --self-test]

Code is a line of src/ or python/ that is left without blank lines, comments, docstrings, preprocessor lines and
lines of punctuation alone; tests are not counted. Prints a table: code, ceiling, files and the share of comments
of each folder. With --check prints, and fails with, every folder that is above its ceiling in cmake/code_ceilings.txt,
every folder without one, and the product if the sum is. A change that adds first removes.

--self-test counts planted files, and plants a folder that is too large. Exits 1 when something was found.
"""

import argparse
import ast
import re
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import text_checks

CEILINGS = "cmake/code_ceilings.txt"
CEILING = re.compile(r"^(\w+)\s+([\d,]+)\s*$")
C_LIKE = (".h", ".cpp", ".def", ".js", ".css")
# A comment, or what may hold the beginning of one: strings, raw strings, templates of JavaScript.
CPP_TOKEN = (r'//[^\n]*|/\*.*?\*/|R"([^\s()\\]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
             r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'")
JS_TOKEN = CPP_TOKEN + r"|`(?:\\.|[^`\\])*`"


@dataclass
class Count:
    code: int = 0
    comments: int = 0
    files: int = 0

    def add(self, other):
        self.code += other.code
        self.comments += other.comments
        self.files += other.files


def is_test(path):
    return path.stem.endswith("_test") or path.stem.startswith("test_") or "tests" in path.parts


def blank_of(text):
    """As many lines, all empty."""
    return "\n" * text.count("\n")


def count_lines(text, comment_lines):
    """Lines with a letter or a digit; of those that have none, comments."""
    lines = text.splitlines()
    code = {i for i, line in enumerate(lines) if re.search(r"\w", line)}
    return Count(len(code), len(comment_lines - code), 1)


def count_c(text, suffix):
    comments = set()

    def drop(match):
        token = match[0]
        if token.startswith(("//", "/*")):
            first = text.count("\n", 0, match.start())
            comments.update(range(first, first + token.count("\n") + 1))
            return blank_of(token)
        return token

    bare = re.sub(JS_TOKEN if suffix == ".js" else CPP_TOKEN, drop, text, flags=re.DOTALL)
    if suffix in (".h", ".cpp", ".def"):
        bare = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", lambda match: blank_of(match[0]), bare, flags=re.MULTILINE)
    return count_lines(bare, comments)


def docstrings(text):
    """(first, last) line of each, from 0."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        first = node.body[0] if node.body else None
        if isinstance(first, ast.Expr) and isinstance(getattr(first.value, "value", None), str):
            yield first.lineno - 1, first.end_lineno - 1


def count_python(text):
    lines = text.splitlines()
    comments = {i for i, line in enumerate(lines) if line.lstrip().startswith("#")}
    try:
        for first, last in docstrings(text):
            comments.update(range(first, last + 1))
    except SyntaxError:  # a template of `warpwright new`
        pass
    return count_lines("\n".join("" if i in comments else line for i, line in enumerate(lines)), comments)


def count_html(text):
    return count_lines(re.sub(r"<!--.*?-->", lambda match: blank_of(match[0]), text, flags=re.DOTALL), set())


def count_file(path):
    text = path.read_text(encoding="utf-8")
    if path.suffix in C_LIKE:
        return count_c(text, path.suffix)
    return count_python(text) if path.suffix in (".py", ".pyi") else count_html(text)


def ceilings(root):
    """Of each folder that the list names: its line there and the number."""
    lines = enumerate((root / CEILINGS).read_text(encoding="utf-8").splitlines(), 1)
    rows = [(number, CEILING.match(line)) for number, line in lines]
    return {row[1]: (number, int(row[2].replace(",", ""))) for number, row in rows if row}


def count_folders(root):
    """The counts of the folders below src/, and of python/."""
    counts = defaultdict(Count)
    for top in ("src", "python"):
        for path in sorted((root / top).rglob("*")):
            relative = path.relative_to(root)
            if path.suffix not in (*C_LIKE, ".py", ".pyi", ".html") or is_test(relative):
                continue
            counts[relative.parts[1] if top == "src" else top].add(count_file(path))
    return counts


def check(root):
    counts, limits = count_folders(root), ceilings(root)
    place = root / CEILINGS
    counts["product"] = Count(sum(count.code for count in counts.values()))
    for folder, count in sorted(counts.items()):
        line, most = limits.get(folder, (1, None))
        if most is None:
            yield place, line, "ceiling", f"{folder} has {count.code} lines of code and no ceiling here"
        elif count.code > most:
            yield (place, line, "ceiling",
                   f"{folder} has {count.code} lines of code, {most} at most: remove as much as you add")


def show_table(root):
    limits = ceilings(root)
    total = Count()
    print(f"{'folder':12} {'code':>8} {'ceiling':>8} {'files':>6} {'comments':>9}")
    rows = sorted(count_folders(root).items(), key=lambda row: -row[1].code)
    for folder, count in rows:
        total.add(count)
    for folder, count in [*rows, ("product", total)]:
        share = 100 * count.comments / max(1, count.code + count.comments)
        print(f"{folder:12} {count.code:8,} {limits.get(folder, (0, 0))[1]:8,} {count.files:6,} {share:8.1f}%")


def self_test():
    limits = "# Ceilings.\nbase 3\npython 2\nproduct 4\n"
    three = ('// A comment.\n#define X \\\n  1\n\nint f() { /* one\n  two */\n  return 1;  // why\n}\n'
             'const char* s = R"(// text)";\n')
    python = '"""A docstring\nof two lines."""\n\n\ndef f():\n    """Another."""\n    return [\n        1,\n    ]\n'
    cases = [
        ("a folder at its ceiling", {CEILINGS: limits, "src/base/a.cpp": three}, []),
        ("a test is not counted", {CEILINGS: limits, "src/base/a_test.cpp": three * 2}, []),
        ("a folder above it", {CEILINGS: limits, "src/base/a.cpp": three + "int more;\n"},
         [("ceiling", CEILINGS, 2)]),
        ("a folder without one", {CEILINGS: limits, "src/ir/a.cpp": "int a;\n"},
         [("ceiling", CEILINGS, 1)]),
        ("Python and the sum", {CEILINGS: limits, "src/base/a.cpp": three, "python/a.py": python},
         [("ceiling", CEILINGS, 4), ("ceiling", CEILINGS, 3)]),
    ]
    return text_checks.self_test(check, cases)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if options.check:
        return text_checks.show(check(options.root), options.root)
    show_table(options.root)
    return 0


if __name__ == "__main__":
    sys.exit(main())
