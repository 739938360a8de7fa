# SPDX-License-Identifier: Apache-2.0
"""What kernels take along from other files, and what they cannot."""

from __future__ import annotations

import dataclasses
import os
import pickle
import textwrap
import types

import helpers_for_tests
import helpers_for_tests as tools
import helpers_for_tests.deeper
import numpy as np
import pytest
from helpers_for_tests import Mode, Step, counts, needs_object, power, store, store_late, wrong
from helpers_for_tests import scaled as three_times

import warpwright as ww
from warpwright.lang import T

FACTOR = 100  # the helpers' is another
HELPERS = os.path.join(os.path.dirname(__file__), "helpers_for_tests", "__init__.py")

double = lambda value: value * 2  # noqa: E731


def run(kernel, **named):
    out = np.zeros(32, np.int32)
    kernel(out, check=True, **named)
    return out


def line_of(path, text):
    lines = open(path).read().splitlines()
    return 1 + next(i for i, line in enumerate(lines) if text in line)


def test_helpers_of_other_files_come_along_with_what_they_use():
    @ww.kernel
    def fill(A: ww.Tensor[32, "int32"]):
        T.device_entry()
        T.cta_id([1])
        t = T.thread_id([32])
        store(A, t, t + three_times(FACTOR))

    # A name has the value of the file that uses it.
    assert (run(fill) == (np.arange(32) + 300) * 3 + 13).all()


def test_modules_are_used_by_name():
    @ww.kernel
    def fill(A: ww.Tensor[32, "int32"]):
        T.device_entry()
        T.cta_id([1])
        t = T.thread_id([32])
        A[t] = tools.scaled(t) + helpers_for_tests.deeper.offset() + tools.FACTOR + Mode.FAST

    assert (run(fill) == np.arange(32) * 3 + 13 + 3 + 2).all()


def test_element_types_of_numpy_are_names():
    @ww.kernel
    def fill(A: ww.Tensor[32, "int32"]):
        T.device_entry()
        T.cta_id([1])
        t = T.thread_id([32])
        A[t] = T.cast(t, np.int32)

    assert (run(fill) == np.arange(32)).all()


def test_decorated_functions_and_classes_come_along():
    width = np.float64(2.5)  # a float of NumPy's, which writes itself differently

    @ww.kernel
    def fill(A: ww.Tensor[32, "int32"]):
        T.device_entry()
        T.cta_id([1])
        t = T.thread_id([32])
        A[t] = t + power(2, 5) + Step(6).twice() + int(width * 2)

    assert (run(fill) == np.arange(32) + 32 + 12 + 5).all()


@dataclasses.dataclass(frozen=True)
class Plan:
    width: int
    mode: Mode = Mode.FAST
    names: tuple[str, ...] = ("a", "b")

    def total(self):
        return self.width * FACTOR + self.mode


@dataclasses.dataclass
class Derived:
    width: int

    def __post_init__(self):
        self.twice = 2 * self.width


def test_objects_of_dataclasses_come_along():
    plan, step, wrong_plan = Plan(5), Step(6), Plan(5, names=(object(),))

    @ww.kernel
    @T.prim_func
    def fill(A: T.Buffer((32,), "int32")):
        T.device_entry()
        T.cta_id([1])
        t = T.thread_id([32])
        A[t] = t + plan.total() + len(plan.names) + step.twice()

    assert (run(fill) == np.arange(32) + 502 + 2 + 12).all()

    @ww.kernel
    def refused(A: ww.Tensor[32, "int32"]):
        A[0] = wrong_plan.width

    derived = Derived(3)

    @ww.kernel
    def made_later(A: ww.Tensor[32, "int32"]):
        A[0] = derived.twice

    with pytest.raises(ww.CaptureError, match="`derived` cannot be taken along: .*__post_init__"):
        made_later.ptx  # noqa: B018
    with pytest.raises(ww.CaptureError, match="`wrong_plan.names` is .* it cannot be taken along"):
        refused.ptx  # noqa: B018


