#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads ctest's JUnit report; shows what failed and counts.

usage: test_report.py JUNIT.xml --log LOG --ctest-status N [--allow-none]
       test_report.py --self-test

Prints the output of every failed case, and to file descriptor 3 the line `PASSED FAILED SKIPPED`, then why whole
tests were skipped. Cases of pytest and unittest count as cases, by the summary that ends the test's output.
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


PYTEST_SUMMARY = re.compile(r"^=* ?(?=\d)((?:, |\d+ (?:passed|failed|skipped|errors?|xfailed|xpassed|warnings?|deselected))+)"
                            r" in [\d.]+s.*$", re.MULTILINE)
UNITTEST_SUMMARY = re.compile(r"^Ran (\d+) tests? in [\d.]+s\n\n(?:OK|FAILED)(?: \((.*)\))?$", re.MULTILINE)


def python_counts(text):
    """How many cases passed, failed, were skipped, by the last summary of pytest or unittest in the text."""
    of = lambda words, part: sum(int(n) for n in re.findall(rf"(\d+) (?:{words})\b", part))
    for match in list(PYTEST_SUMMARY.finditer(text))[-1:]:
        return (of("passed|xpassed", match[1]), of("failed|errors?", match[1]), of("skipped|xfailed", match[1]))
    for match in list(UNITTEST_SUMMARY.finditer(text))[-1:]:
        parts = {key: int(n) for key, n in re.findall(r"(\w[\w ]*)=(\d+)", match[2] or "")}
        failed = parts.get("failures", 0) + parts.get("errors", 0) + parts.get("unexpected successes", 0)
        return (int(match[1]) - failed - parts.get("skipped", 0), failed, parts.get("skipped", 0))
    return None


END_OF_CASE = re.compile(r"^\[(       OK |  FAILED  |  SKIPPED )\] (\S+?),?(?: .*)? \(\d+ ms\)$")
KINDS = {"       OK ": "passed", "  FAILED  ": "failed", "  SKIPPED ": "skipped"}


def cases_of(test):
    """(name, verdict, output) of a test of ctest's: one case, or all cases of an executable, of which
    the last may not have come to its end."""
    text, kind, name = test.findtext("system-out") or "", verdict(test), test.get("name")
    counts = python_counts(text)
    if counts:
        kinds = ["passed"] * counts[0] + ["skipped"] * counts[2] + ["failed"] * max(counts[1], kind == "failed")
        for i, each in enumerate(kinds):
            yield name, each, shown(text, test.get("status")) if i + 1 == len(kinds) else ""
        return
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


def count_cases(junit, counts, skipped):
    """Adds the report's cases to counts; prints the cases that failed and the whole tests that were skipped."""
    for test in ElementTree.parse(junit).getroot().iter("testcase"):
        for name, kind, output in cases_of(test):
            counts[kind] += 1
            if kind == "failed" and output:
                print(f"--- {name}" + (f"\n{output}" if counts["failed"] <= MAX_CASES_SHOWN else ""))
            if kind == "skipped" and "/" in name and output and "[  " not in output:
                skipped.append(f"  {name} skipped: {output.splitlines()[-1]}\n")


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
<testcase name="pytest" status="fail"><failure/><system-out>
no such device
1 failed, 2 passed, 1 skipped, 1 xfailed, 3 warnings in 0.21s
</system-out></testcase>
<testcase name="unittest" status="run"><system-out>
Ran 3 tests in 0.5s

OK (skipped=1)
</system-out></testcase>
</testsuite>"""
EXPECTED = [("one", "passed"), ("all/A.One", "passed"), ("all/A.Two", "failed"), ("all/A.Three", "skipped"),
            ("crash/B.One", "passed"), ("crash/B.Two", "failed"), ("leak/B.One", "passed"),
            ("leak/B.Two", "passed"), ("leak", "failed"), ("absent", "skipped"), ("pytest", "passed"),
            ("pytest", "passed"), ("pytest", "skipped"), ("pytest", "skipped"), ("pytest", "failed"),
            ("unittest", "passed"), ("unittest", "passed"), ("unittest", "skipped")]


def self_test():
    tests = ElementTree.fromstring(SAMPLE).iter("testcase")
    seen = [case[:2] for test in tests for case in cases_of(test)]
    if seen == EXPECTED:
        return 0
    print(f"expected {EXPECTED}\nseen     {seen}")
    return 1


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("junit")
    parser.add_argument("--log", required=True)
    parser.add_argument("--ctest-status", type=int, required=True)
    parser.add_argument("--allow-none", action="store_true")
    options = parser.parse_args()

    counts, skipped = {"passed": 0, "failed": 0, "skipped": 0}, []
    trouble = None
    try:
        count_cases(options.junit, counts, skipped)
    except (OSError, ElementTree.ParseError) as error:
        trouble = f"cannot read ctest's report: {error}"
    if not trouble and options.ctest_status != 0 and counts["failed"] == 0:
        trouble = f"ctest failed with status {options.ctest_status}, but no case did"
    if not trouble and not any(counts.values()) and not options.allow_none:
        trouble = "no test case ran"
    if trouble:
        counts["failed"] += 1
        print(f"{trouble}\n{tail_of(options.log)}")

    os.write(3, f"{counts['passed']} {counts['failed']} {counts['skipped']}\n{''.join(skipped)}".encode())
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
