# SPDX-License-Identifier: Apache-2.0
"""What goes wrong on a GPU, against a driver that prints: refusals, traps, a driver that fails."""

from __future__ import annotations

import pytest
from fake_gpu_for_tests import make_driver, run


def test_what_does_not_fit_is_refused_by_name(driver):
    printed = run(
        driver,
        """
        a, b, c = Tensor(0x1000), Tensor(0x2000), Tensor(0x3000)
        refused(a, b, Tensor(0x3000, number=0))
        refused(a, b, Tensor(0x3000, dtype=COMPLEX))
        refused(a, b, Tensor(0x3000, step=2))
        refused(a, b, Tensor(0x3000, 299))
        refused(a, b, Tensor(0x3001))
        refused(a, b, np.zeros(300, np.float32))
        refused(a, b, 1)
        refused(Tensor(0xBAD000), b, c)
        refused(Tensor(0x1000, number=7), Tensor(0x2000, number=7), Tensor(0x3000, number=7))
        try: add(a, b, c, check=True)
        except ww.ArgumentError as error: print(error)
        try: add.bind(1, 2, 3)
        except ww.ArgumentError as error: print(error)
        try: add.check(a, b, c)
        except ww.ArgumentError as error: print(error)
        """,
    )
    assert [line for line in printed if not line.startswith("load")] == [
        "ArgumentError `C` is on cuda:0: expected cuda:1",
        "ArgumentError `C` was given a tensor of complex64: kernels have no such elements",
        "ArgumentError `C` was given an array of shape [300] with strides of [8] bytes: "
        "expected C order [BadArgument]",
        "ArgumentError `n` is 300 by another array: `C` has an extent of 299 for it [BadArgument]",
        "DeviceError `C` is given address 0x3001, expected a multiple of 16: the kernel declares it "
        "with `.ptr .align 16` [BadLaunch]",
        "ArgumentError `C` was given ndarray: expected a number or a tensor of the GPU",
        "ArgumentError `C` was given 1: expected an array of float32[n] [BadArgument]",
        "launch grid 3 stream 0x51 at bad000 2000",
        "TrapError launching `add_1` failed: CUDA_ERROR_FAKE [Trapped]",
        "NoDeviceError there is no GPU 7: the driver has 2 [NoDevice]",
        "`check=True` is for the virtual GPU: a GPU checks nothing",
        "`add.bind` was given no CUDA tensor",
        "`A` is in the memory of a GPU: expected memory of the host",
    ]


def test_a_trap_is_explained_by_the_virtual_gpu(driver):
    printed = run(
        driver,
        """
        a, b = Quick(0x1000, 64), Quick(0xDEAD000, 64)
        stray(a, a, debug=True)  # this driver lets it pass
        try: stray(b, b, debug=True)
        except ww.TrapError as error: print(error, error.kind, error.report.findings[0].check, sep="|")
        try: add(b, b, b, debug=True)
        except ww.TrapError as error: print(str(error).splitlines()[-1], error.report.ok)
        try: asserting(b, b, debug=True)
        except ww.TrapError as error: print(str(error).splitlines()[-1].split(", /")[0])
        report = ww.debug(stray, a, B=b)
        print(report.ok, report.findings[0].check)
        given = Interface(0x1000, 64)
        given.get = lambda: np.zeros(64, np.float32)
        print(ww.debug(stray, given, b).findings[0].check)
        try: ww.debug(stray, Interface(0x1000, 64), b)
        except ww.DeviceError as error: print(error)
        try: ww.debug(stray, Quick(0xBAD000, 64), b)
        except ww.DeviceError as error: print(error)
        """,
    )
    printed = [line for line in printed if not line.startswith(("load", "launch"))]
    assert printed[0] == "running `stray` failed: CUDA_ERROR_FAKE [Trapped]"
    assert printed[1].startswith("the virtual GPU, with the same arguments: line ")
    assert "bounds: " in printed[1] and printed[1].endswith("|Trapped|bounds")
    assert printed[2:] == [
        "the virtual GPU finds nothing wrong with the same arguments: an earlier launch trapped True",
        "the virtual GPU, with the same arguments: trapped: assertion `too many` failed",
        "False bounds",
        "bounds",
        "argument 0 was given Interface, which cannot be copied to the host",
        "argument 0 cannot be copied from the GPU: CUDA error: misaligned address",
        "after a trap the GPU's memory is lost; call with `debug=True` in a new process",
    ]


def test_the_environment_asks_for_debugging(driver):
    printed = run(
        driver,
        """
        import os
        os.environ["WARPWRIGHT_DEBUG"] = "1"
        try: stray(Quick(0xDEAD000, 64), Quick(0x1000, 64))
        except ww.TrapError as error: print(error.report.findings[0].check)
        os.environ["WARPWRIGHT_DEBUG"] = "0"
        try: add(Quick(0xBAD000), Quick(0x1000), Quick(0x1000))
        except ww.TrapError as error: print(error.report, "debug=True" in str(error))
        """,
    )
    assert [printed[2], printed[-1]] == ["bounds", "None True"]


@pytest.mark.parametrize(
    ("call", "status", "error"),
    [
        ("cuModuleLoadDataEx", 222, "OldDriverError"),
        ("cuModuleLoadDataEx", 209, "NoDeviceError"),
        ("cuModuleLoadDataEx", 2, "OutOfMemoryError"),
        ("cuModuleLoadDataEx", 218, "DeviceError"),
        ("cuInit", 999, "NoDriverError"),
    ],
)
def test_failures_have_names(driver, tmp_path, call, status, error):
    text = (driver / "driver.c").read_text()
    start = text.index(f"int {call}(")
    brace = text.index("{", start)
    make_driver(tmp_path, text[: brace + 1] + f" return {status};" + text[brace + 1 :])
    printed = run(tmp_path, "refused(Quick(0x1000), Quick(0x2000), Quick(0x3000))")
    assert printed[0].startswith(f"{error} ")


def test_without_a_driver_the_error_says_so(tmp_path):
    (tmp_path / "libcuda.so.1").write_text("")
    printed = run(tmp_path, "refused(Tensor(0x1000), Tensor(0x2000), Tensor(0x3000))")
    assert printed[0].startswith("NoDriverError ") and "libcuda.so.1" in printed[0]