def test_what_a_decorator_of_tvm_makes_of_a_function_does_not_matter():
    # A stand-in for TVM, whose decorators give trees and wrappers; test_docs.py has the real one.
    made = types.ModuleType("tvm.tirx.script")
    inlined = type("TIRInline", (), {"__module__": "tvm.tirx.script.parser.entry"})

    def inline(function):
        inner = inlined()
        inner.func = function

        def wrapper(*args):
            return inner(*args)

        wrapper.__module__ = "tvm.tirx.script.parser.entry"
        return wrapper

    made.prim_func, made.inline = lambda function: object(), inline
    T = made  # noqa: N806

    @T.inline
    def put(A, index, value):
        A[index] = three_times(value)

    @ww.kernel
    @T.prim_func
    def fill(A: T.Buffer((32,), "int32")):
        T.device_entry()
        b = T.cta_id([1])
        t = T.thread_id([32])
        put(A, t, t + b)

    assert fill.__name__ == "fill"
    assert (run(fill) == np.arange(32) * 3).all()


def test_other_names_of_a_function_of_the_file():
    again = line_of_this_file

    @ww.kernel
    def fill(A: ww.Tensor[32, "int32"]):
        T.device_entry()
        T.cta_id([1])
        t = T.thread_id([32])
        A[t] = again(t) + line_of_this_file(1)

    assert (run(fill) == np.arange(32) + 9).all()


def line_of_this_file(value):
    return value + 4


def test_mistakes_in_a_helper_have_their_place_in_its_file():
    @ww.kernel
    def fill(A: ww.Tensor[32, "int32"]):
        T.device_entry()
        T.cta_id([1])
        t = T.thread_id([32])
        A[t] = wrong(t)

    line = line_of(HELPERS, "return value.nosuch")
    with pytest.raises(ww.CompileError) as caught:
        fill.ptx  # noqa: B018
    assert f"{HELPERS}:{line}:" in str(caught.value)
    assert "return value.nosuch" in str(caught.value)


def test_what_a_helper_names_and_the_kernel_does_not_need_may_be_anything():
    @ww.kernel
    def fill(A: ww.Tensor[32, "int32"]):
        T.device_entry()
        T.cta_id([1])
        t = T.thread_id([32])
        A[t] = tools.careful(t)

    assert (run(fill) == np.arange(32) + 2).all()

    @ww.kernel
    def needs_it(A: ww.Tensor[32, "int32"]):
        T.device_entry()
        T.cta_id([1])
        t = T.thread_id([32])
        A[t] = tools.measured(t)

    with pytest.raises(ww.CompileError) as caught:
        needs_it.ptx  # noqa: B018
    assert f"{__file__}:{line_of(__file__, 'tools.measured(t)')}:" in str(caught.value)
    assert "is not known at compile time: `mean` of module `numpy" in str(caught.value)


def test_numpy_functions_of_shapes_are_known():
    shape = (4, 8)

    @ww.kernel
    def fill(A: ww.Tensor[32, "int32"]):
        T.device_entry()
        T.cta_id([1])
        t = T.thread_id([np.prod(shape)])
        A[t] = tools.sized(t)

    assert (run(fill) == np.arange(32) + 9).all()


def test_findings_in_a_helper_have_their_place_in_its_file():
    @ww.kernel
    def fill(A: ww.Tensor[32, "int32"]):
        T.device_entry()
        T.cta_id([1])
        t = T.thread_id([32])
        store_late(A, t, t)

    for attempt in range(2):  # compiled, and from the folder
        report = fill.check(np.zeros(32, np.int32))
        finding = report.findings[0]
        assert finding.check == "race" and finding.file == HELPERS, attempt
        assert finding.line == line_of(HELPERS, "staged[31 - index]")
        assert f"{HELPERS}:{finding.line}:" in report.text
        assert str(finding).startswith(f"{HELPERS}:{finding.line}: race: ")
        assert "staged[31 - index]" in report.text
        ww.cache._kernels.clear()
        fill._made.clear()


