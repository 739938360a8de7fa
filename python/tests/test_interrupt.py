# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C ends compiling, evaluating and simulating; what was there before still works."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest
from kernels_for_tests import add

import warpwright as ww

ENDLESS = """
from tvm.script import tirx as T

@T.prim_func
def endless(A_ptr: T.handle):
    A = T.match_buffer(A_ptr, (32,), "int32")
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    while A[t] == 0:
        A[t] = 0
"""

SLOW = """
from tvm.script import tirx as T

def spin():
    total = 0
    for i in range(10**4):
        for j in range(10**4):
            total = total + j
    return total

COUNT = spin()

@T.prim_func
def slow(A_ptr: T.handle):
    A = T.match_buffer(A_ptr, (32,), "int32")
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    A[t] = COUNT
"""


def interrupted(work) -> None:
    """The work, with Ctrl-C soon after its beginning."""
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
    finally:
        timer.cancel()
        timer.join()


@pytest.fixture
def still_whole():
    yield
    a = np.arange(8, dtype=np.float32)
    c = np.zeros_like(a)
    add(a, a, c)
    assert (c == 2 * a).all()


def test_simulating_ends(still_whole):
    kernel = ww.compile("endless.py", text=ENDLESS)
    a = np.zeros(32, np.int32)
    unbounded = "instructions=1000000000000"
    interrupted(lambda: kernel.check(a, limits=unbounded))


def test_evaluating_ends(still_whole):
    kernel = ww.compile("endless.py", text=ENDLESS)
    interrupted(lambda: kernel.evaluate(np.zeros(32, np.int32)))


def test_compiling_ends_and_keeps_nothing(still_whole, own_cache):
    interrupted(lambda: ww.compile("slow.py", text=SLOW))
    assert ww.cache.size() == 0
