# SPDX-License-Identifier: Apache-2.0
"""`@ww.kernel`: functions of this file as kernels, with what they use from around them."""

from __future__ import annotations

import dataclasses
import math
import subprocess
import sys
import textwrap
import typing
from math import ceil
from typing import Annotated

import numpy as np
import pytest
from kernels_for_tests import add

import warpwright as ww
from warpwright.lang import S, T, TileLayout, Tx, laneid

THREADS = 32
FRAGMENT = TileLayout(S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)])
SIZES = {"rows": 8, "columns": [8, 8]}


def doubled(value):
    return value * FACTOR


@T.inline
def store(A, index, value):
    A[index] = value


@dataclasses.dataclass
class Config:
    step: int = 3

    def scaled(self):
        return self.step * 2


FACTOR = 2  # after its use: names are looked up at the first call


def run(kernel, dtype="int32", size=THREADS, **named):
    out = np.zeros(size, dtype)
    kernel(out, check=True, **named)
    return out


def test_an_extent_is_known_at_the_call():
    for n in (1, 128, 300):
        a, b = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
        c = np.zeros_like(a)
        assert add(a, b, out=c, check=True) is c
        assert (c == a + 1).all()


def test_values_of_the_module_and_of_functions_are_constants():
    offset = 40

    @ww.kernel
    def fill(A: ww.Tensor[THREADS, "int32"]):
        T.device_entry()
        T.cta_id([1])
        t = T.thread_id([THREADS])
        A[t] = t + offset + SIZES["rows"] + ceil(1.5) + math.floor(2.5)

    assert (run(fill) == np.arange(32) + 40 + 8 + 2 + 2).all()


def test_annotations_may_use_local_names():
    def build(n, dtype):
        @ww.kernel
        def fill(A: ww.Tensor[n, dtype]):
            T.device_entry()
            T.cta_id([1])
            t = T.thread_id([n])
            A[t] = t

        return fill

    assert (run(build(64, np.dtype("int32")), size=64) == np.arange(64)).all()
    assert (run(build(96, np.int16), "int16", 96) == np.arange(96)).all()


def test_functions_macros_and_classes_of_the_file_come_along():
    config = 5

    @ww.kernel
    def fill(A: ww.Tensor[THREADS, "int32"]):
        T.device_entry()
        T.cta_id([1])
        t = T.thread_id([THREADS])
        store(A, t, doubled(config) + Config().scaled())

    assert (run(fill) == 16).all()


def test_layouts_made_by_python_come_along():
    @ww.kernel
    def through(A: ww.Tensor[8, 8, "float16"], B: ww.Tensor[8, 8, "float16"]):
        T.device_entry()
        T.cta_id([1])
        T.warp_id([1])
        T.lane_id([32])
        R = T.alloc_buffer((8, 8), "float16", scope="local", layout=FRAGMENT)
        Tx.warp.copy(R[:, :], A[:, :])
        Tx.warp.copy(B[:, :], R[:, :])

    a = np.random.default_rng(0).standard_normal((8, 8)).astype(np.float16)
    b = np.zeros_like(a)
    through(a, b, check=True)
    assert (a == b).all()
    assert "S[(8,4,2):(4@laneid,1@laneid,1)]" in str(through.explain())


def test_constants_are_parameters():
    @ww.kernel
    def fill(A: ww.Tensor[THREADS, "int32"], VALUE: T.constexpr):
        T.device_entry()
        T.cta_id([1])
        t = T.thread_id([THREADS])
        A[t] = VALUE

    out = np.zeros(32, np.int32)
    for value in (3, 4, 3):
        fill(out, VALUE=value)
        assert (out == value).all()
    fill(out, 9)
    assert (out == 9).all()
    assert fill.specialize(VALUE=3).ptx != fill.specialize(VALUE=4).ptx
    assert len(fill._made) == 3
    with pytest.raises(ww.ArgumentError, match="no constant `OTHER`: its constants are VALUE"):
        fill.specialize(OTHER=1)
    with pytest.raises(ww.ArgumentError, match="object has no text"):
        fill.specialize(VALUE=object())
    assert fill.explain(VALUE=3).data == fill.specialize(VALUE=3).explain().data


@ww.kernel
def spread(A: ww.Tensor["n", "int32"], VALUE: T.constexpr, BLOCK: T.constexpr = 32):  # noqa: F821
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([BLOCK])
    if t < A.shape[0]:
        A[t] = VALUE