def test_a_change_of_a_helper_is_another_kernel(tmp_path, monkeypatch, own_cache):
    (tmp_path / "changing.py").write_text("def added(x):\n    return x + 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    import changing

    def build():
        @ww.kernel
        def fill(A: ww.Tensor[32, "int32"]):
            T.device_entry()
            T.cta_id([1])
            t = T.thread_id([32])
            A[t] = changing.added(t)

        return fill

    assert run(build())[0] == 1
    (tmp_path / "changing.py").write_text("def added(x):\n    return x + 22\n")
    import importlib

    importlib.reload(changing)
    assert run(build())[0] == 22
    assert len(list(own_cache.glob("*.kernel"))) == 2


def test_kernels_with_helpers_can_be_pickled():
    @ww.kernel
    def fill(A: ww.Tensor[32, "int32"]):
        T.device_entry()
        T.cta_id([1])
        t = T.thread_id([32])
        A[t] = three_times(t)

    again = pickle.loads(pickle.dumps(fill.specialize()))
    assert again.ptx == fill.ptx


def test_what_cannot_be_taken_along_is_named_with_the_reason():
    thing = object()
    listdir = os.listdir
    scope = {}
    exec("def made(x):\n    return x\n", scope)
    made = scope["made"]
    Hidden = type("Hidden", (), {})  # noqa: N806

    @ww.kernel
    def with_object(A: ww.Tensor[32, "int32"]):
        A[0] = thing

    @ww.kernel
    def with_builtin(A: ww.Tensor[32, "int32"]):
        A[0] = listdir()

    @ww.kernel
    def with_lambda(A: ww.Tensor[32, "int32"]):
        A[0] = double(1)

    @ww.kernel
    def without_source(A: ww.Tensor[32, "int32"]):
        A[0] = made(1)

    @ww.kernel
    def with_nothing(A: ww.Tensor[32, "int32"]):
        A[0] = absent  # noqa: F821

    @ww.kernel
    def with_attribute(A: ww.Tensor[32, "int32"]):
        A[0] = tools.nosuch(1)

    @ww.kernel
    def with_class(A: ww.Tensor[32, "int32"]):
        A[0] = Hidden(1)

    @ww.kernel
    def with_library(A: ww.Tensor[32, "int32"]):
        A[0] = textwrap.dedent("x")

    @ww.kernel
    def with_change(A: ww.Tensor[32, "int32"]):
        A[0] = counts(1)

    for kernel, text, message in (
        (with_object, "= thing", "`thing` is <object object at"),
        (with_object, "= thing", "of type `object`: it cannot be taken along as a constant"),
        (with_builtin, "= listdir()", "it is a built-in function of `posix`, without source"),
        (with_lambda, "= double(1)", "`double` is a lambda: write it as a `def`"),
        (without_source, "= made(1)", "it has no source, `<string>` is no file"),
        (with_nothing, "= absent", "`absent` has no value here"),
        (with_attribute, "= tools.nosuch", "module `helpers_for_tests` has no `nosuch`"),
        (with_class, "= Hidden(1)", "no source of class `Hidden` of `test_closure` is found"),
        (
            with_library,
            "= textwrap.dedent",
            "it is of `textwrap`, which the compiler does not know",
        ),
        (with_change, "= counts(1)", "it changes `FACTOR` of its module"),
    ):
        with pytest.raises(ww.CaptureError) as caught:
            kernel.ptx  # noqa: B018
        assert message in str(caught.value)
        assert f"{__file__}:{line_of(__file__, 'A[0] ' + text)}:" in str(caught.value)


def test_what_a_helper_cannot_take_along_is_told_with_the_way_there():
    @ww.kernel
    def fill(A: ww.Tensor[32, "int32"]):
        A[0] = needs_object(1)

    with pytest.raises(ww.CaptureError) as caught:
        fill.ptx  # noqa: B018
    text = str(caught.value)
    assert text.startswith(f"{HELPERS}:{line_of(HELPERS, 'value + NOWHERE')}:")
    assert "`NOWHERE` is <object" in text
    place = f"{__file__}:{line_of(__file__, 'A[0] = needs_object(1)')}:"
    assert f"{place}16: note: `needs_object` is needed here" in text
