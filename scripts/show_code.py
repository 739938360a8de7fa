#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a part of a source file as a fenced block of Markdown, for a page that must show the file as it is.

usage: show_code.py FILE FIRST LAST      from the first line that contains FIRST to the next that contains LAST
       show_code.py FILE --since OTHER   what is different from OTHER, without the comments that open both

Lines lose the indentation of the first one, and a part of another page has the language of its block. docs_tests compares a page with what this prints:
`<!-- $ scripts/show_code.py examples/first/vector_add.py prim_func 'C[i]' -->`.
"""

import difflib
import pathlib
import sys
import textwrap


def part(path, first, last):
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    begin = next(i for i, line in enumerate(lines) if first in line)
    end = next(i for i, line in enumerate(lines) if i >= begin and last in line)
    fences = [line for line in lines[:begin] if line.startswith("```")]
    fence = fences[-1].split()[0] if path.endswith(".md") else "```python"
    return [fence, *textwrap.dedent("\n".join(lines[begin : end + 1])).splitlines(), "```"]


def code(path):
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


def changes(path, other):
    lines = list(difflib.unified_diff(code(other), code(path), n=1, lineterm=""))[2:]
    return ["" if line.startswith("@@") else line for line in lines][1:]


def main(words):
    if len(words) == 3 and words[1] == "--since":
        print("\n".join(["```diff", *changes(words[0], words[2]), "```"]))
    elif len(words) == 3:
        print("\n".join(part(*words)))
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
