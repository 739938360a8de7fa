# SPDX-License-Identifier: Apache-2.0
"""What is kept of kernels: in memory, in a folder, with many processes."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import numpy as np
from kernels_for_tests import SCALE

import warpwright as ww

CHILD = textwrap.dedent(
    f"""
    import numpy as np, warpwright as ww
    text = {SCALE!r}
    for by in range(6):
        kernel = ww.compile("scale.py", text=text.replace("* by", f"* by + {{by}}"))
        x = np.arange(20, dtype=np.int32).reshape(5, 4)
        y = np.zeros_like(x)
        kernel(x, y, 2, check=True)
        assert (y == 2 * x + by).all()
    """
)


def scale():
    return ww.compile("scale.py", text=SCALE)


def forget_memory():
    ww.cache._kernels.clear()


def result_of(kernel):
    x = np.arange(20, dtype=np.int32).reshape(5, 4)
    y = np.zeros_like(x)
    kernel(x, y, 3, check=True)
    return y


def test_the_second_compilation_is_the_first(own_cache):
    assert scale()._core is scale()._core
    assert len(list(own_cache.glob("*.kernel"))) == 1


def test_another_text_expression_target_or_path_is_another_kernel(own_cache):
    scale()
    ww.compile("scale.py", text=SCALE + "\n")
    ww.compile("scale.py", "scale", text=SCALE)
    ww.compile("scale.py", text=SCALE, target="sm_80")
    ww.compile("other.py", text=SCALE)
    assert len(list(own_cache.glob("*.kernel"))) == 5


def test_a_kernel_from_the_folder_is_the_same(own_cache):
    first = scale()
    forget_memory()
    second = scale()
    assert second._core.is_loaded and not first._core.is_loaded
    assert (result_of(first) == result_of(second)).all()
    assert second.ptx == first.ptx
    assert second.cuda == first.cuda and second.ir == first.ir
    assert str(second.explain()) == str(first.explain())


def test_a_broken_file_is_compiled_again(own_cache):
    scale()
    (file,) = own_cache.glob("*.kernel")
    whole = file.read_bytes()
    for broken in (b"", whole[:100], whole[:-1], whole[:200] + b"x" + whole[201:]):
        file.write_bytes(broken)
        forget_memory()
        kernel = scale()
        assert not kernel._core.is_loaded
        assert file.read_bytes() == whole
        assert (result_of(kernel) == 3 * np.arange(20).reshape(5, 4)).all()


def test_the_folder_stays_within_its_size(own_cache, monkeypatch):
    monkeypatch.setenv("WARPWRIGHT_CACHE_MB", "1")
    filler = own_cache / ("0" * 64 + ".kernel")
    filler.write_bytes(b"x" * (1 << 20))
    os.utime(filler, (1, 1))
    scale()
    assert not filler.exists()
    assert 0 < ww.cache.size() < 1 << 20


def test_it_can_be_cleared_and_switched_off(own_cache, monkeypatch):
    scale()
    assert ww.cache.folder() == own_cache and ww.cache.size() > 0
    ww.cache.clear()
    assert ww.cache.size() == 0
    monkeypatch.setenv("WARPWRIGHT_CACHE_MB", "0")
    scale()
    assert ww.cache.folder() is None and not list(own_cache.iterdir())


def test_a_folder_that_cannot_be_used_is_no_error(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv("WARPWRIGHT_CACHE_DIR", str(file / "below"))
    assert (result_of(scale()) == 3 * np.arange(20).reshape(5, 4)).all()


def test_eight_processes_share_a_folder(own_cache):
    children = [subprocess.Popen([sys.executable, "-c", CHILD]) for _ in range(8)]
    assert [child.wait() for child in children] == [0] * 8
    assert len(list(own_cache.glob("*.kernel"))) == 6
    assert not list(own_cache.glob("*.part"))
