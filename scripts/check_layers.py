#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks who includes whom, and the first lines of every source file.

usage: check_layers.py [--root DIR] [--graph | --self-test]

The rules, each named in the message of a violation:

  layer     a file in src/X includes only X itself and the folders named for X in cmake/layers.txt
  library   third-party headers are included only where cmake/layers.txt allows the library
  folder    every source file under src/ is in a folder that cmake/layers.txt lists
  order     a row of cmake/layers.txt names only folders listed above it, so there are no cycles
  missing   an include in quotes is rooted at src/ and names a file that exists
  once      a header has `#pragma once`
  licence   a file opens with its SPDX line (scripts: right after the #! line)

Prints `file:line: rule: what was seen`, one line each, and exits 1 if there was any. --self-test plants
one violation of each rule in a copy of a tiny tree and checks that it, and nothing else, is found.
--graph draws which folder includes which, as a Mermaid flowchart: an arrow that others imply is left out.
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

import text_checks

SPDX = "SPDX-License-Identifier: Apache-2.0"
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
ROW = re.compile(r"^([a-z0-9_/]+)\s*:([^|]*)(?:\|(.*))?$")

# The third-party libraries whose use is limited, by what their headers' paths begin with. fmt comes
# with base and may be used everywhere.
LIBRARIES = {"nlohmann/": "json", "httplib.h": "httplib"}

# What carries an SPDX line: (where, which files). Golden files and data are read byte for byte.
LICENSED = [
    ("src", "*.h"), ("src", "*.cpp"), ("src", "*.def"),
    ("tests", "*.h"), ("tests", "*.cpp"), ("tests", "*.cmake"), ("tests", "CMakeLists.txt"),
    ("bench", "*.h"), ("bench", "*.cpp"), ("bench", "CMakeLists.txt"),
    ("cmake", "*.cmake"), ("cmake", "*.cpp"), ("cmake", "*.txt"), ("scripts", "*.py"), ("scripts", "*.sh"),
]
LICENSED_AT_ROOT = ["CMakeLists.txt", "warpwright", "test", ".ci/run", ".clang-format",
                    ".clang-tidy", ".editorconfig"]


class Layers:
    """cmake/layers.txt: for every folder, the folders and libraries it may include."""

    def __init__(self, path):
        self.folders = {}
        self.libraries = {}
        self.problems = []
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.strip() and not line.startswith("#"):
                self._add_row(path, number, line)

    def _add_row(self, path, number, line):
        row = ROW.match(line)
        if not row:
            self.problems.append((path, number, "order",
                                  f"expected `folder : folders | libraries`, saw `{line}`"))
            return
        allowed = row[2].split()
        for name in allowed:
            if name not in self.folders:
                self.problems.append((path, number, "order",
                                      f"`{row[1]}` names `{name}`, which is not listed above it"))
        self.folders[row[1]] = allowed
        self.libraries[row[1]] = (row[3] or "").split()

    def folder_of(self, relative):
        """The listed folder that holds this path (relative to src/), or None."""
        fitting = [name for name in self.folders if relative.startswith(name + "/")]
        return max(fitting, key=len, default=None)


def check_include(layers, source_root, folder, quoted, angled):
    """The (rule, message) that one include breaks, or None."""
    if angled:
        for prefix, library in LIBRARIES.items():
            if angled.startswith(prefix) and library not in layers.libraries[folder]:
                return "library", f"`{folder}` may not use {library} (<{angled}>)"
        return None
    if not (source_root / quoted).is_file():
        return "missing", f'"{quoted}" is no file under src/; includes are rooted there'
    target = layers.folder_of(quoted)
    allowed = [folder, *layers.folders[folder]]
    if target not in allowed:
        return "layer", (f'`{folder}` may not include `{target}` ("{quoted}"); '
                         f"it may include: {' '.join(allowed)}")
    return None


def without_comments(text):
    """The text with block comments blanked out, its lines kept."""
    return re.sub(r"/\*.*?\*/", lambda found: "\n" * found[0].count("\n"), text, flags=re.DOTALL)


def check_source(layers, source_root, path):
    """Problems of one file under src/."""
    folder = layers.folder_of(path.relative_to(source_root).as_posix())
    if folder is None:
        yield path, 1, "folder", "is in no folder that cmake/layers.txt lists"
        return
    text = without_comments(path.read_text(encoding="utf-8"))
    if path.suffix == ".h" and "#pragma once" not in text.splitlines():
        yield path, 1, "once", "has no `#pragma once`"
    for number, line in enumerate(text.splitlines(), 1):
        include = INCLUDE.match(line)
        broken = include and check_include(layers, source_root, folder, include[1], include[2])
        if broken:
            yield path, number, *broken


def check_licence(path):
    """The problem of a file that does not open with its SPDX line."""
    lines = path.read_text(encoding="utf-8").splitlines()[:2]
    if lines and lines[0].startswith("#!"):
        lines = lines[1:]
    mark = "//" if path.suffix in (".h", ".cpp", ".def") else "#"
    if not lines or lines[0] != f"{mark} {SPDX}":
        yield path, 1, "licence", f"does not open with `{mark} {SPDX}`"


def check_tree(root):
    """All problems of a repository: (path, line, rule, message)."""
    source_root = root / "src"
    layers = Layers(root / "cmake" / "layers.txt")
    problems = list(layers.problems)
    for path in sorted(source_root.rglob("*")):
        if path.suffix in (".h", ".cpp"):
            problems += check_source(layers, source_root, path)
    licensed = [path for where, pattern in LICENSED for path in sorted((root / where).rglob(pattern))]
    licensed += [root / name for name in LICENSED_AT_ROOT if (root / name).exists()]
    for path in licensed:
        problems += check_licence(path)
    return problems


# Nearly all folders include these: without them the graph can be read.
COMMON = ["base", "num", "target"]


def without_implied(arrows):
    """The arrows without those that others lead around to. A folder includes only what is listed above it."""
    reached = {}
    for source, _ in arrows:
        todo, seen = [target for start, target in arrows if start == source], set()
        while todo:
            folder = todo.pop()
            todo += [target for start, target in arrows if start == folder and target not in seen]
            seen |= {target for start, target in arrows if start == folder}
        reached[source] = seen
    return {(source, target) for source, target in arrows if target not in reached[source]}


def graph(root):
    """The lines of a flowchart of the folders, without tests and without arrows that others imply."""
    source_root = root / "src"
    layers = Layers(root / "cmake" / "layers.txt")
    arrows = set()
    for path in source_root.rglob("*"):
        if path.suffix not in (".h", ".cpp") or path.stem.endswith("_test") or path.stem.startswith("test_"):
            continue
        folder = layers.folder_of(path.relative_to(source_root).as_posix())
        for line in without_comments(path.read_text(encoding="utf-8")).splitlines():
            include = INCLUDE.match(line)
            target = include and include[1] and layers.folder_of(include[1])
            if target and target not in (folder, *COMMON):
                arrows.add((folder, target))
    names = {folder: folder.replace("/", "_") for folder in layers.folders}
    yield "```mermaid"
    yield "flowchart LR"
    yield from (f'  {name}["{folder}"]' for folder, name in names.items() if name != folder)
    for source, target in sorted(without_implied(arrows)):
        yield f"  {names[source]} --> {names[target]}"
    yield "```"


# --- self-test ------------------------------------------------------------------------------------

GOOD_TREE = {
    "cmake/layers.txt": f"# {SPDX}\nbase :\nlayout : base\nemit/ptx : base\nview : base layout | json\n"
                        "cli : layout view\n",
    "src/base/id.h": f"// {SPDX}\n#pragma once\n#include <vector>\n",
    "src/layout/layout.h": f'// {SPDX}\n#pragma once\n/*\n#include "view/json.h"\n*/\n#include "base/id.h"\n',
    "src/emit/ptx/print.cpp": f'// {SPDX}\n#include "base/id.h"\n',
    "src/view/json.h": f'// {SPDX}\n#pragma once\n#include "layout/layout.h"\n',
    "src/view/json.cpp": f'// {SPDX}\n#include "view/json.h"\n#include <nlohmann/json.hpp>\n',
    "src/cli/main.cpp": f'// {SPDX}\n#include "layout/layout.h"\n#include "view/json.h"\n',
    "scripts/run.sh": f"#!/bin/sh\n# {SPDX}\n",
}

# rule, file to write over the good tree, its text, the line that must be named
VIOLATIONS = [
    ("layer", "src/base/id.cpp", f'// {SPDX}\n\n  #  include "layout/layout.h"\n', 3),
    ("layer", "src/emit/ptx/bad.cpp", f'// {SPDX}\n#include "layout/layout.h"\n', 2),
    ("library", "src/layout/json.cpp", f"// {SPDX}\n#include <nlohmann/json.hpp>\n", 2),
    ("folder", "src/stray.cpp", f"// {SPDX}\n", 1),
    ("order", "cmake/layers.txt",
     f"# {SPDX}\nlayout : base\nbase :\nemit/ptx : base\nview : base layout | json\ncli : view layout\n", 2),
    ("missing", "src/base/id.cpp", f'// {SPDX}\n#include "id.h"\n', 2),
    ("once", "src/base/more.h", f"// {SPDX}\n", 1),
    ("licence", "src/base/more.cpp", "int x;\n", 1),
    ("licence", "scripts/run.sh", "#!/bin/sh\necho\n", 1),
]


def draws_graph():
    """Whether the graph of the good tree has its two arrows, and not the one that they imply."""
    with tempfile.TemporaryDirectory() as folder:
        text_checks.write_tree(Path(folder), GOOD_TREE)
        drawn = [line for line in graph(Path(folder)) if "-->" in line]
    expected = ["  cli --> view", "  view --> layout"]
    if drawn != expected:
        print(f"self-test: graph: found {drawn}")
    return drawn == expected


def self_test():
    cases = [("nothing planted", GOOD_TREE, [])]
    cases += [(f"{rule} in {name}", {**GOOD_TREE, name: text}, [(rule, name, line)])
              for rule, name, text, line in VIOLATIONS]
    return text_checks.self_test(check_tree, cases) if draws_graph() else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--graph", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if options.graph:
        print(*graph(options.root), sep="\n")
        return 0
    return text_checks.show(check_tree(options.root), options.root)


if __name__ == "__main__":
    sys.exit(main())
