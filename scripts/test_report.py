#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads ctest's JUnit report; shows what failed and counts.

usage: test_report.py JUNIT.xml --log LOG --ctest-status N [--allow-none]
       test_report.py --pytest JUNIT.xml
       test_report.py --self-test

Prints the output of every failed case, and to file descriptor 3 the line `PASSED FAILED SKIPPED`.
Three things count as one failure each, and show the end of ctest's log: a report that cannot be read,
a ctest that failed although no case did (a test executable that cannot list its cases, say), and a
run without any case, unless --allow-none is given. Exits 1 when anything failed.
--pytest prints that line to stdout for a report of pytest's, which shows its failures itself; a report
without any case is one failure.
"""

import argparse
import os
import re
import sys
import xml.etree.ElementTree as ElementTree


# Show no more than this; ctest's log has the rest.
MAX_CASES_SHOWN = 20
MAX_LINES_SHOWN = 60


def shown(text, status):
    """The end of a text, as far as anyone reads it."""
    lines = text.strip().splitlines() or [f"({status}, no output)"]
    if len(lines) > MAX_LINES_SHOWN:
        lines = [f"... ({len(lines) - MAX_LINES_SHOWN} lines before)", *lines[-MAX_LINES_SHOWN:]]
    return "\n".join(lines)


def verdict(case):
    """passed, failed or skipped. Whatever ctest may call a case, only a run without failure passed."""
    if case.find("skipped") is not None or case.get("status") in ("disabled", "notrun"):
        return "skipped" if case.find("failure") is None else "failed"
    return "passed" if case.get("status") == "run" and case.find("failure") is None else "failed"


END_OF_CASE = re.compile(r"^\[(       OK |  FAILED  |  SKIPPED )\] (\S+?),?(?: .*)? \(\d+ ms\)$")
KINDS = {"       OK ": "passed", "  FAILED  ": "failed", "  SKIPPED ": "skipped"}


def cases_of(test):
    """(name, verdict, output) of a test of ctest's: one case, or all cases of an executable, of which
    the last may not have come to its end."""
    text, kind, name = test.findtext("system-out") or "", verdict(test), test.get("name")
    parts = re.split(r"^\[ RUN      \] (\S+)\n", text, flags=re.MULTILINE)
    if len(parts) <= 3:  # what stands before the first case, its name, its output
        output = re.sub(r"^\[  FAILED  \].*\Z", "", parts[-1], flags=re.DOTALL | re.MULTILINE)
        yield name, kind, shown(output, test.get("status"))
        return
    ran = []
    for case, output in zip(parts[1::2], parts[2::2]):
        before, ended = [], None
        for line in output.splitlines():
            ended = END_OF_CASE.match(line)
            if ended:
                break
            before.append(line)
        ran.append((f"{name}/{case}", KINDS[ended[1]] if ended else "failed",
                    shown("\n".join(before), test.get("status"))))
    if kind == "failed" and all(case[1] != "failed" for case in ran):
        ran.append((name, "failed", shown(text, test.get("status"))))
    yield from ran


def count_cases(junit, counts):
    """Adds the report's cases to counts, printing those that failed."""
    for test in ElementTree.parse(junit).getroot().iter("testcase"):
        for name, kind, output in cases_of(test):
            counts[kind] += 1
            if kind == "failed":
                print(f"--- {name}" + (f"\n{output}" if counts["failed"] <= MAX_CASES_SHOWN else ""))


def pytest_counts(root):
    """PASSED FAILED SKIPPED of a report of pytest's."""
    passed = failed = skipped = 0
    for case in root.iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None:
            skipped += 1
        else:
            passed += 1
    return (passed, failed, skipped) if passed + failed + skipped else (0, 1, 0)


def tail_of(log, lines=20):
    with open(log, encoding="utf-8", errors="replace") as text:
        return "".join(text.readlines()[-lines:])


SAMPLE = """<testsuite>
<testcase name="one" status="run"><system-out>
[ RUN      ] A.One
[       OK ] A.One (0 ms)
</system-out></testcase>
<testcase name="all" status="fail"><failure/><system-out>
[ RUN      ] A.One
[       OK ] A.One (0 ms)
[ RUN      ] A.Two
boo
[  FAILED  ] A.Two, where GetParam() = 4-byte object &lt;04-00&gt; (3 ms)
[ RUN      ] A.Three
[  SKIPPED ] A.Three (0 ms)
[  FAILED  ] 1 test, listed below:
[  FAILED  ] A.Two
</system-out></testcase>
<testcase name="crash" status="fail"><failure/><system-out>
[ RUN      ] B.One
[       OK ] B.One (0 ms)
[ RUN      ] B.Two
Segmentation fault
</system-out></testcase>
<testcase name="leak" status="fail"><failure/><system-out>
[ RUN      ] B.One
[       OK ] B.One (0 ms)
[ RUN      ] B.Two
[       OK ] B.Two (0 ms)
Leak
</system-out></testcase>
<testcase name="absent" status="notrun"><skipped/></testcase>
</testsuite>"""
EXPECTED = [("one", "passed"), ("all/A.One", "passed"), ("all/A.Two", "failed"), ("all/A.Three", "skipped"),
            ("crash/B.One", "passed"), ("crash/B.Two", "failed"), ("leak/B.One", "passed"),
            ("leak/B.Two", "passed"), ("leak", "failed"), ("absent", "skipped")]


PYTEST_SAMPLE = """<testsuites><testsuite>
<testcase name="a"/><testcase name="b"><failure/></testcase><testcase name="c"><error/></testcase>
<testcase name="d"><skipped/></testcase><testcase name="e"/>
</testsuite></testsuites>"""


def self_test():
    pytest = [pytest_counts(ElementTree.fromstring(text)) for text in (PYTEST_SAMPLE, "<testsuites/>")]
    if pytest != [(2, 2, 1), (0, 1, 0)]:
        print(f"counts of pytest's reports: {pytest}")
        return 1
    tests = ElementTree.fromstring(SAMPLE).iter("testcase")
    seen = [case[:2] for test in tests for case in cases_of(test)]
    if seen == EXPECTED:
        return 0
    print(f"expected {EXPECTED}\nseen     {seen}")
    return 1


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) == 3 and sys.argv[1] == "--pytest":
        print(*pytest_counts(ElementTree.parse(sys.argv[2]).getroot()))
        return 0
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
