# SPDX-License-Identifier: Apache-2.0
"""Triton's kernels on the virtual GPU, checked, without a GPU.

    python -m warpwright check train.py -- --steps 1
    pytest --warpwright tests/

and from Python:

    session = warpwright.check.run(function_that_launches, target="sm_90a")
    print(session.findings.text())

docs/guide/checking_triton.md goes through all of it.
"""

from .driver import SUPPORTED, TARGETS, DriverMismatch
from .findings import CheckFinding, Findings
from .memory import Array, Place
from .session import Options, Session, StoppedError, checking, run
from .torch_cuda import Unsupported

__all__ = [
    "SUPPORTED",
    "TARGETS",
    "Array",
    "CheckFinding",
    "DriverMismatch",
    "Findings",
    "Options",
    "Place",
    "Session",
    "StoppedError",
    "Unsupported",
    "checking",
    "run",
]
