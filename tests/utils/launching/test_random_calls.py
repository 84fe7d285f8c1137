"""Random calls: a few on the virtual GPU; on a GPU more, in threads, streams and graphs."""

import pytest
from numba import cuda

from tools import random_calls

CALLS = 80 if cuda.is_available() else 6


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    if not cuda.is_available():
        monkeypatch.setattr(random_calls, "LARGEST", 24)


def test_random_calls_are_right_and_repeat_with_the_same_bits():
    assert random_calls.wrong_calls(CALLS, seed=100) == []


@pytest.mark.parametrize("name, wrong", [
    ("sgemm", lambda a, b, out, alpha, beta, stream=None: None),
    ("reduce", lambda x, op, out=None, stream=None: out if out is not None else x.dtype.type(1)),
])  # fmt: skip
def test_a_wrong_function_would_be_found(monkeypatch, name, wrong):
    monkeypatch.setattr(random_calls, name, wrong)
    assert random_calls.wrong_calls(12, seed=100)
