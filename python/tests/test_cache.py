# SPDX-License-Identifier: Apache-2.0
"""What is kept of kernels: in memory, in a folder, with many processes."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest
from kernels_for_tests import SCALE

import warpwright as ww
from warpwright import private_files

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


# --- other users ----------------------------------------------------------------------------------

NOBODY = 65534

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give files away")


@pytest.fixture
def kept(own_cache):
    """The file of a kernel that the next compilation finds."""
    scale()
    forget_memory()
    private_files._warned.clear()
    (file,) = own_cache.glob("*.kernel")
    return file


def compile_without(cache_path, why):
    """Compiles twice: nothing is loaded, and one warning names the path and the fix."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kernel = scale()
        assert not kernel._core.is_loaded
        forget_memory()
        again = ww.compile("another.py", text=SCALE)
    assert (result_of(kernel) == result_of(again)).all()
    (warning,) = caught
    assert warning.category is ww.CacheWarning
    text = str(warning.message)
    assert f"`{cache_path}`, which {why}: remove it" in text and "WARPWRIGHT_CACHE_DIR" in text
    return text


def test_folder_and_files_are_the_users_alone(tmp_path, monkeypatch):
    folder = tmp_path / "some" / "cache"
    monkeypatch.setenv("WARPWRIGHT_CACHE_DIR", str(folder))
    old = os.umask(0)
    try:
        scale()
    finally:
        os.umask(old)
    (file,) = folder.glob("*.kernel")
    assert folder.stat().st_mode & 0o777 == 0o700 and file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("mode", "who"), [(0o777, "every user"), (0o1777, "every user"), (0o770, "its group")]
)
def test_a_folder_that_others_can_write_is_not_used(kept, mode, who):
    kept.parent.chmod(mode)
    text = compile_without(kept.parent, f"{who} can write")
    assert f"`chmod go-w {kept.parent}`" in text
    assert list(kept.parent.iterdir()) == [kept]  # nor written to
    kept.parent.chmod(0o755)
    forget_memory()
    assert scale()._core.is_loaded


@pytest.mark.parametrize(("mode", "who"), [(0o606, "every user"), (0o660, "its group")])
def test_a_file_that_others_can_write_is_compiled_again(kept, mode, who):
    kept.chmod(mode)
    compile_without(kept, f"{who} can write")
    assert kept.stat().st_mode & 0o777 == 0o600


@as_root
def test_a_folder_of_another_user_is_not_used(kept):
    os.chown(kept.parent, NOBODY, NOBODY)
    compile_without(kept.parent, f"belongs to user {NOBODY}")


@as_root
def test_a_file_of_another_user_is_compiled_again(kept):
    os.chown(kept, NOBODY, NOBODY)
    compile_without(kept, f"belongs to user {NOBODY}")
    assert kept.stat().st_uid == 0


def test_links_and_pipes_are_not_read(kept, tmp_path):
    elsewhere = kept.rename(tmp_path / "elsewhere")
    kept.symlink_to(elsewhere)
    assert not scale()._core.is_loaded
    assert not kept.is_symlink()
    kept.unlink()
    os.mkfifo(kept, 0o600)
    forget_memory()
    assert not scale()._core.is_loaded
    assert kept.is_file()


def test_eight_processes_share_a_folder(own_cache):
    children = [subprocess.Popen([sys.executable, "-c", CHILD]) for _ in range(8)]
    assert [child.wait() for child in children] == [0] * 8
    assert len(list(own_cache.glob("*.kernel"))) == 6
    assert not list(own_cache.glob("*.part"))
