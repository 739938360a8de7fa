# SPDX-License-Identifier: Apache-2.0
"""The environment variables of the package: what they mean, and what cannot be read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from kernels_for_tests import SCALE, add

import warpwright as ww
from warpwright import settings


@pytest.mark.parametrize("text", ["²", "٣", "-1", "1.5", "lots", " 1", "1_000"])
def test_a_size_that_is_no_number_is_an_error(monkeypatch, text):
    monkeypatch.setenv("WARPWRIGHT_CACHE_MB", text)
    with pytest.raises(ww.ArgumentError, match="`WARPWRIGHT_CACHE_MB` is .*: expected a whole number"):
        ww.compile("scale.py", text=SCALE)


@pytest.mark.parametrize(("text", "megabytes"), [("", 512), ("0", 0), ("007", 7)])
def test_a_size_is_in_megabytes(monkeypatch, text, megabytes):
    monkeypatch.setenv("WARPWRIGHT_CACHE_MB", text)
    assert settings.cache_bytes() == megabytes << 20


@pytest.mark.parametrize("text", ["true", "off", "²", "2"])
def test_debugging_is_on_or_off(monkeypatch, text):
    monkeypatch.setenv("WARPWRIGHT_DEBUG", text)
    a = np.ones(4, np.float32)
    with pytest.raises(ww.ArgumentError, match="`WARPWRIGHT_DEBUG` is .*: expected 1 .on. or 0"):
        add(a, a, out=a.copy())


def test_relative_folders_of_the_desktop_are_ignored(monkeypatch):
    monkeypatch.delenv("WARPWRIGHT_CACHE_DIR")
    monkeypatch.setenv("HOME", "/home/someone")
    for value, folder in (
        ("", "/home/someone/.cache"),
        ("here", "/home/someone/.cache"),
        ("/there", "/there"),
    ):
        monkeypatch.setenv("XDG_CACHE_HOME", value)
        assert ww.cache.folder() == Path(folder, "warpwright")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", "")
    monkeypatch.setattr("os.path.expanduser", lambda path: path)  # of a user without a home
    assert ww.cache.folder() is None


@pytest.mark.parametrize(
    ("text", "gpus"),
    [("", []), ("-1", []), ("1,0", ["1", "0"]), ("0,-1,1", ["0"]), (" GPU-8a, 2,", ["GPU-8a", "2"])],
)
def test_visible_gpus_end_where_cuda_ends_them(monkeypatch, text, gpus):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", text)
    assert settings.visible_gpus() == gpus


def test_the_environment_is_read_in_one_place():
    package = Path(ww.__file__).parent
    found = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if any(word in path.read_text() for word in ("environ[", "environ.", "getenv", "**os.environ"))
    }
    assert found == {"settings.py"}
