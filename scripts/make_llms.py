#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints parts of the pages for coding agents, AGENTS.md and docs/llms.txt, from the other documents.

usage: make_llms.py mistakes | schemas | pages

mistakes: ten of docs/guide/mistakes.md, with their messages. schemas: commands that print JSON, and the schema of
each. pages: the lists of docs/README.md, for llms.txt. docs_tests compares; BLESS=1 rewrites.
"""

import json
import pathlib
import re
import sys

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
TEN = {
    "Assigning the result of a primitive": "the destination is the first argument: `Tx.cta.exp(y, x)`",
    "An id of CUDA C++": "declare ids with their extents: `bx = T.cta_id([n])`, `t = T.thread_id([128])`",
    "An element of a tile spread over threads": "use tile primitives, or `x.local(n)[i]` for a thread's own registers",
    "Regions of different sizes": "slices have a start and an end, and both sides the same extents: `A[i : i + 64]`",
    "A product of operands in shared memory": "pass `stage=True`, or copy the operands into registers first",
    "A region for each thread": "a region of `Tx.cta` is the same for all threads of the block",
    "A barrier in a branch": "barriers and `Tx.cta` calls stand where all threads of the block come",
    "A missing barrier": "`T.cuda.cta_sync()` between writing shared memory and reading what others wrote",
    "A copy without a wait": "wait for `copy_async`: groups of `cp.async`, or the mbarrier of TMA, then a barrier",
    "Extents that the tile does not divide": "`T.ceildiv` blocks, `fill_value=` on the way in, `clip=True` on the way out",
}


def anchor(heading):
    return re.sub(r"[^a-z0-9_ -]", "", heading.lower()).replace(" ", "-")


def mistakes():
    text = (DOCS / "guide" / "mistakes.md").read_text(encoding="utf-8")
    messages = dict(re.findall(r"^\| ([^|]+) \| (.+) \|$", text, flags=re.MULTILINE))
    print("| mistake | what is said | instead |\n|---|---|---|")
    for name, instead in TEN.items():
        print(f"| [{name}](docs/guide/mistakes.md#{anchor(name)}) | {messages[name]} | {instead} |")


def schemas():
    print("| command | schema |\n|---|---|")
    for path in sorted((DOCS / "reference" / "schema").glob("*.json")):
        title = json.loads(path.read_text(encoding="utf-8"))["title"]
        if path.name.startswith(("explore-", "isa-")):
            continue
        command = f"`{title}`" if re.match(r"(warpwright|python) [^,]*$", title) else title
        print(f"| {command} | [{path.name}](docs/reference/schema/{path.name}) |")


def pages():
    text = (DOCS / "README.md").read_text(encoding="utf-8")
    print(text[text.index("## Guide") :].rstrip())


def main(words):
    parts = {"mistakes": mistakes, "schemas": schemas, "pages": pages}
    if len(words) != 1 or words[0] not in parts:
        print(__doc__, file=sys.stderr)
        return 2
    parts[words[0]]()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
