"""Tests that no English is left in a verdict when every sentence has a translation."""

import re

import pytest

from labs import EXERCISES, check
from labs.checking.variants import function_in, right_versions, wrong_versions
from labs.numbers.evaluator import CannotEvaluate, make_evaluator
from utils import translation
from utils.translated_findings import SAID, translate_message
from utils.translation import LANGUAGE, placeholders

LESSON_00 = ("scale", "sectors", "order_saxpy", "enough_blocks")
HEAD = "from numba import cuda, float32\n\n\n@cuda.jit\ndef scale(x, factor, out):\n"
# Kernels with constructs that a beginner tries, of which the virtual GPU says something.
TRIED = {
    "a list": "    y = [factor * v for v in x]\n    out[0] = y[0]\n",
    "a call of an array": "    i = cuda.grid(1)\n    out[i] = factor * x(i)\n",
    "two indices": "    i = cuda.grid(1)\n    out[i] = x[i, 0]\n",
    "an unset variable": "    if cuda.grid(1) < 5:\n        i = cuda.grid(1)\n    out[i] = x[i]\n",
    "an error raised": "    if cuda.grid(1) >= out.size:\n        raise IndexError\n",
    "grid without dimensions": "    i = cuda.grid()\n    out[i] = factor * x[i]\n",
    "names without cuda": "    i = threadIdx.x\n    out[i] = factor * x[i]\n",
    "an unknown attribute": "    if cuda.grid(1) < out.length:\n        out[0] = factor\n",
    "a division as an index": "    i = cuda.grid(1) / 2\n    out[i] = factor * x[i]\n",
    "an import": "    import math\n    out[0] = math.sqrt(factor)\n",
    "a whole array": "    out = factor * x\n",
    "an endless loop": "    i = cuda.grid(1)\n    while i < out.size:\n        out[i] = 0\n",
    "a race": "    i = cuda.grid(1)\n    if i < out.size:\n        out[i] = 0\n"
    "        out[i // 2] = factor * x[i // 2]\n",
    "an unset local array": "    i = cuda.grid(1)\n    t = cuda.local.array(4, float32)\n"
    "    if i < out.size:\n        out[i] = factor * t[0]\n",
    "a barrier in a branch": "    if cuda.grid(1) < out.size:\n        cuda.syncthreads()\n",
}

CODE = re.compile(r"`[^`]*`|\b[\w.]+\[.*?\]|\b[\w.]+\(.*?\)|\b(?:cuda|numba)\.[\w.]+")


class Without:
    """A catalogue that translates every message: words become dots, except code in backticks."""

    def get(self, message, default=None):
        parts = re.split(r"(`[^`]*`|\{[^{}]*\})", message)
        parts[::2] = (re.sub(r"[^\W\d_]+", "·", part) for part in parts[::2])
        return "".join(parts)


@pytest.fixture
def without_words(monkeypatch):
    monkeypatch.setenv(LANGUAGE, "xx")
    monkeypatch.setattr(translation, "_catalogue", lambda chosen: Without())


def words(name, text):
    """Return the words of a verdict that are no code, where two of them follow each other."""
    told = "\n".join(check(name, function_in(name, text)).sentences)
    told = CODE.sub("", told)
    return re.findall(r"[a-zA-Z]{2,} [a-zA-Z]{2,}", told)


def test_a_word_that_is_not_translated_would_be_noticed(without_words, monkeypatch):
    text = f"{HEAD}{TRIED['a call of an array']}"
    assert words("scale", text) == []
    monkeypatch.setattr("labs.checking.judge.translate_message", lambda message: message)
    assert "call of" in words("scale", text)


@pytest.mark.slow
@pytest.mark.parametrize("name", LESSON_00)
def test_no_english_is_left_in_a_verdict_of_lesson_00(without_words, name):
    texts = {one.what: one.text for one in wrong_versions(EXERCISES[name])}
    if name == "order_saxpy":  # a list of numbers is no function
        texts = {what: text for what, text in texts.items() if "def " in text}
    texts |= dict(right_versions(EXERCISES[name])) if name != "order_saxpy" else {}
    assert {what: words(name, text) for what, text in texts.items() if words(name, text)} == {}


@pytest.mark.slow
@pytest.mark.parametrize("what", TRIED)
def test_what_the_virtual_gpu_says_of_a_first_kernel_is_translated(without_words, what):
    assert words("scale", f"{HEAD}{TRIED[what]}") == []


def test_a_message_is_translated_with_its_parts(without_words):
    message = "thread (5) of block (0) reads the variable i, which it has not set."
    assert translate_message(message) == "· (5) · · (0) · · · i, · · · · ·."
    assert translate_message("An unknown sentence.") == "An unknown sentence."


def test_in_english_a_message_stays_as_it_is():
    message = "thread (5) of block (0) reads the variable i, which it has not set."
    assert translate_message(message) == message


def test_each_message_is_recognised_as_itself(without_words):
    for said in SAID:
        filled = re.sub(r"\{(\w+)\}", "7", said)
        expected = Without().get(said)
        assert translate_message(filled) == re.sub(r"\{(\w+)\}", "7", expected), said
        assert placeholders(said) == placeholders(expected)


def test_an_error_of_a_formula_is_translated(without_words):
    function = function_in("f", "def f(x):\n    return x / 0\n")
    with pytest.raises(CannotEvaluate, match=r"^· 2, `return x / 0`: · · · ·\.$"):
        make_evaluator(function)((3,))
