# SPDX-License-Identifier: Apache-2.0
"""Arrays and numbers that are more than their elements are refused; those that are not are taken."""

from __future__ import annotations

import sys
import types

import ml_dtypes
import numpy as np
import pytest
from kernels_for_tests import SCALE, add

import warpwright as ww
from warpwright.testing import assert_matches


class Length(np.ndarray):
    """Stands for those with units."""


@pytest.fixture
def scale():
    return ww.compile("scale.py", text=SCALE)


X = np.arange(20, dtype=np.int32).reshape(5, 4)

REFUSED = {
    "masked": (np.ma.array(X, mask=X > 3), "masked array.*pass `array.filled"),
    "without a mask yet": (np.ma.array(X), "masked array"),
    "subclass": (X.view(Length), "Length, a subclass.*pass `numpy.asarray"),
    "records": (np.zeros((5, 4), [("value", "i4")]), r"of records.*copy of `array\['value'\]`"),
    "objects": (X.astype(object), "an array of object: kernels have no such elements"),
    "other byte order": (X.astype(X.dtype.newbyteorder()), r"byte order.*`array.astype\('int32'\)`"),
    "times": (X.astype("m8[ns]"), r"timedelta64\[ns\]: kernels have no such elements"),
    "dates": (X.astype("M8[D]"), r"datetime64\[D\]: kernels"),
    "text": (X.astype("U"), "an array of <U11: kernels"),
    "bytes": (X.astype("V4"), "an array of |V4: kernels"),
    "complex": (X.astype(np.complex64), "complex64: kernels"),
    "nibbles": (X.astype(ml_dtypes.int4), "one element to a byte"),
    "list": (X.tolist(), "list: expected a number or an array"),
    "buffer": (memoryview(X), "memoryview: expected"),
    "nothing": (None, "NoneType: expected"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_arrays_that_mean_more_than_their_elements_are_refused(scale, kind):
    array, message = REFUSED[kind]
    result = np.zeros_like(X)
    for call in (scale, scale.check, scale.evaluate):
        with pytest.raises(TypeError, match="`X` was given.*" + message) as caught:
            call(array, result, 1)
        assert isinstance(caught.value, ww.ArgumentError)
        with pytest.raises(ww.ArgumentTypeError, match="`Y` was given.*" + message):
            call(X, array, 1)
    assert not result.any()


def test_the_fix_that_a_message_names_works(scale):
    y = np.zeros_like(X)
    scale(np.ma.array(X, mask=X > 3).filled(0), y, 2)
    assert (y == np.where(X > 3, 0, 2 * X)).all()
    scale(np.ma.array(X, mask=X > 3).data, y, 2)
    assert (y == 2 * X).all()
    scale(X.astype(">i4").astype("int32"), np.asarray(y.view(Length)), 3)
    assert (y == 3 * X).all()


def test_subclasses_without_a_meaning_are_taken(scale, tmp_path):
    X.tofile(tmp_path / "x")
    x = np.memmap(tmp_path / "x", np.int32, "r", shape=X.shape)
    for y in (np.zeros_like(X).view(np.matrix), np.zeros_like(X).view(np.recarray)):
        scale(x, y, 2)
        assert (np.asarray(y) == 2 * X).all()
    with pytest.raises(ww.ArgumentError, match="`Y` was given a read-only array"):
        scale(X, x, 1)


@pytest.mark.parametrize(
    "number",
    [np.timedelta64(5, "ns"), np.datetime64(5, "ns"), np.str_("3"), np.bytes_(b"3"), np.complex64(3 + 2j)],
)
def test_scalars_of_numpy_that_are_no_numbers_are_refused(scale, number):
    with pytest.raises(TypeError, match="`by` was given .*: expected a number"):
        scale(X, np.zeros_like(X), number)


def test_masks_are_refused_in_references_too():
    def reference(a, b):
        return np.ma.array(a + b, mask=a > 0)

    with pytest.raises(TypeError, match="`reference` was given a masked array"):
        assert_matches(add, reference, [{"n": 3}], engines=["sim"])


# --- PyTorch --------------------------------------------------------------------------------------


class Tensor:
    """A stand-in with what is asked of a tensor: PyTorch is large."""

    is_cuda = False
    device = types.SimpleNamespace(type="cpu")
    dtype = "torch.int32"
    shape = X.shape
    layout = "torch.strided"

    def element_size(self):
        return 4

    def __init__(self, **facts):
        vars(self).update(facts)

    def data_ptr(self):
        raise RuntimeError("its memory was asked for")


Tensor.__module__ = "torch"


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"layout": "torch.sparse_coo"}, "a tensor of layout sparse_coo: expected a dense one"),
        ({"layout": "torch.jagged"}, "a tensor of layout jagged: expected a dense one"),
        ({"is_nested": True}, "a nested tensor: expected a dense one"),
        ({"is_quantized": True}, "a quantised tensor: expected its integers"),
        ({"is_neg": lambda: True}, "a view that negates"),
        ({"is_conj": lambda: True}, "a view that negates"),
    ],
)
def test_tensors_that_mean_more_than_their_memory_are_refused(scale, facts, message):
    with pytest.raises(TypeError, match=f"`Y` was given {message}"):
        scale(X, Tensor(**facts), 1)


def test_tensor_classes_that_run_python_are_refused(scale, monkeypatch):
    plain = object()
    torch = types.SimpleNamespace(_C=types.SimpleNamespace(_disabled_torch_dispatch_impl=plain))
    monkeypatch.setitem(sys.modules, "torch", torch)

    class MaskedTensor(Tensor):
        def __torch_dispatch__(self):
            pass

    class Parameter(Tensor):
        __torch_dispatch__ = plain

    MaskedTensor.__module__ = Parameter.__module__ = "torch.masked"
    with pytest.raises(TypeError, match="`Y` was given MaskedTensor, whose elements are not in"):
        scale(X, MaskedTensor(), 1)
    with pytest.raises(RuntimeError, match="its memory was asked for"):
        scale(X, Parameter(), 1)


def test_tensors_of_pytorch_are_taken_or_refused(scale):
    torch = pytest.importorskip("torch")
    x, y = torch.from_numpy(X.copy()), torch.zeros(5, 4, dtype=torch.int32)
    scale(x, torch.nn.Parameter(y, requires_grad=False), 3)
    assert (y.numpy() == 3 * X).all()
    real = torch.complex(torch.zeros(5, 4), torch.ones(5, 4)).conj().imag
    quantised = torch.quantize_per_tensor(torch.ones(5, 4), 0.5, 0, torch.qint32)
    for misfit, message in (
        (x.to_sparse(), "layout sparse_coo"),
        (x.to_sparse_csr(), "layout sparse_csr"),
        (quantised, "quantised tensor"),
        (real, "negates"),
        (torch.masked.masked_tensor(x.float(), x > 3), "MaskedTensor"),
        (torch.nested.nested_tensor([x[0], x[1]]), "nested"),
    ):
        with pytest.raises(TypeError, match=f"`X` was given .*{message}"):
            scale(misfit, y, 1)
