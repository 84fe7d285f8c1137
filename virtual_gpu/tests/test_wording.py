"""Tests that pictures and tables show the words of a translator, if there is one."""

import numpy as np
import pytest
from numba import cuda

from virtual_gpu import trace
from virtual_gpu.common.wording import counted, translate, translate_with
from virtual_gpu.pictures.accesses import draw_request, what_if_stride


@cuda.jit
def doubled(x):
    x[cuda.grid(1)] += x[cuda.grid(1)]


@pytest.fixture
def shouting():
    earlier = translate_with(
        lambda message, /, **values: message.upper().format_map(Upper(values))
    )
    yield
    translate_with(earlier)


class Upper(dict):
    """The values of a message whose placeholders are in capitals."""

    def __missing__(self, name):
        return self[name.lower()]


@pytest.fixture
def in_english():
    earlier = translate_with(None)
    yield
    translate_with(earlier)


def test_without_a_translator_the_words_are_english(in_english):
    assert translate("{a} of {b:,}", a=1, b=2000) == "1 of 2,000"
    assert translate("a {brace} stays") == "a {brace} stays"
    assert [counted(1, "sector"), counted(1024, "sector")] == ["1 sector", "1,024 sectors"]


def test_pictures_have_the_words_of_the_translator(shouting):
    picture = draw_request(np.arange(32) * 4, "one")
    assert str(picture) == "one: 32 LANES TOUCH 4 SECTORS IN 1 CACHE LINE AND USE 32 OF 32 WORDS " \
        "THAT COME."  # fmt: skip
    shown = what_if_stride((1, 2))._repr_html_()
    assert ">PLAY</button>" in shown
    assert "READ BY A LANE" in shown
    assert "2 WORDS APART" in shown


def test_the_counts_beside_a_source_have_the_words_of_the_translator(shouting):
    traced = trace(doubled, 1, 32, np.ones(32, np.float32))
    assert traced.title == "doubled ON THE VIRTUAL GPU"
    assert traced.verdict == "NO FLAW FOUND"
    shown = traced._repr_html_()
    assert "SECTORS LOADED" in shown
    assert "LOAD OF x, WHOLE LAUNCH: 2 REQUESTS MOVED 8 SECTORS" in shown
