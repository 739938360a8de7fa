# SPDX-License-Identifier: Apache-2.0
"""PTX of any origin on the virtual GPU."""

from __future__ import annotations

import json

import numpy as np
import pytest

import warpwright as ww
from warpwright.reports import Report


@pytest.fixture
def ptx(examples):
    return (examples / "ptx" / "vector_add.ptx").read_text()


@pytest.fixture
def arrays():
    a = np.arange(100, dtype=np.float32)
    return a, a * 2, np.zeros_like(a)


def test_arrays_are_changed_in_place(ptx, arrays):
    a, b, c = arrays
    report = ww.sim(ptx, a, b, c, 100, grid=4, block=(32, 1))
    assert report.ok, report
    assert (c == 3 * a).all()
    assert report.grid == (4, 1, 1) and report.block == (32, 1, 1) and report.instructions > 0


def test_findings_show_their_instruction(ptx, arrays):
    a, b, c = arrays
    report = ww.sim(ptx, a, b, c, 128, grid=4, block=32)
    assert {finding.check for finding in report.findings} == {"bounds"}
    assert "global" in report.findings[0].instruction
    assert report.findings[0].line is None or report.findings[0].line > 0


def test_what_does_not_fit_is_refused(ptx, arrays):
    a, b, c = arrays
    for args, message in [
        ((a, b, c), "was given 3 arguments: expected 4"),
        ((a, b, c, a), "was given an array: it is .u32"),
        ((a, b, c, 0.5), "was given 0.5, a float"),
        ((a, b, c, -1), "was given -1: expected a number of type uint32"),
        ((a, b, c[::2], 50), "expected C order"),
    ]:
        with pytest.raises(ww.ArgumentError) as caught:
            ww.sim(ptx, *args, grid=4, block=32)
        assert message in str(caught.value)
    with pytest.raises(ww.ArgumentError, match="`grid` is 0: expected one to three numbers"):
        ww.sim(ptx, a, b, c, 100, grid=0, block=32)
    with pytest.raises(ww.ArgumentError, match="no kernel `other`"):
        ww.sim(ptx, a, b, c, 100, grid=4, block=32, kernel="other")
    with pytest.raises(ww.Error, match="the PTX cannot be read"):
        ww.sim("nonsense", grid=1, block=1)
    with pytest.raises(ww.DeviceError):
        ww.sim(ptx, a, b, c, 100, grid=4, block=4096)
    c.flags.writeable = False
    with pytest.raises(ww.ArgumentError, match="the kernel has written it"):
        ww.sim(ptx, a, b, c, 100, grid=4, block=32)


def test_a_gpu_takes_the_same_call(ptx, arrays):
    a, b, c = arrays
    with pytest.raises(ww.ArgumentError, match='expected "sim", "cuda" or "both"'):
        ww.sim(ptx, a, b, c, 100, grid=4, block=32, device="gpu")
    for device in ("both", "cuda"):
        c[:] = 0
        try:
            report = ww.sim(ptx, a, b, c, 100, grid=4, block=32, device=device)
        except (ww.NoDriverError, ww.NoDeviceError):
            assert not c.any()
            continue
        assert report.ok and report.gpu and report.difference is None, report
        assert (c == 3 * a).all()
        assert (report.instructions > 0) == (device == "both")


def test_other_bits_on_the_gpu_are_not_ok(ptx, arrays):
    a, b, c = arrays
    report = ww.sim(ptx, a, b, c, 100, grid=4, block=32)
    assert report.ok and report.gpu is None and report.difference is None
    compared = Report(report.text, json.dumps(report.data), "GPU", "1 of 100 elements differ")
    assert not compared.ok and compared.gpu == "GPU"


def test_our_own_ptx_runs_as_the_kernel_does(examples):
    kernel = ww.compile(examples / "transpose.py")
    a = np.random.default_rng(0).standard_normal((128, 128)).astype(np.float16)
    b = np.zeros_like(a)
    report = ww.sim(kernel.ptx, a, b, grid=(2, 2), block=128)
    assert report.ok and (b == a.T).all()


BOX = """.version 8.8
.target sm_90a
.address_size 64
.visible .entry put(.param .align 64 .b8 map[128])
{
  .reg .pred %p;
  .reg .b32 %r<4>;
  .reg .b64 %rd;
  .shared .align 128 .b32 tile[8];
  mov.b64 %rd, map;
  cvta.param.u64 %rd, %rd;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %r0, 4, %r1;
  st.shared.b32 [%r2], 7;
  fence.proxy.async;
  bar.sync 0;
  setp.ne.u32 %p, %r0, 0;
  @%p ret;
  cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd, {4, 1}], [%r1];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  ret;
}
"""


def test_tensor_maps_of_arrays():
    words = np.zeros((4, 8), np.int32)
    report = ww.sim(BOX, ww.TensorMap(words, box=(2, 4)), grid=1, block=8)
    assert report.ok, report
    wanted = np.zeros_like(words)
    wanted[1:3, 4:] = 7
    assert (words == wanted).all()
    with pytest.raises(ww.ArgumentError, match="rows of 12 bytes"):
        ww.sim(BOX, ww.TensorMap(words, box=(2, 3)), grid=1, block=8)
    with pytest.raises(ww.Error, match="swizzle"):
        ww.sim(BOX, ww.TensorMap(words, box=(2, 4), swizle="none"), grid=1, block=8)
