# SPDX-License-Identifier: Apache-2.0
"""Kernels of Triton and Gluon in this process: right ones are clean, and planted faults are found."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

triton = pytest.importorskip("triton")

import triton_kernels_for_tests as kernels  # noqa: E402
from triton_kernels_for_tests import floats  # noqa: E402

import warpwright as ww  # noqa: E402
from warpwright import check  # noqa: E402
from warpwright.check import Array  # noqa: E402

VERSION = tuple(map(int, triton.__version__.split(".")[:2]))
RIGHT = ["scale", "gemm", "copy_by_descriptor", "tuned", "two_in_a_row", "addresses"]


def found(name: str, **options) -> tuple[check.Session, list[check.CheckFinding]]:
    session = check.run(getattr(kernels, f"run_{name}"), **options)
    return session, session.findings.list()


@pytest.mark.parametrize("target", check.TARGETS)
@pytest.mark.parametrize("name", RIGHT)
def test_right_kernels_are_clean(name, target):
    session, findings = found(name, target=target)
    assert (session.status, findings) == (0, []), session.findings.text()
    assert session.findings.launches > 0


@pytest.mark.parametrize(
    ("name", "checks", "line", "tensor"),
    [
        ("unmasked", ["bounds", "race"], "x = tl.load(x_ptr + i)", "x_ptr[100]"),
        ("two_write_a_row", ["race"], "tl.store(y_ptr + row // 2", "y_ptr[0, 0]"),
        ("asserts", ["trap"], "", None),
    ],
)
def test_faults_are_found(name, checks, line, tensor):
    session, findings = found(name)
    assert [each.check for each in findings] == checks
    assert session.status == 1
    first = findings[0]
    assert first.kernel == name and first.fault == "author" and first.tensor == tensor
    assert (first.place.text if first.place else "").startswith(line)
    assert str(first).count("to do: ") == 1


def test_an_undefined_value_names_where_it_comes_from():
    session, (finding,) = found("used_without_other")
    assert (finding.check, finding.message) == ("uninit", "uses a value that nothing has set")
    assert finding.place.text == "tl.store(y_ptr, tl.sum(x, axis=0))"
    assert finding.other_place.text == "x = tl.load(x_ptr + i, mask=i < n)"
    assert finding.origin.startswith("`tl.load` has no `other` for where its mask is false")
    (row,) = session.findings.json(1, "sm_90a")["findings"]
    assert (row["other"], row["origin"]) == (None, finding.origin)
    assert row["other_at"]["text"] == finding.other_place.text


def test_masked_loads_of_integers_may_say_zero():
    """Triton's PTX looks the same with `other=0` and without `other`."""
    assert found("integers_with_other")[1] == []
    assert [each.check for each in found("integers_without_other")[1]] == ["uninit"]


@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
def test_masked_loads_that_triton_starts_ahead(target):
    """By cp.async, which fills shared memory with zeros where it copies nothing."""
    differences = []
    run = lambda other: differences.append(kernels.run_product_loaded_ahead(other))  # noqa: E731
    assert check.run(run, 0.0, target=target).findings.list() == []
    assert differences[0] < 1e-2
    (finding,) = check.run(run, None, target=target).findings.list()
    assert (finding.check, finding.tensor) == ("uninit", None)
    assert finding.origin.startswith("`tl.load` has no `other` for where its mask is false")
    assert finding.other_place.text.startswith("a = tl.load(")


def test_what_was_not_loaded_may_go_where_nothing_uses_it():
    assert found("scale")[1] == []  # loads without `other` and stores under the same mask
    assert found("erf")[1] == []  # which branches on the elements


@pytest.mark.parametrize("name", ["branch_on_a_scalar", "branch_on_a_sum"])
def test_a_branch_on_what_was_not_loaded_is_found(name):
    session, (finding,) = found(name)
    assert (session.status, finding.check) == (1, "uninit")
    assert finding.message == "branches on a value that nothing has set"
    assert finding.other_place.text.startswith("x = tl.load(")


def test_a_hang_names_the_line_and_what_it_waits_for():
    session, (hang,) = found("stuck", time=1)
    assert (session.status, hang.check, hang.fault) == (1, "hang", "author")
    assert hang.place.text == "while tl.atomic_cas(lock_ptr, 0, 0) == 0:"
    assert hang.tensor == "lock_ptr[0]" and "look at locks" in hang.advice
    assert hang.message.startswith("no thread can go on: program (0, 0, 0), warp 0 keeps reading 0")
    assert "from `lock_ptr[0]`, which nothing has written" in hang.message
    assert f"triton_kernels_for_tests.py:{hang.place.line}" in hang.message
    assert hang.message.endswith("; no thread is left to write it")


def test_a_kernel_that_does_not_end_is_no_success():
    session, findings = found("slow", time=1)
    assert (session.status, findings) == (2, [])


def test_only_some_checks():
    session, findings = found("unmasked", only="race")
    assert [each.check for each in findings] == ["race"]


def test_the_first_legal_configuration_runs_or_all():
    kernels.tuned.cache.clear()
    assert found("tuned")[0].findings.launches == 1
    kernels.tuned.cache.clear()
    session, findings = found("tuned", all_configs=True)
    assert session.findings.launches == 3  # both, and then the one that was chosen
    assert {each.check for each in findings} == {"bounds"}


def test_a_sample_of_the_grid_says_what_it_left_out():
    def launch():
        kernels.scale[(8,)](Array(floats(2048)), Array(out), 2048, 1.0, BLOCK=256)

    out = np.zeros(2048, np.float32)
    session = check.run(launch, blocks=3)
    assert list(session.findings.notes) == ["not covered: 5 of 8 programs of `scale` (`--blocks`)"]
    assert [bool(out[i : i + 256].any()) for i in range(0, 2048, 256)] == [
        i in (0, 3, 7) for i in range(8)
    ]


