# SPDX-License-Identifier: Apache-2.0
"""Calls with arrays: in place, by position and name; every argument that does not fit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import tracemalloc
import types
import warnings
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from kernels_for_tests import SCALE, add, racy

import warpwright as ww


@pytest.fixture
def scale():
    return ww.compile("scale.py", text=SCALE)


@pytest.fixture
def arrays():
    return np.arange(20, dtype=np.int32).reshape(5, 4), np.zeros((5, 4), np.int32)


def test_results_are_written_in_place(scale, arrays):
    x, y = arrays
    assert scale(x, y, 3) is None
    assert (y == 3 * x).all()


def test_arguments_go_by_name_and_out(scale, arrays):
    x, y = arrays
    assert scale(X=x, by=2, out=y) is y
    assert (y == 2 * x).all()
    scale(X_ptr=x, Y=y, by=np.int32(4))
    assert (y == 4 * x).all()
    scale(x, by=True, out=(y,))
    assert (y == x).all()


def test_a_view_of_a_larger_array_is_written_where_it_lies(scale, arrays):
    x, _ = arrays
    large = np.full((9, 4), -1, np.int32)
    scale(x, large[2:7], 5)
    assert (large[2:7] == 5 * x).all()
    assert (large[:2] == -1).all() and (large[7:] == -1).all()


def test_inputs_may_be_read_only(scale, arrays):
    x, y = arrays
    x.flags.writeable = False
    scale(x, y, 2)
    assert (y == 2 * x).all()


def test_anything_with_dlpack_is_taken(scale, arrays):
    class Tensor:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    x, y = arrays
    scale(Tensor(x), y, 2)
    assert (y == 2 * x).all()


def test_tensors_of_pytorch_are_taken_where_they_lie(scale, arrays):
    """A stand-in with what is asked of a tensor: PyTorch is large."""

    class Tensor:
        requires_grad, is_cuda = False, False

        def __init__(self, array, device="cpu"):
            self.array, self.shape = array, array.shape
            self.device = types.SimpleNamespace(type=device)
            self.dtype = f"torch.{array.dtype.name}"

        def data_ptr(self):
            return self.array.ctypes.data

        def element_size(self):
            return self.array.itemsize

        def stride(self):
            return tuple(stride // self.array.itemsize for stride in self.array.strides)

    Tensor.__module__ = "torch"
    x, y = arrays
    scale(Tensor(x), Tensor(y), 3)
    assert (y == 3 * x).all()
    assert "expected C order" in refused(scale, Tensor(x), Tensor(np.asfortranarray(y)), 1)
    assert "expected memory of the host" in refused(scale, Tensor(x, "meta"), Tensor(y), 1)


def refused(kernel, *args, **named) -> str:
    with pytest.raises(ww.ArgumentError) as caught:
        kernel(*args, **named)
    assert isinstance(caught.value, ValueError)
    return str(caught.value)


def test_what_does_not_fit_is_refused_by_name(scale, arrays):
    x, y = arrays
    read_only = y.copy()
    read_only.flags.writeable = False
    cases = {
        "`Y` was given an array of float32: expected int32": (x, y.astype(np.float32), 1),
        "`Y` was given an array of 1 dimensions, [20]: expected 2, [n,4]": (x, y.ravel(), 1),
        "`Y` was given an array of shape [4,5]: expected [n,4]": (x, y.reshape(4, 5), 1),
        "with strides of [4,20] bytes: expected C order": (x, np.asfortranarray(y), 1),
        "`Y` was given a read-only array: the kernel writes it": (x, read_only, 1),
        "`Y` was given 1: expected an array of int32[n,4]": (x, 1, 1),
        "`by` was given an array: expected a number of type int32": (x, y, x),
        "`by` was given 0.5, a float: expected a number of type int32": (x, y, 0.5),
        "`by` was given 2147483648: expected a number of type int32": (x, y, 2**31),
        "has more than 64 bits": (x, y, 2**70),
        "`n` is 5 by another array": (x, np.zeros((6, 4), np.int32), 1),
        "`X` was given str: expected a number or an array": ("x", y, 1),
        "`X` was given list: expected a number or an array": ([1], y, 1),
        "`X` was given an array of >i4, of the other byte order": (x.astype(">i4"), y, 1),
        "`scale` was given no argument for `Y`, `by`": (x,),
        "`scale` was given 4 arguments: expected 3 (X, Y, by)": (x, y, 1, 1),
    }
    for message, args in cases.items():
        assert message in refused(scale, *args)
    assert "`scale` has no parameter `Z`: it has X, Y, by" in refused(scale, x, y, 1, Z=1)
    assert "`X` was given twice" in refused(scale, x, y, X=x)
    assert "`out` has 2 arrays: `scale` writes 1 parameters" in refused(scale, x, by=1, out=(y, y))
    assert (y == 0).all()


def test_what_a_kernel_prints_is_printed(capfd):
    text = SCALE.replace("Y[b, t] =", 'T.cuda.printf("%d\\n", X[b, t])\n        Y[b, t] =')
    kernel = ww.compile("print.py", text=text)
    x = np.array([[4, 5, 6, 7]], np.int32)
    y = np.zeros_like(x)
    kernel(x, y, 2)
    assert capfd.readouterr().out == "4\n5\n6\n7\n" and (y == 2 * x).all()
    assert kernel.check(x, y, 2).printed == "4\n5\n6\n7\n"
    assert capfd.readouterr().out == ""


BFLOAT16 = SCALE.replace('"int32"', '"bfloat16"').replace("* by", "* T.bfloat16(2)")


def test_bfloat16_of_numpy_is_named_with_its_package(monkeypatch):
    kernel = ww.compile("bfloat16.py", text=BFLOAT16)
    x = np.array([[1, 2, 3, 4]], ml_dtypes.bfloat16)
    bits = x.view(np.uint16)
    result = np.zeros_like(bits)
    message = refused(kernel, bits, result, 1)
    assert "`X` was given an array of uint16: expected bfloat16, which NumPy gets" in message
    assert "`array.view(ml_dtypes.bfloat16)` takes the bits as they are" in message
    assert "pip install" not in message
    kernel(x, result.view(ml_dtypes.bfloat16), 1)
    assert (result.view(ml_dtypes.bfloat16) == 2 * x).all()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    message = refused(kernel, x.astype(np.float32), result, 1)
    assert "an array of float32: expected bfloat16" in message
    assert "`array.astype(ml_dtypes.bfloat16)` converts it" in message
    assert "`pip install ml_dtypes`" in message


def test_float8_of_numpy_is_named_with_its_package():
    text = BFLOAT16.replace('"bfloat16"', '"float8_e5m2"').replace("* T.bfloat16(2)", "")
    kernel = ww.compile("float8.py", text=text)
    x = np.zeros((1, 4), np.uint8)
    assert "`array.view(ml_dtypes.float8_e5m2)`" in refused(kernel, x, x, 1)


def test_fields_of_records_are_no_plain_elements(scale, arrays):
    x, y = arrays
    records = np.zeros((5, 4), np.dtype([("value", np.int32), ("mark", np.int16)]))
    assert "with strides of [24,6] bytes" in refused(scale, records["value"], y, 1)


def test_memory_of_a_gpu_is_refused_by_name(scale, arrays):
    class OnGpu:
        __cuda_array_interface__ = {}

    assert "`X` is in the memory of a GPU" in refused(scale.check, OnGpu(), arrays[1], 1)


def test_elements_of_four_bits_are_packed():
    text = SCALE.replace('(n, 4), "int32"', '(n, 4), "int4"', 1).replace("X[b, t] * by", "by")
    kernel = ww.compile("nibbles.py", text=text)
    x = np.zeros((5, 4), ml_dtypes.int4)
    y = np.zeros((5, 4), np.int32)
    assert "one element to a byte: expected uint8 with two" in refused(kernel, x, y, 1)
    kernel(np.zeros((5, 2), np.uint8), y, 7)
    assert (y == 7).all()


def test_options_that_cannot_be_read_are_refused(scale, arrays):
    with pytest.raises(ww.Error, match="rice"):
        scale.check(*arrays, 1, checks="rice")
    with pytest.raises(ww.Error):
        scale.check(*arrays, 1, schedule="never")


def test_findings_are_objects_a_warning_or_an_error():
    a, b = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    report = racy.check(a, b)
    assert not report.ok and report.finished
    finding = report.findings[0]
    lines = Path(__file__).with_name("kernels_for_tests.py").read_text().splitlines()
    assert finding.check == "race" and "staged[" in lines[finding.line - 1]
    assert report._repr_html_().startswith("<pre>") and "race" in finding._repr_html_()
    with pytest.warns(ww.FindingWarning, match="race"):
        racy(a, b)
    with pytest.raises(ww.FindingError, match="race") as caught:
        racy(a, b, check=True)
    assert caught.value.report.findings[0].check == "race"
    assert racy.check(a, b, checks="none").ok


def test_a_kernel_that_traps_raises(scale, arrays):
    kernel = ww.compile("trap.py", text=SCALE.replace("Y[b, t] = X[b, t] * by", 'T.ptx["trap"]()'))
    assert kernel.check(*arrays, 1).outcome == "trapped"
    with pytest.raises(ww.DeviceError, match="trap"):
        kernel(*arrays, 1)
    assert scale.check(*arrays, 1, limits="instructions=3").outcome != "finished"


def test_arrays_of_the_virtual_gpu_have_a_limit(scale):
    x = np.zeros((1 << 20, 4), np.int32)
    with pytest.raises(ww.OutOfMemoryError, match="of the virtual GPU's memory"):
        scale.check(x, x.copy(), 1, limits="memory=1M")
    with pytest.raises(MemoryError):
        scale.check(x, x.copy(), 1, limits="memory=1M")


def test_big_arrays_are_not_copied_in_python():
    a = np.ones(1 << 22, np.float32)
    c = np.zeros_like(a)
    add.specialize()
    tracemalloc.start()
    add.check(a, a, c, checks="none")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (c == 2).all()
    assert peak < a.nbytes / 8


def test_threads_call_and_compile_at_once(examples):
    errors = []

    def work(seed):
        try:
            with warnings.catch_warnings():
                a = np.random.default_rng(seed).standard_normal(1000).astype(np.float32)
                c = np.zeros_like(a)
                add(a, a, out=c)
                assert (c == a + a).all()
                ww.compile(examples / "softmax.py", f"build(m={seed + 1})")
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_control_c_interrupts_a_simulation(tmp_path):
    script = tmp_path / "long.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import numpy as np, warpwright as ww
            kernel = ww.compile("scale.py", text={SCALE!r})
            x = np.zeros((1 << 22, 4), np.int32)
            y = np.zeros_like(x)
            try:
                print("ready", flush=True)
                while True:
                    kernel(x, y, 1)
            except KeyboardInterrupt:
                print("interrupted", flush=True)
            """
        )
    )
    child = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    os.kill(child.pid, signal.SIGINT)
    assert child.stdout.readline() == "interrupted\n"
    assert child.wait() == 0
