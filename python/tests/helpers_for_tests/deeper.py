# SPDX-License-Identifier: Apache-2.0
"""A file that a file of helpers uses, and that uses it."""

from __future__ import annotations

import helpers_for_tests

OFFSET = 10


def offset():
    return OFFSET + helpers_for_tests.FACTOR
