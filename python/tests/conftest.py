# SPDX-License-Identifier: Apache-2.0
"""What the tests share: the examples' folder, a cache of their own, a driver that prints."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from fake_gpu_for_tests import driver_text, make_driver

import warpwright as ww

ROOT = Path(__file__).resolve().parents[2]

# A shell that starts the tests in the background has them ignore Ctrl-C, which some tests send.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def examples() -> Path:
    return ROOT / "examples"


@pytest.fixture(scope="session")
def driver(tmp_path_factory) -> Path:
    """The folder of a driver that takes every launch and prints it."""
    folder = tmp_path_factory.mktemp("driver")
    make_driver(folder, driver_text(ROOT / "src" / "runtime" / "cuda_calls.def"))
    return folder


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch) -> Path:
    """Every test begins with nothing kept, and leaves the user's cache alone."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("WARPWRIGHT_CACHE_DIR", str(folder))
    monkeypatch.delenv("WARPWRIGHT_CACHE_MB", raising=False)
    ww.cache.clear()
    return folder
