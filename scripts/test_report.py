#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads ctest's JUnit report; shows what failed and counts.

usage: test_report.py JUNIT.xml --log LOG --ctest-status N [--allow-none]

Prints the output of every failed case, and to file descriptor 3 the line `PASSED FAILED SKIPPED`.
Three things count as one failure each, and show the end of ctest's log: a report that cannot be read,
a ctest that failed although no case did (a test executable that cannot list its cases, say), and a
run without any case, unless --allow-none is given. Exits 1 when anything failed.
"""

import argparse
import os
import re
import sys
import xml.etree.ElementTree as ElementTree


# Show no more than this; ctest's log has the rest.
MAX_CASES_SHOWN = 20
MAX_LINES_SHOWN = 60


def output_of(case):
    """The end of what the case wrote, without GoogleTest's frame around it."""
    text = case.findtext("system-out") or ""
    text = re.sub(r"\A.*?^\[ RUN      \][^\n]*\n", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^\[  FAILED  \].*\Z", "", text, flags=re.DOTALL | re.MULTILINE)
    lines = text.strip().splitlines() or [f"({case.get('status')}, no output)"]
    if len(lines) > MAX_LINES_SHOWN:
        lines = [f"... ({len(lines) - MAX_LINES_SHOWN} lines before)", *lines[-MAX_LINES_SHOWN:]]
    return "\n".join(lines)


def verdict(case):
    """passed, failed or skipped. Whatever ctest may call a case, only a run without failure passed."""
    if case.find("skipped") is not None or case.get("status") in ("disabled", "notrun"):
        return "skipped" if case.find("failure") is None else "failed"
    return "passed" if case.get("status") == "run" and case.find("failure") is None else "failed"


def count_cases(junit, counts):
    """Adds the report's cases to counts, printing those that failed."""
    for case in ElementTree.parse(junit).getroot().iter("testcase"):
        kind = verdict(case)
        counts[kind] += 1
        if kind == "failed" and counts["failed"] <= MAX_CASES_SHOWN:
            print(f"--- {case.get('name')}\n{output_of(case)}")
        elif kind == "failed":
            print(f"--- {case.get('name')}")


def tail_of(log, lines=20):
    with open(log, encoding="utf-8", errors="replace") as text:
        return "".join(text.readlines()[-lines:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("junit")
    parser.add_argument("--log", required=True)
    parser.add_argument("--ctest-status", type=int, required=True)
    parser.add_argument("--allow-none", action="store_true")
    options = parser.parse_args()

    counts = {"passed": 0, "failed": 0, "skipped": 0}
    trouble = None
    try:
        count_cases(options.junit, counts)
    except (OSError, ElementTree.ParseError) as error:
        trouble = f"cannot read ctest's report: {error}"
    if not trouble and options.ctest_status != 0 and counts["failed"] == 0:
        trouble = f"ctest failed with status {options.ctest_status}, but no case did"
    if not trouble and not any(counts.values()) and not options.allow_none:
        trouble = "no test case ran"
    if trouble:
        counts["failed"] += 1
        print(f"{trouble}\n{tail_of(options.log)}")

    os.write(3, f"{counts['passed']} {counts['failed']} {counts['skipped']}\n".encode())
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
