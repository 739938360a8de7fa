# SPDX-License-Identifier: Apache-2.0
"""Helper functions that kernels of the tests use from another file."""

from __future__ import annotations

import dataclasses
import enum
import functools
import logging
import warnings

import numpy as np

from warpwright.lang import T

from . import deeper

FACTOR = 3  # test files have others
NOWHERE = object()
logger = logging.getLogger(__name__)


class Mode(enum.IntEnum):
    FAST = 2


def scaled(value):
    return value * FACTOR


@T.inline
def store(A, index, value):
    A[index] = scaled(value) + deeper.offset()


@T.inline
def store_late(A, index, value):
    staged = T.alloc_buffer((32,), "int32", scope="shared")
    staged[index] = value
    A[index] = staged[31 - index]  # without a barrier


@functools.lru_cache(maxsize=None)
def power(base, exponent):
    return base if exponent == 1 else base * power(base, exponent - 1)


@dataclasses.dataclass
class Step:
    width: int = 4

    def twice(self):
        return self.width * 2


def wrong(value):
    return value.nosuch


def needs_object(value):
    return value + NOWHERE


def careful(value, shape=(2, 3)):
    if shape is None:
        logger.warning("no shape")
        warnings.warn("no shape", stacklevel=2)
    return value + len(shape)


def measured(value, shape=(2, 3)):
    return value + np.mean(shape)


def sized(value, shape=(2, 3)):
    return value + int(np.prod(shape)) + int(np.ceil(np.log2(5)))


def counts(value):
    global FACTOR
    FACTOR += 1
    return value
