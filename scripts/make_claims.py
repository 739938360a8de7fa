#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the measured claims of README.md, computed from the pages of docs/evidence/ that they link.

usage: make_claims.py [limits | triton]   what is fast; what is left out, and how exact the rest is; what checks of Triton find

docs_tests fails where README.md says something else than these pages, and where a page no longer has the
rows or the lines that a claim is about. BLESS=1 rewrites README.md.
"""

import pathlib
import re
import sys
import textwrap

EVIDENCE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "evidence"
WIDTH = 136  # of a line of README.md
GLUE = "\0"  # a space at which no line ends


def section(page, name):
    """The lines of a measured section."""
    text = (EVIDENCE / page).read_text(encoding="utf-8")
    begin, end = f"<!-- measured: {name} -->", f"<!-- end of {name} -->"
    return text[text.index(begin) : text.index(end)].splitlines()


def rows(lines, **wanted):
    """The rows of tables with these texts in these columns, as dictionaries by column."""
    found, header = [], []
    for line in lines:
        if not line.startswith("|"):
            header = []
            continue
        cells = [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        if not header:
            header = [cell.strip("`") for cell in cells]
            continue
        row = dict(zip(header, cells))
        if all(re.fullmatch(pattern, row.get(column, "")) for column, pattern in wanted.items()):
            found.append(row)
    if not found:
        raise SystemExit(f"no row with {wanted}")
    return found


def fact(page, pattern):
    """What a page says of itself, such as the version of a rival."""
    found = re.search(pattern, (EVIDENCE / page).read_text(encoding="utf-8"))
    if not found:
        raise SystemExit(f"{page} does not say `{pattern}`")
    return found[1]


def keep_together(claim):
    """Code and the texts of links."""
    return re.sub(r"`[^`]*`|\[[^]]*\]", lambda part: part[0].replace(" ", GLUE), claim)


def span(values, digits=0):
    values = list(values)
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}"


def numbers(found, column):
    return [float(row[column].rstrip(" %")) for row in found]


def products():
    found = rows(section("benchmarks.md", "matrix products by wgmma"), type="b?float16",
                 size="(4096|8192|16384)×.*")
    cublas = fact("benchmarks.md", r"rivals: (CUDA [0-9]+\.[0-9]+)")
    return (f"**Matrix products at the speed of cuBLAS.** `examples/gemm_hopper.py` runs at {span(numbers(found, 'of cuBLAS'), 2)} "
            f"times the speed of cuBLAS ({cublas}) on an H200: float16 and bfloat16, 4096³ to "
            "16384³, all four transposes ([measured](docs/evidence/benchmarks.md#matrix-products-by-wgmma) with "
            "`warpwright bench kernels --filter gemm_hopper`).")


def row_kernels():
    found = rows(section("benchmarks.md", "row kernels"), kernel="softmax|layer_norm|rms_norm",
                 type="bfloat16|float32")
    shortest, longest = span(map(int, (row["row"] for row in found))).split(" to ")
    triton = fact("benchmarks.md", r"rivals: .*(Triton [0-9]+\.[0-9]+)")
    return ("**Row kernels at the speed of memory.** Softmax, layer norm and RMS norm of rows of "
            f"{shortest} to {longest} elements reach {span(numbers(found, 'of copy'))} % of the driver's copy on an H200; "
            f"{triton} reaches {span(numbers(found, 'Triton'))} % "
            "([measured](docs/evidence/benchmarks.md#row-kernels) with `warpwright bench kernels --filter rows/`).")


def proof():
    fact("trust.md", r"(no counterexample among all elements and threads of the first and last unit, for the\s+run-time values tried)")
    return ("**Every choice is checked, and explained.** Before it emits an operation's code, the compiler runs it symbolically: "
            "every element in the first and last warp (or block) to call it, for sampled run-time values "
            "([details](docs/evidence/trust.md#what-the-proof-checks)).")


def tensor_cores():
    page = (EVIDENCE / "numbers.md").read_text(encoding="utf-8")
    lines = page[page.index("## Matrix units") : page.index("## Instructions against a device")].splitlines()
    found = rows(lines, mismatches="[0-9]+")
    if any(row["mismatches"] != "0" for row in found):
        raise SystemExit("the matrix units of numbers.md have mismatches")
    compared = sum(int(row.get("cases") or row["elements of D"]) for row in found)
    fact("numbers.md", "(`tcgen05.mma` adds as two publications say)")
    return ("The virtual GPU does not model time. Its `mma.sync` and `wgmma` gave the same bits as an H200 in all "
            f"[{compared // 10**6} million results](docs/evidence/numbers.md#matrix-units); its `tcgen05.mma` follows "
            "publications, because we had no Blackwell GPU.")


def triton_checks():
    lines = section("triton_checkers.md", "triton checkers")
    named = rows(lines, **{"": "reported, with the line"})[0]
    faults = fact("triton_checkers.md", r"\*\*([0-9]+) planted faults\*\*")
    own = "all" if named["Warpwright"] == faults else named["Warpwright"]
    version = fact("triton_checkers.md", r"triton-viz ([0-9.]+)")
    fact("triton_checkers.md", r"(sanitizer looks for accesses\s+outside tensors)")
    return ("**Your Triton kernels** are checked the same way ([how](docs/guide/checking_triton.md)). Of "
            f"{faults} planted faults, Warpwright names the line of {own}, and triton-viz {version}, which looks for "
            f"accesses outside tensors, that of {named['triton-viz']} ([compared](docs/evidence/triton_checkers.md)):")


def main(words):
    claims = {"": (products, row_kernels, proof), "limits": (tensor_cores,), "triton": (triton_checks,)}
    wanted = " ".join(words)
    if wanted not in claims:
        print(__doc__, file=sys.stderr)
        return 2
    bullet = "" if wanted == "triton" else "- "
    for claim in claims[wanted]:
        print("\n".join(textwrap.wrap(keep_together(claim()), WIDTH, initial_indent=bullet, subsequent_indent=" " * len(bullet),
                                      break_long_words=False, break_on_hyphens=False)).replace(GLUE, " "))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
