// SPDX-License-Identifier: Apache-2.0
// For this folder's tests: a file as people write them, with kernels in it and all the Python that
// stands around kernels.
#pragma once

#include <string_view>

namespace ww::script {

inline constexpr std::string_view kProgram = R"py("""Tests of a tiled matrix product."""
from __future__ import annotations

import functools, os.path as osp
import numpy as np
import pytest
import torch

import tvm.script
from tvm.script import tirx as T
from ..common import (
    check_close,  # within a tolerance
    make_inputs as inputs,
)

BLOCKS = {"m": 128, "n": 128, "k": 64, **{f"s{i}": 1 << i for i in range(4)}}
SHAPES = [(m, n, 64) for m in (128, 256) for n in (128, 256) if m >= n]
DEV = "cuda" if torch.cuda.is_available() else "cpu"
DTYPES: dict[str, torch.dtype] = {"float16": torch.float16, "bfloat16": torch.bfloat16}


def ceildiv(a: int, b: int = 1, /, *, up: bool = True) -> int:
    return -(-a // b) if up else a // b


@functools.lru_cache(maxsize=None)
def build(M, N, K, dtype="float16", *, stages=2, **options):
    BM, BN, BK = BLOCKS["m"], BLOCKS["n"], BLOCKS["k"]
    assert M % BM == 0 and 0 < BN <= N, f"{M=} does not split into {BM!r:>4} rows"

    @T.prim_func(tirx=True)
    def kernel(A: T.Buffer((M, K), dtype), B: T.Buffer((N, K), dtype), C: T.Buffer[M, N]) -> None:
        T.func_attr({"global_symbol": "kernel", "num_warps": 4})
        with T.kernel():
            bx, by = T.cta_id([ceildiv(M, BM), ceildiv(N, BN)], parent="kernel")
            tx = T.thread_id([128], parent="cta")
            As = T.alloc_buffer([stages, BM, BK], dtype, scope="shared", layout=T.swizzle(3, 3, 3))
            Bs = T.alloc_buffer((stages, BN, BK), dtype, scope="shared")
            acc = T.alloc_local([BM // 16, BN // 8], "float32")
            phase: T.int32 = 0
            for k in T.serial(K // BK):
                with T.cta():
                    T.copy(As[k % stages, :, :], A[bx * BM : (bx + 1) * BM, k * BK : (k + 1) * BK])
                    T.copy(Bs[k % stages, ...], B[by * BN : by * BN + BN, k * BK:])
                if tx == 0 and not (k & 1) or phase ^ 1: phase ^= 1; T.sync()
                elif k > 2:
                    T.gemm(acc[0:4, ::2], As, Bs, transpose_B=True, *[], **{})
                else:
                    pass
            while T.bool(phase != 0):
                phase -= 1
                if phase < 0:
                    break
                continue
            C[bx, by] = T.if_then_else(tx < 32, acc[0, 0], T.float32(0.0))

    return kernel


class Case(metaclass=type):
    """A shape and what to expect."""

    count = 0
    __slots__ = ("shape", "dtype")

    def __init__(self, shape, dtype="float16"):
        self.shape, self.dtype = shape, dtype
        Case.count += 1

    @property
    def flops(self) -> float:
        m, n, k = self.shape
        return 2.0 * m * n * k * 1e-9

    @staticmethod
    def names(*cases, sep="-"):
        return [sep.join(str(d) for d in c.shape) + f"{sep}{c.dtype}" for c in cases]


def run(case, *, seed=0x5EED, tol=1e-2):
    global last
    torch.manual_seed(seed)
    a, b = inputs(*case.shape, dtype=DTYPES[case.dtype], device=DEV)
    try:
        last = out = build(*case.shape, case.dtype)(a, b)
    except (RuntimeError, ValueError) as error:
        if "no kernel image" in str(error):
            pytest.skip(reason=f"{error}")
        raise RuntimeError(f"{case.shape}: {error!s}") from error
    except Exception:
        raise
    else:
        torch.cuda.synchronize()
    finally:
        del a
    expected = out.float() @ b.T.float()
    worst, *rest = sorted(((out - expected).abs() / (expected.abs() + 1e-6)).flatten().tolist())[::-1]
    if (n := len(rest)) > 10 and worst > tol:
        bad = {i: v for i, v in enumerate(rest) if v is not None and v > tol}
        raise AssertionError(
            f"{n} values, worst {worst:.3e} > {tol:{8}.{2}e}; "
            "the first of them: " rf"\d{bad}" '''
            and so on'''
        )
    return lambda x, y=2, *z: x ** -y if z else (yield_ := x)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: "x".join(map(str, s)))
@pytest.mark.parametrize(
    "dtype, tol",
    [
        ("float16", 1e-2),
        pytest.param("bfloat16", 2e-2, marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no")),
    ],
)
def test_gemm(shape, dtype, tol):
    case = Case(shape, dtype)
    with pytest.warns(UserWarning) as record, torch.no_grad():
        run(case, tol=tol)
    with (
        open(osp.join(osp.dirname(__file__), "log"), "a") as log,
        torch.inference_mode(),
    ):
        print(case.flops, *record, sep="\t", file=log)
    match = {"a": 1}
    match["a"] += 1
    type = [x for xs in [[1, 2], [3]] for x in xs if x % 2]
    return match, type


async def fetch(url):
    async with session.get(url) as r:
        return await r.text()


def dispatch(op):
    match op:
        case {"kind": "gemm", **rest} if rest:
            return rest
        case [x, *_] | (x, _):
            return x
        case _:
            return None


if __name__ == "__main__":
    for index, (m, n, k) in enumerate(SHAPES): run(Case((m, n, k))); print(index)
    else:
        print("done")
)py";

}  // namespace ww::script
