# SPDX-License-Identifier: Apache-2.0
"""The layout algebra as values."""

from __future__ import annotations

import pickle

import pytest

import warpwright as ww

FRAGMENT = "S[(8,4,2):(4@laneid,1@laneid,1)]"


def test_a_layout_is_a_value():
    layout = ww.Layout(FRAGMENT)
    assert str(layout) == FRAGMENT
    assert repr(layout) == f"Layout('{FRAGMENT}')"
    assert layout.shape == (8, 8) and layout.size == 64
    assert layout.data["axes"] == ["laneid", "m"]
    assert pickle.loads(pickle.dumps(layout)) == layout
    assert ww.Layout(layout) == layout


def test_operations_are_methods():
    layout = ww.Layout("S[(8,16):(16,1)]")
    assert str(layout.slice("0:4,2:6")) == str(layout.op("slice:0:4,2:6"))
    assert layout.slice(slice(0, 4), slice(2, 6)).shape == (4, 4)
    assert layout.permute(1, 0).shape == (16, 8)
    assert layout.group(4, 2, 16).size == 128
    assert ww.Layout("S[(8,8):(8,1)]").tile_to((64, 64)).shape == (64, 64)
    assert layout.at("m=17") == [[1, 1]]
    assert layout.injective() is True
    assert "slice" in dir(layout) and layout.slice.__doc__.startswith("the layout of a region")


def test_equal_means_the_same_places():
    assert ww.Layout("S[(8,8):(8,1)]") == ww.Layout("S[64:1]")
    assert ww.Layout("S[(8,8):(1,8)]") != ww.Layout("S[64:1]")
    assert ww.Layout("S[8:1]") != ww.Layout("S[64:1]")
    assert ww.Layout("S[8:1]") != "S[8:1]"


def test_composition_is_an_operator():
    outer, inner = ww.Layout("S[64:2]"), ww.Layout("S[(8,8):(1,8)]")
    assert outer @ inner == outer.compose(inner)


def test_pictures_and_tables():
    layout = ww.Layout(FRAGMENT)
    assert layout._repr_svg_().lstrip().startswith("<svg")
    assert FRAGMENT in layout.table()
    assert ww.Layout("mma_frag(A,16,float16)").svg().count("<rect") > 100


def test_mistakes_are_refused_with_their_place():
    with pytest.raises(ww.LayoutError) as caught:
        ww.Layout("S[(8,4):(4@laneid]")
    assert "layout:1:" in str(caught.value) and "^" in str(caught.value)
    with pytest.raises(ww.LayoutError, match="--op"):
        ww.Layout("S[8:1]").slice("0:9")
    with pytest.raises(ww.ArgumentError, match="given float"):
        ww.Layout("S[8:1]").slice(0.5)
    with pytest.raises(AttributeError, match="no operation `slise`"):
        ww.Layout("S[8:1]").slise  # noqa: B018