def test_compiled_kernels_say_how_many_registers_they_take():
    def ask():
        words = (Array(floats(256)), Array(floats(256)), 256, 1.0)
        kernel = kernels.scale.warmup(*words, BLOCK=256, num_warps=8, grid=(1,))
        kernel._init_handles()
        device = triton.runtime.driver.active.utils.get_device_properties(0)
        assert device["max_num_regs"] // (kernel.n_regs * device["warpSize"] * 8) == 1

    check.run(ask)


def test_clusters_and_programmatic_launches():
    assert found("cluster")[1] == []
    if VERSION == (3, 4):
        return  # whose `gdc_wait` does not compile
    assert found("dependent")[1] == []
    (race,) = check.run(kernels.run_dependent, False).findings.list()
    assert (race.check, race.tensor) == ("race", "x_ptr[0]")
    assert "an earlier grid may still write" in race.message


def test_findings_of_triton_s_own_code_are_no_one_else_s():
    session = check.run(kernels.run_copy_by_descriptor, target="sm_90a")
    compiler = session.findings.list("compiler")
    if VERSION > (3, 4):
        assert not compiler
        return
    assert {each.check for each in compiler} == {"fence"} and session.status == 0
    text = session.findings.text()
    assert "Triton 3.4.0 made for `copy_by_descriptor`: not yours" in text
    assert "tl" not in text
    assert check.run(kernels.run_copy_by_descriptor, strict=True).status == 1


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_triton_answers_for_the_warps_that_it_specializes(target):
    """Matrix descriptors that are not as the manual says with 3.4 and 3.5, and with 3.6 a race in `c_ptr` between a group of
    warps that loads ahead and one that stores: each on sm_100a, and not the author's."""
    session, findings = found("sum_of_products", target=target)
    assert (session.status, findings) == (0, []), session.findings.text()
    known = {(3, 4): "align", (3, 5): "align", (3, 6): "race"}.get(VERSION)
    if known and target == "sm_100a":
        assert known in {each.check for each in session.findings.list("compiler")}


@pytest.mark.skipif(VERSION < (3, 5), reason="Gluon's interface of 3.4 is another one")
def test_gluon_is_all_the_author_s():
    import gluon_kernels_for_tests as gluon

    assert check.run(gluon.run_waiting_copy).status == 0
    session = check.run(gluon.run_hasty_copy)
    read, copy = session.findings.list()
    assert {read.check, copy.check} == {"async"} and {read.fault, copy.fault} == {"author"}
    assert copy.place.text == read.other_place.text == "start_copy(buffer, x_ptr + i)"
    assert "wait_group" in read.advice


def test_the_interpreter_leaves_other_values():
    torch = pytest.importorskip("torch")
    if not hasattr(torch.Tensor, "untyped_storage"):
        pytest.skip("Triton's interpreter needs PyTorch 2")
    import cuda_program_for_tests as program

    assert check.run(program.main, [], compare=True).findings.list() == []
    *races, other = found("read_back", compare=True)[1]
    assert {race.check for race in races} == {"race"}
    assert (other.check, other.tensor) == ("compare", "z_ptr[0]")
    assert other.message == "0 on the virtual GPU, 255 in Triton's interpreter"
    assert other.place.text == "tl.store(z_ptr + i, tl.load(y_ptr + BLOCK - 1 - i))"


def test_launches_leave_nothing_behind():
    def launches():
        for name in ("scale", "two_in_a_row", "gemm", "tuned"):
            getattr(kernels, f"run_{name}")()

    check.run(launches)
    with check.Session() as session:
        launches()
        gc.collect()
        assert session.memory.live() == []
    with pytest.raises(Exception, match="session is over|driver"):
        kernels.run_scale()


@pytest.mark.parametrize("leaks", [False, True])
def test_sixteen_launches_do_not_let_the_process_grow(leaks):
    script = Path(__file__).parent / "sixteen_launches_for_tests.py"
    path = [str(Path(ww.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    # malloc gives freed arrays back at once.
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path), "MALLOC_MMAP_THRESHOLD_": "65536"}
    done = subprocess.run(
        [sys.executable, str(script), *(["leak"] if leaks else [])],
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    # One array of 4 MB for each launch of the last three times would be 192 MB.
    assert (int(done.stdout) >= 64) == leaks, done.stdout


def test_another_driver_interface_is_named():
    from warpwright.check.driver import number_bytes

    assert number_bytes("i32", -1) == b"\xff" * 4
    assert number_bytes("fp16", 1.0) == b"\x00\x3c"
    assert number_bytes("bf16", 1.0) == b"\x80\x3f"
    with pytest.raises(check.DriverMismatch, match=f"Triton {triton.__version__}.*`nvFoo`"):
        number_bytes("nvFoo", 1)


def test_torch_is_given_a_gpu_once_though_modules_import_it(tmp_path, monkeypatch):
    from contextlib import ExitStack, nullcontext

    from warpwright.check.session import _when_torch_is_there

    (tmp_path / "torch.py").write_text("")
    (tmp_path / "imports_torch.py").write_text("import torch\n")
    monkeypatch.syspath_prepend(tmp_path)
    entered = []
    with monkeypatch.context() as patch, ExitStack() as stack:
        patch.delitem(sys.modules, "torch", raising=False)
        _when_torch_is_there(stack, lambda: nullcontext(entered.append(True)))
        assert entered == []
        import imports_torch  # noqa: F401

        assert entered == [True]
        sys.modules.pop("torch")
