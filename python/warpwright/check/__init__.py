# SPDX-License-Identifier: Apache-2.0
"""Triton's kernels on the virtual GPU, checked, without a GPU.

    python -m warpwright check train.py -- --steps 1
    pytest --warpwright tests/

and from Python:

    session = warpwright.check.run(function_that_launches, target="sm_90a")
    print(session.findings.text())

docs/guide/checking_triton.md goes through all of it.
"""

from .driver import TARGETS, DriverMismatch, Unsupported
from .findings import CheckFinding
from .memory import Array
from .session import Session, StoppedError, run

__all__ = [
    "TARGETS",
    "Array",
    "CheckFinding",
    "DriverMismatch",
    "Session",
    "StoppedError",
    "Unsupported",
    "run",
]