def test_a_missing_constant_is_named_with_what_to_write():
    out = np.zeros(32, np.int32)
    spread(out, 3)  # BLOCK has a default
    assert (out == 3).all()
    ways = {
        "`spread(…, VALUE=…)`": lambda: spread(out),
        "`spread.check(…, VALUE=…)`": lambda: spread.check(out),
        "`spread.bind(…, VALUE=…)`": lambda: spread.bind(out),
        "`spread.specialize(VALUE=…)`": lambda: spread.specialize(BLOCK=64),
        "`spread.specialize(VALUE=…).ptx`": lambda: spread.ptx,
        "`spread.specialize(VALUE=…).registers`": lambda: spread.registers,
        "`spread.explain(VALUE=…)`": lambda: spread.explain(),
    }
    for way, call in ways.items():
        with pytest.raises(ww.ArgumentError) as caught:
            call()
        assert str(caught.value) == f"`spread` was given no value for `VALUE`: write {way}"


def test_arguments_of_functions_are_counted_with_their_constants():
    out = np.zeros(32, np.int32)
    cases = {
        r"was given 4 arguments: expected 3 \(A, VALUE, BLOCK\)": ((out, 3, 32, 1), {}),
        "`VALUE` was given twice": ((out, 3), {"VALUE": 4}),
        "no parameter `FOO`: it has A, VALUE, BLOCK$": ((out, 3), {"FOO": 4}),
        "no parameter `BLOCKS`: .*; did you mean `BLOCK`": ((out,), {"BLOCKS": 4}),
    }
    for message, (args, named) in cases.items():
        with pytest.raises(ww.ArgumentError, match=message):
            spread(*args, **named)
    assert (out == 0).all()


def test_a_call_with_a_grid_is_told_where_the_grid_is():
    for kernel in (spread, spread.specialize(VALUE=1)):
        with pytest.raises(TypeError) as caught:
            kernel[(4, 1)](np.zeros(32, np.int32))
        assert isinstance(caught.value, ww.ArgumentError)
        assert str(caught.value).startswith("`spread[(4, 1)]`: a call gives no grid")
        assert "`T.cta_id([…])`" in str(caught.value) and "call `spread(…)`" in str(caught.value)


def test_element_types_are_those_of_the_arrays():
    @ww.kernel
    def scaled(A: ww.Tensor["n"], B: ww.Tensor["n", {"float32", "float64"}]):
        T.device_entry()
        b = T.cta_id([A.shape[0]])
        t = T.thread_id([32])
        if t == 0:
            B[b] = T.cast(A[b], B.dtype) * 2

    x = np.arange(5)
    for inner in (np.int32, np.float16, np.int32):
        for outer in (np.float32, np.float64):
            y = np.zeros(5, outer)
            assert scaled(x.astype(inner), out=y, check=True) is y
            assert (y == 2 * x).all()
    assert len(scaled._made) == 4
    scaled(B=y, A=x.astype(np.int32))
    assert len(scaled._made) == 4
    assert scaled.specialize(A="int32", B=np.float64).ptx == list(scaled._made.values())[1].ptx
    expected = "`B` was given an array of int32: expected float32 or float64"
    with pytest.raises(ww.ArgumentError, match=expected):
        scaled(x.astype(np.int32), x.astype(np.int32))
    half = np.zeros(5, np.uint16)
    with pytest.raises(ww.ArgumentError, match="uint16: expected float32 or float64$"):
        scaled(x, half)
    with pytest.raises(ww.CompileError, match="the element type of `A` is open"):
        scaled.ptx  # noqa: B018
    with pytest.raises(ww.ArgumentError, match="`A` was given int: expected an array"):
        scaled(3, y)


def test_annotations_may_be_those_that_type_checkers_read():
    @ww.kernel
    def scaled(
        A: Annotated[ww.Tensor, "n"],
        B: typing.Annotated[ww.Tensor, "n", {"float32", "float64"}],
        by: Annotated[T.int32, "a factor"],
    ):
        T.device_entry()
        b = T.cta_id([A.shape[0]])
        t = T.thread_id([32])
        if t == 0:
            B[b] = T.cast(A[b] * by, B.dtype)

    y = np.zeros(5)
    scaled(np.arange(5, dtype=np.int32), y, 3, check=True)
    assert (y == 3 * np.arange(5)).all()


