#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the explorer's page in a real browser: one server, one headless Chromium, all tests.

    tests/tools/explore/run.py PROGRAM [--address URL] [-k PATTERN]

PROGRAM is the built `warpwright`. Exits with 77 and a line that says why when Chromium, its driver or Selenium is
missing (and how to get them), or when the program was built without its server. BLESS=1 rewrites
tests/tools/explore/golden and the pictures of docs/guide/explorer.md.
"""
import argparse
import os
import shutil
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SYSTEM_PYTHON = "/usr/bin/python3"  # Debian's packages for Python are for this one
PACKAGES = "chromium chromium-driver python3-selenium"


def missing():
    """What the tests need and this machine does not have."""
    result = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    try:
        import selenium  # noqa: F401
    except ImportError:
        if os.path.realpath(sys.executable) != os.path.realpath(SYSTEM_PYTHON) and os.access(SYSTEM_PYTHON, os.X_OK):
            os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, *sys.argv])
        result.append("selenium")
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--address", help="use a server that runs already")
    parser.add_argument("-k", action="append", help="only tests whose name has this")
    options = parser.parse_args()
    lacking = missing()
    if lacking:
        print(f"{', '.join(lacking)} not found; the browser tests need: apt-get install {PACKAGES}")
        return 77
    sys.path.insert(0, HERE)
    import browser
    loader = unittest.TestLoader()
    if options.k:
        loader.testNamePatterns = [f"*{pattern}*" for pattern in options.k]
    suite = loader.discover(HERE, pattern="test_*.py")
    try:
        with browser.session(os.path.abspath(options.program), options.address):
            result = unittest.TextTestRunner(verbosity=2, stream=sys.stdout).run(suite)
    except browser.NotBuilt as reason:
        print(reason)
        return 77
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
