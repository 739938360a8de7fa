# SPDX-License-Identifier: Apache-2.0
"""Choosing parameters on the virtual GPU, of files and of functions."""

from __future__ import annotations

import numpy as np
import pytest

import warpwright as ww
from warpwright.lang import T


def tune(examples, **named):
    options = {"space": {"tile": [64, 128]}, "expect": ["B == A.T"], "device": "sim", **named}
    return ww.tune(examples / "transpose.py", "build(tile=?)", **options)


def test_combinations_are_ranked_and_the_best_is_a_kernel(examples):
    calls = []
    result = tune(examples, progress=lambda done, total: calls.append((done, total)))
    assert result.parameters == {"tile": 64}
    assert [row["kernel"] for row in result.ranked] == ["build(tile=64)", "build(tile=128)"]
    assert "build(tile=?)" in str(result) and result._repr_html_().startswith("<pre>")
    assert calls == [(0, 2), (1, 2), (2, 2)]
    a = np.arange(128 * 128, dtype=np.float16).reshape(128, 128)
    b = np.zeros_like(a)
    result.best(a, out=b)
    assert (b == a.T).all()


def test_wrong_combinations_are_dropped_with_the_reason(examples):
    result = tune(examples, space={"tile": "63..64"})
    assert result.parameters == {"tile": 64} and len(result.dropped) == 1
    nothing = tune(examples, expect=["B == A"])
    assert nothing.best is None and nothing.parameters is None and len(nothing.dropped) == 2


def test_mistakes_are_refused(examples):
    with pytest.raises(ww.ArgumentError, match="--space"):
        tune(examples, space={"tiles": [64]})
    with pytest.raises(ww.ArgumentError, match="a value of `tile` cannot be tried"):
        tune(examples, space={"tile": [object()]})
    with pytest.raises(ww.ArgumentError, match="expected auto, sim or cuda"):
        tune(examples, device="tpu")
    with pytest.raises(ww.FileError, match="nowhere.py"):
        ww.tune("nowhere.py", "build(tile=?)", {"tile": [1]}, device="sim")


