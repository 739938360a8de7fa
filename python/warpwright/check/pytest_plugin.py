# SPDX-License-Identifier: Apache-2.0
"""`pytest --warpwright`: a test whose launches have findings fails, and says which."""

from __future__ import annotations

from typing import Any

import pytest

from ..errors import Error
from .cli import add_options, options_of
from .findings import Findings
from .session import Session


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("warpwright", "Triton's kernels on the virtual GPU, checked")
    group.addoption("--warpwright", action="store_true", help="run every launch there")
    add_options(group.addoption, "--warpwright-")


def pytest_configure(config: Any) -> None:
    if config.getoption("--warpwright"):
        try:
            config.pluginmanager.register(Plugin(config), "warpwright-session")
        except (Error, OSError, ValueError) as error:
            raise pytest.UsageError(str(error).strip()) from None


class Plugin:
    """One session for the run, so that modules may launch kernels when they are imported."""

    def __init__(self, config: Any) -> None:
        self.session = Session(**options_of(config.option, "warpwright_"))
        config.add_cleanup(self.session.__enter__().close)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: Any) -> Any:
        whole = self.session.findings
        own = self.session.findings = Findings(baseline=whole.baseline)
        outcome = yield
        status = self.session.status
        self.session.findings = whole
        whole.launches += own.launches
        whole.add(list(own.found.values()))
        if status:
            text = own.text(self.session.options.strict)
            if outcome.excinfo is None:
                outcome.force_exception(pytest.fail.Exception(text, pytrace=False))
            else:
                item.add_report_section("call", "warpwright", text)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.write_line(f"warpwright: {self.session.findings.summary()}")
