#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the indexes in the documents, from the tables in the sources.

usage: make_reference.py names | not_taken | primitives | settings | kinds | rules

names: every name that a program can use, as in src/script and src/ir (docs/language.md).
not_taken: the names of TVM that are not taken, and why.
primitives: the tile primitives and their variants, which the program named by WARPWRIGHT is asked
about. settings: what their calls take. kinds: every kind of diagnostic (docs/diagnostics.md).
rules: every reason for which a variant declines a call.
docs_tests fails where a document says something else; BLESS=1 rewrites it.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
SRC = ROOT / "src"
PROGRAM = os.environ.get("WARPWRIGHT", str(ROOT / "warpwright"))
TEXT = r'(?:"(?:[^"\\]|\\.)*"\s*)+'  # one or more literals, joined


def read(path):
    return (SRC / path).read_text(encoding="utf-8")


def joined(literals):
    """The text of C++ string literals that follow each other."""
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)).replace('\\"', '"')


def texts_of(source):
    """The text constants of a file, by name."""
    return {name: joined(value) for name, value in
            re.findall(rf"std::string_view (k\w+) =\s*({TEXT});", source)}


# --- names ----------------------------------------------------------------------------------------

def table_rows(path):
    """(name, parameters) of the rows of a table of functions."""
    source = read(path)
    texts = texts_of(source)
    row = rf'^    {{"([\w.]+)",\s*(?:({TEXT})|(k\w+)),\s*[\w:<>, "]+?}}'
    for name, literals, constant in re.findall(row, source, flags=re.MULTILINE):
        yield name, texts[constant] if constant else joined(literals)


def attributes(path, function):
    """Names that a function of attributes compares with."""
    body = read(path).split(f" {function}(", 1)[1].split("\n}", 1)[0]
    return list(dict.fromkeys(re.findall(r'name == "(\w+)"', body)))


def signature(name, parameters, prefix=""):
    """`T.cast(value, dtype)`; what may be left out is in brackets."""
    words = [f"[{each[:-1]}]" if each.endswith("?") else each
             for each in parameters.split(", ") if each]
    shared = "param, shape, " if parameters.startswith("param") else "shape, "
    if "axis_separators?" in parameters:
        words = [shared + "…"]
    return f"`{prefix}{name}({', '.join(words)})`"


def functions(*paths, prefix="", rename=lambda name: name):
    return [signature(rename(name), parameters, prefix)
            for path in paths for name, parameters in table_rows(path)]


def defs(path, macro):
    """The arguments of the rows of a .def file, and the comment line above each run of them."""
    title, out = "", []
    text = re.sub(r'"\s*\n\s*"', "", read(path))
    for line in text.splitlines():
        if line.startswith("// "):
            title = line[3:]
        found = re.match(rf"{macro}\((.*)\)", line)
        if found:
            out.append((title, [each.strip().strip('"') for each in
                                re.findall(r'"[^"]*"|[^",]+', found.group(1)) if each.strip()]))
    return out


def show(title, words):
    """A paragraph of names, of which none is broken."""
    glued = ", ".join(word.replace(" ", "\0") for word in words)
    lines = textwrap.wrap(f"**{title}.** {glued}", 119, break_long_words=False,
                          break_on_hyphens=False)
    print("\n".join(lines).replace("\0", " ") + "\n")


def names():
    show("Kernels, loops, decorators", functions("script/api/kernel.cpp"))
    show("Types", [f"`T.{row[1]}`" for _, row in defs("num/dtypes.def", "WW_DTYPE")]
         + ["`T.handle`", "`T.let`", "`T.constexpr`"])
    show("Of an element type `d`", functions("script/api/dtypes.cpp", rename=lambda name:
                                             name.replace("dtype.", "d."))
         + [f"`d.{name}`" for name in attributes("script/api/dtypes.cpp", "dtype_attribute")])
    show("Scope ids", [f"`T.{row[1]}`" for _, row in defs("ir/scope_ids.def", "WW_SCOPE_ID")])
    show("A launch stated at the entry", functions("script/api/launch.cpp"))
    show("Buffers", functions("script/api/buffers.cpp"))
    print("`…` stands for `dtype, data, strides, elem_offset, scope, align, offset_factor, "
          "buffer_type, axis_separators,\nlayout, byte_offset`, and `allocated_addr` but in "
          "`match_buffer`.\n")
    show("Of a buffer `B`", functions("script/api/views.cpp",
                                      rename=lambda name: name.replace("buffer.", "B."))
         + [f"`B.{name}`" for name in attributes("script/api/views.cpp", "buffer_attribute")])
    show("Pools", functions("script/api/pools.cpp", "script/api/tensor_pools.cpp")
         + [f"`.{name}`" for name in attributes("script/api/pools.cpp", "pool_attribute")])
    show("Layouts", functions("script/api/layouts.cpp", "script/api/ready_layouts.cpp", rename=lambda name: re.sub(
        r"^layout\.", "", name.replace("layout_value.", "L.")))
         + [f"`L.{name}`" for name in attributes("script/interp/layouts.cpp", "layout_attribute")])
    show("Primitives by their instructions", functions("script/api/instructions.cpp"))
    show("Expressions", functions("script/api/math.cpp"))
    others = {name for path in ("script/api/cuda.cpp", "script/api/cuda_values.cpp",
                                "script/api/math.cpp")
              for name, _ in table_rows(path)}
    parameters = {row[0]: re.sub(r"(\*?\w+) \w+", r"\1", row[1] if len(row) > 1 else "")
                  for _, row in defs("ir/signatures.def", "WW_SIGNATURE")}
    intrinsics = [(re.split("[:;]", title)[0], f"T.{row[1]}", parameters.get(row[0]))
                  for title, row in defs("ir/intrinsics.def", "WW_INTRINSIC")]
    for title in dict.fromkeys(title for title, _, _ in intrinsics):
        words = [f"`{name}`" if taken is None else signature(name, taken)
                 for each, name, taken in intrinsics if each == title and name not in others]
        if words:
            show(title, words)
    show("Of CUDA", functions("script/api/cuda.cpp", "script/api/cuda_values.cpp"))
    show("Instructions as functions", functions("script/api/ptx_functions.cpp", prefix="T.ptx."))
    show("Host Python", functions("script/api/host.cpp", "script/api/stdlib.cpp"))
    show("Methods of host values", functions("script/api/methods.cpp"))


