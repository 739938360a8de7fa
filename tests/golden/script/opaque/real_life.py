#: kernel = build_ldst(2, False, "ld")
# SPDX-License-Identifier: Apache-2.0
"""Tests of copies between shared memory and registers, as a test suite has them."""
from __future__ import annotations

import functools
import itertools
import math
import os
from dataclasses import dataclass
from typing import Callable

import numpy as np
import pytest
import torch
import tvm
import tvm.testing
from tvm.script import tirx as T
from tvm.tirx.layout import S, TileLayout, laneid

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

DEV = tvm.cuda(0)
HAS_HOPPER = torch.cuda.is_available() and torch.cuda.get_device_capability()[0] >= 9
SEED = int(os.environ.get("SEED", "0"))
NUMS = [1, 2, 4]
NP_TYPES = {"float16": np.float16, "float32": np.float32, "int32": np.int32}

rng = np.random.default_rng(SEED)
requires_hopper = pytest.mark.skipif(not HAS_HOPPER, reason="needs sm_90")


@dataclass(frozen=True)
class Case:
    """One size of a copy between registers and shared memory."""

    rows: int
    cols: int
    dtype: str = "float32"

    @property
    def per_lane(self) -> int:
        assert self.rows * self.cols % 32 == 0, f"{self.rows}x{self.cols} leaves lanes out"
        return self.rows * self.cols // 32

    def name(self) -> str:
        return f"{self.dtype}_{self.rows}x{self.cols}"


CASES = [Case(r, c, d) for r, c in [(32, 4), (32, 8), (64, 2)] for d in ("float32", "int32")]
BY_NAME = {case.name(): case for case in CASES}


def next_power_of_2(x: int) -> int:
    """The least power of two that is not less."""
    return 1 << (x - 1).bit_length()


def _coord(row, cp, t, w, trans=False):
    """Where an element of a fragment lies, each 8x8 tile turned or not."""
    if trans:
        return 2 * cp + w, 8 * t + row
    return row, 8 * t + 2 * cp + w


def _row_major(extents: tuple[int, ...], strides=None) -> TileLayout:
    if strides is None:
        strides = []
        step = 1
        for extent in reversed(extents):
            strides.insert(0, step)
            step *= extent
    return TileLayout(S[tuple(extents) : tuple(strides)])


def _check(mod, shape, dtype, want: Callable):
    data = rng.standard_normal(shape).astype(NP_TYPES[dtype])
    out = tvm.nd.array(np.zeros_like(data), DEV)
    mod(tvm.nd.array(data, DEV), out)
    np.testing.assert_allclose(out.numpy(), want(data), rtol=1e-3)


