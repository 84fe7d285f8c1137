"""Random calls: here a few on the virtual GPU; on a GPU more, in threads, streams and graphs."""

import pytest
from numba import cuda

from tests.kernels import called

CALLS = 80 if cuda.is_available() else 6


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    if not cuda.is_available():
        monkeypatch.setattr(called, "LARGEST", 24)


def test_random_calls_are_right_and_repeat_with_the_same_bits():
    assert called.wrong_calls(CALLS, seed=100) == []


@pytest.mark.parametrize("name, wrong", [
    ("sgemm", lambda a, b, out, alpha, beta, stream=None: None),
    ("reduce", lambda x, op, out=None, stream=None: out if out is not None else x.dtype.type(1)),
])  # fmt: skip
def test_a_wrong_function_would_be_found(monkeypatch, name, wrong):
    monkeypatch.setattr(called, name, wrong)
    assert called.wrong_calls(12, seed=100)
