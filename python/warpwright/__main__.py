# SPDX-License-Identifier: Apache-2.0
"""`python -m warpwright check SCRIPT.py`."""

import sys

from .check.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