@functools.lru_cache(maxsize=None)
def build_ldst(num: int, trans: bool, direction: str):
    shape = (8, 4, num, 2)
    strides = {"ld": (4 @ laneid, 1 @ laneid, 2, 1), "st": (4 @ laneid, 1 @ laneid, 2, 1)}
    r_layout = TileLayout(S[shape : strides[direction]])
    s_layout = _row_major(shape, (num * 8, 2, 8, 1))
    full = tuple(slice(0, e) for e in shape)
    g_shape = (8, 8 * num)

    if direction == "ld":

        @T.prim_func
        def load(A_ptr: T.handle, B_ptr: T.handle):
            A = T.match_buffer(A_ptr, g_shape, "float16")
            B = T.match_buffer(B_ptr, g_shape, "float16")
            T.device_entry()
            T.cta_id([1])
            T.lane_id([32])
            tid = T.thread_id([32])
            A_smem = T.alloc_buffer(shape, "float16", scope="shared", layout=s_layout)
            row = tid // 4
            cp = tid % 4
            for t in range(num):
                for w in range(2):
                    gr, gc = _coord(row, cp, t, w)
                    A_smem[row, cp, t, w] = A[gr, gc]
            T.cuda.cta_sync()
            R = T.alloc_buffer(shape, "float16", scope="local", layout=r_layout)
            Tx.warp.copy(R[full], A_smem[full])
            r = R.local(num * 2)
            for t in range(num):
                for w in range(2):
                    B[_coord(row, cp, t, w, trans)] = r[t * 2 + w]

        return load

    @T.prim_func
    def store(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, g_shape, "float16")
        B = T.match_buffer(B_ptr, g_shape, "float16")
        T.device_entry()
        T.cta_id([1])
        T.lane_id([32])
        tid = T.thread_id([32])
        R = T.alloc_buffer(shape, "float16", scope="local", layout=r_layout)
        r = R.local(num * 2)
        for t in range(num):
            for w in range(2):
                r[t * 2 + w] = A[tid // 4, 8 * t + 2 * (tid % 4) + w]
        S_smem = T.alloc_buffer(shape, "float16", scope="shared", layout=s_layout)
        Tx.warp.copy(S_smem[full], R[full])
        T.cuda.cta_sync()
        for t in range(num):
            for w in range(2):
                B[tid // 4, 8 * t + 2 * (tid % 4) + w] = S_smem[tid // 4, tid % 4, t, w]

    return store


def build_chain(case: Case, stages: int):
    """A ladder of layouts, each made from the one before; the kernel copies along it."""
    n = case.per_lane
    layouts = []
    for stage in range(stages):
        outer = math.prod([2] * stage)
        layouts.append(TileLayout(S[(case.rows // 32, 32, case.cols) :
                                    (case.cols * outer, 1 @ laneid, outer)]))
    width = next_power_of_2(n)

    @T.prim_func
    def chain(A: T.Buffer((case.rows, case.cols), case.dtype)):
        T.device_entry()
        T.cta_id([1])
        T.warp_id([1])
        lane = T.lane_id([32])
        acc = T.alloc_local((width,), case.dtype)
        frags = [
            T.alloc_buffer((case.rows // 32, 32, case.cols), case.dtype, scope="local", layout=l)
            for l in layouts
        ]
        for i in range(n):
            acc[i] = A[lane + 32 * (i // case.cols), i % case.cols]
        for first, second in T.grid(2, n):
            acc[second] = acc[second] + T.cast(first, case.dtype)
        Tx.warp.copy(frags[-1], frags[0])

    return chain


@requires_hopper
@tvm.testing.requires_cuda
@pytest.mark.parametrize("direction", ["ld", "st"])
@pytest.mark.parametrize("num, trans", list(itertools.product(NUMS, [False, True])))
def test_ldst(num, trans, direction):
    kernel = build_ldst(num, trans, direction)
    with tvm.target.Target("cuda"):
        mod = tvm.compile(tvm.IRModule({"main": kernel}), tir_pipeline="tirx")
    assert "ldmatrix" in mod.imports[0].inspect_source() or direction == "st"
    _check(mod, (8, 8 * num), "float16", lambda x: x)


@pytest.mark.parametrize("case", CASES, ids=[c.name() for c in CASES])
@pytest.mark.parametrize("stages", [1, 3])
def test_chain(case, stages):
    kernel = build_chain(case, stages)
    for target in tvm.testing.enabled_targets():
        mod = tvm.compile(kernel, target=target)
        data = torch.arange(case.rows * case.cols).reshape(case.rows, case.cols)
        if ml_dtypes is not None and case.dtype == "bfloat16":
            data = data.astype(ml_dtypes.bfloat16)
        mod(data)
        np.testing.assert_array_equal(data.cpu().numpy(), np.arange(data.numel()) + 1)


def test_bad_direction():
    with pytest.raises(KeyError):
        build_ldst(2, False, "up")


if __name__ == "__main__":
    tvm.testing.main()
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, laneid

@T.prim_func
def load(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (8, 16), "float16")
    B = T.match_buffer(B_ptr, (8, 16), "float16")
    T.device_entry()
    T.cta_id([1])
    T.lane_id([32])
    tid = T.thread_id([32])
    A_smem = T.alloc_buffer((8, 4, 2, 2), "float16", scope="shared", layout=TileLayout(S[(8, 4, 2, 2) : (16, 2, 8, 1)]))
    row: T.int32 = tid // 4
    cp: T.int32 = tid % 4
    for t in range(2):
        for w in range(2):
            gr: T.int32 = row
            gc: T.int32 = 8 * t + 2 * cp + w
            A_smem[row, cp, t, w] = A[gr, gc]
    T.cuda.cta_sync()
    R_1 = T.alloc_buffer((8, 4, 2, 2), "float16", scope="local", layout=TileLayout(S[(8, 4, 2, 2) : (4 @ laneid, 1 @ laneid, 2, 1)]))
    Tx.warp.copy(R_1[0:8, 0:4, 0:2, 0:2], A_smem[0:8, 0:4, 0:2, 0:2])
    r = T.decl_buffer((4,), "float16", data=R_1.data, scope="local")
    for t in range(2):
        for w in range(2):
            B[row, 8 * t + 2 * cp + w] = r[t * 2 + w]
