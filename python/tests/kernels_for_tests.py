# SPDX-License-Identifier: Apache-2.0
"""Kernels that several tests use."""

from __future__ import annotations

import warpwright as ww
from warpwright.lang import T

SCALE = """
from tvm.script import tirx as T

@T.prim_func
def scale(X_ptr: T.handle, Y_ptr: T.handle, by: T.int32):
    n = T.int32()
    X = T.match_buffer(X_ptr, (n, 4), "int32")
    Y = T.match_buffer(Y_ptr, (n, 4), "int32")
    T.device_entry()
    b = T.cta_id([n])
    t = T.thread_id([32])
    if t < 4:
        Y[b, t] = X[b, t] * by
"""


@ww.kernel
def add(
    A: ww.Tensor["n", "float32"],
    B: ww.Tensor["n", "float32"],
    C: ww.Tensor["n", "float32"],
):
    T.device_entry()
    b = T.cta_id([(A.shape[0] + 127) // 128])
    t = T.thread_id([128])
    i = b * 128 + t
    if i < A.shape[0]:
        C[i] = A[i] + B[i]


@ww.kernel
def blocked(A: ww.Tensor["n", "float32"], B: ww.Tensor["n", "float32"], BLOCK: T.constexpr):
    T.device_entry()
    b = T.cta_id([(A.shape[0] + BLOCK - 1) // BLOCK])
    t = T.thread_id([BLOCK])
    i = b * BLOCK + t
    if i < A.shape[0]:
        B[i] = A[i]


@ww.kernel
def stray(A: ww.Tensor[64, "float32"], B: ww.Tensor[64, "float32"]):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([64])
    B[t + 4096] = A[t]


@ww.kernel
def wild(A: ww.Tensor[64, "float32"], B: ww.Tensor[64, "float32"]):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([64])
    B[t + 2**30] = A[t]  # four GiB away, beyond what the driver maps beside arrays


@ww.kernel
def asserting(A: ww.Tensor[64, "float32"], B: ww.Tensor[64, "float32"]):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([64])
    assert t < 60, "too many"
    B[t] = A[t]


@ww.kernel
def racy(A: ww.Tensor[64, "int32"], B: ww.Tensor[64, "int32"]):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([64])
    staged = T.alloc_buffer((64,), "int32", scope="shared")
    staged[t] = A[t]
    B[t] = staged[63 - t]