def test_extents_may_be_constants_of_the_kernel():
    @ww.kernel
    def reverse(A: ww.Tensor["m", "N", "int32"], B: ww.Tensor["m", "N", "int32"], N: T.constexpr):
        T.device_entry()
        b = T.cta_id([A.shape[0]])
        t = T.thread_id([N])
        B[b, t] = A[b, N - 1 - t]

    for n in (32, 64):
        for m in (1, 3):
            a = np.arange(m * n, dtype=np.int32).reshape(m, n)
            b = np.zeros_like(a)
            reverse(a, out=b, check=True)
            assert (b == a[:, ::-1]).all()
    assert len(reverse._made) == 2  # m is known at the call
    reverse(a, b, N=64)
    assert len(reverse._made) == 2
    with pytest.raises(ww.ArgumentError, match="`N` is 64 by another array: `B` has an extent of 32"):
        reverse(a, b[:, :32])
    with pytest.raises(ww.ArgumentError, match="`A` was given an array of shape"):
        reverse(a, b, N=32)


def test_decorators_of_tvmscript_may_stand_below():
    @ww.kernel(target="sm_80")
    @T.prim_func
    def fill(A_ptr: T.handle):
        A = T.match_buffer(A_ptr, (THREADS,), "int32")
        T.device_entry()
        T.cta_id([1])
        t = T.thread_id([THREADS])
        A[t] = t

    assert (run(fill) == np.arange(32)).all()
    assert ".target sm_80" in fill.ptx

    @ww.kernel
    @T.jit
    def add(A: ww.Tensor["N", "int32"], N: T.constexpr, VALUE: T.constexpr):
        T.device_entry()
        T.cta_id([1])
        t = T.thread_id([N])
        A[t] = t + VALUE

    assert (run(add, VALUE=5) == np.arange(32) + 5).all()


def line_of(text):
    lines = open(__file__).read().splitlines()
    return 1 + next(i for i, line in enumerate(lines) if line.strip().startswith(text))


def test_mistakes_have_their_place_in_this_file():
    @ww.kernel
    def wrong(A: ww.Tensor[THREADS, "int32"]):
        T.device_entry()
        T.cta_id([1])
        t = T.thread_id([THREADS])
        T.cuda.syncthreads()
        A[t] = 0

    line = line_of("T.cuda.syncthreads()")
    with pytest.raises(ww.CompileError) as caught:
        wrong.ptx  # noqa: B018
    assert f"{__file__}:{line}:16: error: `T.cuda` has no `syncthreads`" in str(caught.value)
    assert "T.cuda.syncthreads()" in str(caught.value)


def test_one_name_with_two_values_is_refused():
    FACTOR = 7  # noqa: N806

    @ww.kernel
    def fill(A: ww.Tensor[THREADS, "int32"]):
        A[0] = doubled(FACTOR)

    with pytest.raises(ww.CaptureError, match="`FACTOR` is 7 here and 2 elsewhere"):
        fill.ptx  # noqa: B018


def test_only_functions_are_kernels():
    with pytest.raises(ww.ArgumentError, match="`ww.kernel` was given int: expected a function"):
        ww.kernel(3)
    with pytest.raises(ww.ArgumentError, match="`target` is 'sm_0'"):
        ww.kernel(target="sm_0")


def test_a_kernel_without_a_file_is_refused():
    scope = {"ww": ww, "T": T}
    exec("@ww.kernel\ndef f(A: ww.Tensor[32, 'int32']):\n    pass\n", scope)
    with pytest.raises(ww.CaptureError, match="cannot be read: `<string>` is no file"):
        scope["f"].ptx  # noqa: B018


def test_a_file_with_kernels_runs_on_the_command_line_and_in_python(tmp_path):
    """One file for both: its imports need nothing but this package."""
    file = tmp_path / "both.py"
    file.write_text(
        textwrap.dedent(
            """
            import numpy as np
            import warpwright as ww
            from warpwright.lang import T

            @ww.kernel
            def fill(A: ww.Tensor[32, "int32"]):
                T.device_entry()
                T.cta_id([1])
                t = T.thread_id([32])
                A[t] = t

            if __name__ == "__main__":
                a = np.zeros(32, np.int32)
                fill(a)
                assert (a == np.arange(32)).all()
                print("good")
            """
        )
    )
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, check=True)
    assert done.stdout == "good\n"
    assert ".entry fill" in ww.compile(file).ptx


@ww.kernel
def twice(A: ww.Tensor["n"], B: ww.Tensor["n"]):  # noqa: F821
    T.device_entry()
    c = T.cta_id([(n + 127) // 128])  # noqa: F821
    t = T.thread_id([128])
    if c * 128 + t < n:  # noqa: F821
        B[c * 128 + t] = A[c * 128 + t] + A[c * 128 + t]


@pytest.mark.parametrize("length", [1, 128, 300])
def test_the_body_knows_extents_in_quotes(length):
    a = np.arange(length, dtype=np.float32)
    b = np.zeros_like(a)
    twice(a, b)
    assert (b == 2 * a).all()