def not_taken():
    source = read("script/api/not_taken.def")
    row = r'^WW_NOT_(TAKEN|LOWERED)\("((?:[^"\\]|\\.)*)",\s*"((?:[^"\\]|\\.)*)"\)'
    reasons = {}
    for kind, name, reason in re.findall(row, source, flags=re.MULTILINE):
        name = name.replace('\\"', '"')
        shown = name if kind == "LOWERED" else f"`{name}*`" if name.endswith(".") else f"`{name}`"
        reasons.setdefault(reason.replace('\\"', '"'), []).append(shown)
    print("| what | why not |\n|---|---|")
    for reason, names_of_it in reasons.items():
        print(f"| {', '.join(names_of_it)} | {reason} |")


# --- tile primitives ------------------------------------------------------------------------------

def primitives():
    done = subprocess.run([PROGRAM, "variants", "--json"], capture_output=True, encoding="utf-8",
                          check=True)
    variants = {}
    for row in json.loads(done.stdout)["variants"]:
        variants.setdefault(row["op"], []).append(row["name"])
    print("| primitive | arguments | variants |\n|---|---|---|")
    for _, (_, name, parameters) in defs("ir/tile_ops.def", "WW_TILE_OP"):
        shown = cells(variants[name]) if name in variants else "none"
        arguments = ", ".join(each.split()[0] for each in parameters.split(","))
        print(f"| `{name}` | `{arguments}` | {shown} |")


def settings():
    print("| of | setting | values | memories |\n|---|---|---|---|")
    for _, (ops, name, memories, values) in defs("ir/tile_settings.def", "WW_TILE_SETTING"):
        words = values.split("|")
        shown = cells(words) if len(words) > 1 or values == "zero" or values == "nc" else values
        print(f"| {cells(ops.split())} | `{name}` | {shown} | {memories.replace('|', ', ') or 'any'} |")


# --- diagnostics ----------------------------------------------------------------------------------

def cells(words):
    return ", ".join(f"`{word}`" for word in words)


def sources(folder=""):
    for path in sorted((SRC / folder).rglob("*")):
        is_test = path.stem.endswith("_test") or path.stem.startswith("test_")
        if path.suffix in (".cpp", ".h") and not is_test:
            yield path


def kinds():
    places = {}
    for path in sources():
        for kind in re.findall(r"DiagKind::(\w+)", path.read_text(encoding="utf-8")):
            folder = path.relative_to(SRC).parts
            places.setdefault(kind, set()).add("/".join(folder[: 2 if folder[0] == "emit" else 1]))
    print("| kind | meaning | from |\n|---|---|---|")
    title = ""
    for group, (kind, meaning) in defs("base/diag_kinds.def", "WW_DIAG"):
        if group != title:
            print(f"| **{group}** | | |")
            title = group
        print(f"| `{kind}` | {meaning} | {cells(sorted(places.get(kind, [])))} |")


def rules():
    texts, found = {}, {}
    files = {}
    for path in sources("lower"):
        where = str(path.relative_to(SRC / "lower").with_suffix(""))
        files[where] = files.get(where, "") + path.read_text(encoding="utf-8")
        texts |= texts_of(files[where])

    def add(rule, message, where):
        said = re.sub(r"{[^}]*}", "…", joined(message)).replace("|", "\\|")
        rule = rule.strip('"') if rule.startswith('"') else texts[rule]
        said = "(it differs)" if said == "…" else said
        found.setdefault(rule, {}).setdefault(said, set()).add(where)

    for where, source in files.items():
        for rule, message in re.findall(rf'decline\(\s*("[\w-]+"|k\w+),\s*({TEXT})', source):
            add(rule, message, where)
    # A check that is told its rules by those who call it.
    shared = re.findall(rf"decline\((\w+)_rule,\s*({TEXT})", files["checks"])
    rule = r'("[\w-]+"|k\w+)'
    for where, source in files.items():
        for scope, threads in re.findall(rf"check_warps\(call, {rule}, {rule}\)", source):
            for told, message in shared:
                add({"scope": scope, "threads": threads}[told], message, where)
    print("| rule | what is said | in `src/lower` |\n|---|---|---|")
    for rule in sorted(found):
        for said, where in found[rule].items():
            print(f"| `{rule}` | {said} | {cells(sorted(where))} |")


def main(words):
    pages = {"names": names, "not_taken": not_taken, "primitives": primitives, "settings": settings, "kinds": kinds,
             "rules": rules}
    if len(words) != 1 or words[0] not in pages:
        print(__doc__, file=sys.stderr)
        return 2
    pages[words[0]]()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