def test_an_error_of_the_progress_comes_out(examples):
    def fail(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        tune(examples, progress=fail)


def test_a_bar_is_drawn(examples, capsys):
    tune(examples, progress=True)
    assert "2 of 2" in capsys.readouterr().err


# --- kernel functions -----------------------------------------------------------------------------


@ww.kernel
def double(A: ww.Tensor["n"], B: ww.Tensor["n"], BLOCK: T.constexpr, PER: T.constexpr):  # noqa: F821
    T.device_entry()
    b = T.cta_id([(A.shape[0] + BLOCK * PER - 1) // (BLOCK * PER)])
    t = T.thread_id([BLOCK])
    for k in T.unroll(PER):
        i = T.meta_var((b * PER + k) * BLOCK + t)
        if i < A.shape[0]:
            B[i] = B[i] + A[i] + A[i]


CONFIGS = [{"BLOCK": 128, "PER": 4}, {"BLOCK": 64, "PER": 1}, {"BLOCK": 4096, "PER": 1}]


@ww.autotune(configs=[*CONFIGS, {"BLOCK": 64, "PER": 1}], key="n")
@ww.kernel
def tuned(A: ww.Tensor["n"], B: ww.Tensor["n"], BLOCK: T.constexpr, PER: T.constexpr):  # noqa: F821
    T.device_entry()
    b = T.cta_id([(A.shape[0] + BLOCK * PER - 1) // (BLOCK * PER)])
    t = T.thread_id([BLOCK])
    for k in T.unroll(PER):
        i = T.meta_var((b * PER + k) * BLOCK + t)
        if i < A.shape[0]:
            B[i] = B[i] + A[i]


def arrays(n=5000, dtype=np.float32):
    return np.arange(n).astype(dtype), np.ones(n, dtype)


def test_a_function_is_tuned_for_arrays_which_stay_as_they_are():
    a, b = arrays()
    calls = []
    for args in ((a, b), {"B": b, "A": a}):
        result = ww.tune(
            double,
            {"BLOCK": [64, 128], "PER": (1, 4)},
            args=args,
            expect={"B": 2 * a + 1},
            progress=lambda done, total: calls.append((done, total)),
        )
        assert (b == 1).all() and (a == np.arange(5000)).all()
        assert result.parameters == {"BLOCK": 64, "PER": 1} and len(result.ranked) == 4
        estimates = [row["estimate"]["cycles"] for row in result.ranked]
        assert estimates == sorted(estimates) and estimates[-1] > 4 * estimates[0]
        assert "double.specialize(BLOCK=?, PER=?)" in str(result)
    assert calls == 2 * [(i, 4) for i in range(5)]
    result.best(a, b)
    assert (b == 2 * a + 1).all()


def test_functions_and_the_command_line_rank_alike(tmp_path):
    """The estimate of a function's combination is that of the same kernel of a file."""
    file = tmp_path / "double.py"
    text = "@ww.kernel\n" + open(__file__).read().split("@ww.kernel\n")[1].split("CONFIGS =")[0]
    file.write_text(f"import warpwright as ww\nfrom warpwright.lang import T\n\n{text}\n")
    space = {"BLOCK": [64, 128], "PER": [1, 2]}
    a, b = arrays(4096)
    here = ww.tune(double, space, args=(a, b))
    there = ww.tune(
        file,
        "double.specialize(A='float32', B='float32', BLOCK=?, PER=?)",
        space,
        args={"n": 4096},
        device="sim",
    )
    shown = [[(row["parameters"], row["estimate"]) for row in each.ranked] for each in (here, there)]
    assert shown[0] == shown[1]


def test_wrong_combinations_of_functions_are_dropped_with_the_reason():
    a, b = arrays()
    result = ww.tune(double, CONFIGS, args=(a, b), expect={"B": 2 * a + 1})
    assert [row["parameters"]["BLOCK"] for row in result.ranked] == [64, 128]
    assert [row["stage"] for row in result.dropped] == ["compile"]
    assert "at most 1024" in str(result) and "--where" not in str(result)
    nothing = ww.tune(double, CONFIGS[:2], args=(a, b), expect={"B": a})
    assert nothing.best is None and nothing.parameters is None
    assert {row["stage"] for row in nothing.dropped} == {"expect"}
    assert "`B` differs from the reference: element [0] is 1.0, expected 0.0" in str(nothing)


@ww.kernel
def hasty(A: ww.Tensor[64, "int32"], WAY: T.constexpr):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([64])
    staged = T.alloc_buffer((64,), "int32", scope="shared")
    staged[t] = A[t]
    if WAY == "trap":
        T.ptx["trap"]()
    if WAY == "wait":
        T.cuda.cta_sync()
    A[t] = staged[63 - t]


def test_what_the_virtual_gpu_finds_drops_a_combination():
    result = ww.tune(hasty, {"WAY": ["race", "trap", "wait"]}, args=[np.zeros(64, np.int32)])
    assert [row["stage"] for row in result.dropped] == ["check", "run"]
    assert "race: " in result.dropped[0]["reason"] and "trap" in result.dropped[1]["reason"]
    assert result.parameters == {"WAY": "wait"}


def test_mistakes_in_tuning_functions_are_refused():
    a, b = arrays()
    space = {"BLOCK": [64], "PER": [1]}
    cases = {
        "there is no combination to try": ([], {}),
        "a combination gives PER: expected BLOCK": ([{"BLOCK": 1}, {"PER": 1}], {}),
        "a value of `BLOCK` cannot be tried: object has no text": ([{"BLOCK": object()}], {}),
        "no parameter `PERR`.*did you mean `PER`": ({"BLOCK": [64], "PERR": [1]}, {}),
        "`double` was given no value for `PER`": ({"BLOCK": [64]}, {}),
        "`double` has no parameter `C`": (space, {"expect": {"C": a}}),
        r"`expect` has shape \(4,\) for `B`, which has \(5000,\)": (space, {"expect": {"B": a[:4]}}),
        r"`expect` is \['B == A'\]: expected arrays": (space, {"expect": ["B == A"]}),
        r"`where` is \['BLOCK > 4'\]: it is for kernels of files": (space, {"where": ["BLOCK > 4"]}),
        "`workers` is 4: it is for kernels of files": (space, {"workers": 4}),
    }
    for message, (values, named) in cases.items():
        with pytest.raises(ww.ArgumentError, match=message):
            ww.tune(double, values, args=(a, b), **named)
    with pytest.raises(ww.ArgumentError, match="`double` was given no argument for `B`"):
        ww.tune(double, space, args=(a,))
    with pytest.raises(ww.ArgumentError, match="needs `kernel`, an expression with gaps"):
        ww.tune("double.py")


def test_an_autotuned_kernel_tries_once_for_each_key():
    tuned.tuned.clear()
    tuned._chosen.clear()
    a, b = arrays()
    tuned(a, b, check=True)
    assert (b == a + 1).all()  # it ran once: the combinations ran on copies
    assert tuned(a, out=b) is b and (b == 2 * a + 1).all()
    (result,) = tuned.tuned.values()
    assert result.parameters == {"BLOCK": 64, "PER": 1} and len(result.dropped) == 1
    for arguments, count in (
        (arrays(5000), 1),
        (arrays(4000), 2),
        (arrays(5000, np.float64), 3),
        (arrays(4000), 3),
    ):
        tuned(*arguments)
        assert len(tuned.tuned) == count
    assert tuned.check(a, b).ok and len(tuned.tuned) == 3
    tuned(a, b, 32, 1)
    tuned(a, b, PER=2, BLOCK=32)
    assert len(tuned.tuned) == 3
    assert tuned.specialize(A="float32", B="float32", BLOCK=32, PER=1).name == "tuned"
    with pytest.raises(ww.ArgumentError, match=r"no value for `PER`: write `tuned\(…, PER=…\)`"):
        tuned(a, b, BLOCK=64)
    with pytest.raises(ww.ArgumentError, match="no parameter `BLOCKS`"):
        tuned(a, b, BLOCKS=64)


def test_an_operator_of_an_autotuned_kernel_tunes_at_its_calls(monkeypatch):
    """With a stand-in for `torch.library`: PyTorch is large."""

    class Library:
        @staticmethod
        def custom_op(name, call, mutates_args, schema):
            call.schema = schema
            call.register_fake = lambda fake: None
            return call

    monkeypatch.setattr("warpwright.torch_ops._library", lambda: Library)
    with pytest.raises(ww.ArgumentError, match="chooses `A`, `B`, `BLOCK`, `PER`: give the arrays"):
        ww.torch_op("ww_test::tuned", tuned)
    types = {"A": "float32", "B": "float32"}
    with pytest.raises(ww.ArgumentError, match=r"write `ww.torch_op\('a::b', double, PER=…\)`"):
        ww.torch_op("a::b", double, BLOCK=64, **types)
    op = ww.torch_op("ww_test::tuned", tuned, mutates_args=("B",))
    assert op.schema == "(Tensor A, Tensor(a1!) B) -> ()"
    a, b = arrays(100)
    op(a, b)
    assert (b == a + 1).all()


def test_mistakes_in_autotuning_are_refused():
    a, b = arrays(64)
    with pytest.raises(ww.ArgumentError, match="given function: expected a kernel; it stands above"):
        ww.autotune(configs=CONFIGS)(lambda x: x)
    with pytest.raises(ww.ArgumentError, match="`key` of `double` has 'm': .* A, B, BLOCK, PER, n"):
        ww.autotune(configs=CONFIGS, key=["n", "m"])(double)(a, b)
    with pytest.raises(ww.Error, match="no combination of `double` is right(.|\n)*at most 1024"):
        ww.autotune(configs=CONFIGS[2:])(double)(a, b)
    with pytest.raises(ww.ArgumentError, match="there is no combination to try"):
        ww.autotune(configs={"BLOCK": []})


def test_a_file_with_an_autotuned_kernel_compiles_on_the_command_line(tmp_path):
    file = tmp_path / "file.py"
    file.write_text(
        "import warpwright as ww\n"
        "from warpwright.lang import T\n\n"
        "@ww.autotune(configs=[dict(N=each) for each in (32, 64)], key=[])\n"
        "@ww.kernel\n"
        "def fill(A: ww.Tensor[64, 'int32'], N: T.constexpr):\n"
        "    T.device_entry()\n"
        "    T.cta_id([64 // N])\n"
        "    t = T.thread_id([N])\n"
        "    A[t] = N\n"
    )
    assert ".entry fill" in ww.compile(file, "fill.specialize(N=32)").ptx
