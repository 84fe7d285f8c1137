"""Parts of arrays by ``...``, None, slices and numbers: the same ones as in NumPy and in Numba."""

import linecache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda, njit

from virtual_gpu import trace
from virtual_gpu.machine.parts import expanded

SHAPE = (3, 5, 2, 4)
COPY = """
def kernel(x, shape, out):
    part = x[{}]
    for axis in range(part.ndim):
        shape[axis] = part.shape[axis]
    for position in np.ndindex(part.shape):
        out[position] = part[position]
"""


def array_of(rank):
    shape = SHAPE[:rank]
    return np.arange(np.prod(shape, dtype=int), dtype=np.int64).reshape(shape)


@st.composite
def ranks_and_indices(draw):
    """Draw a rank and a tuple of numbers, slices, None and at most one ``...`` that fits it."""
    rank = draw(st.integers(1, len(SHAPE)))
    bounds = st.none() | st.integers(-6, 6)
    slices = st.builds(slice, bounds, bounds, st.sampled_from([None, 1, 2, -1]))
    named = draw(st.integers(0, rank))
    indices = [draw(st.integers(-2, 1) | slices) for _ in range(named)]
    for more in [None] * draw(st.integers(0, 2)) + [...] * draw(st.integers(0, 1)):
        indices.insert(draw(st.integers(0, len(indices))), more)
    only_none = all(index is None for index in indices)  # Numba refuses x[None]
    return rank, (*indices, slice(None)) if only_none else tuple(indices)


def as_text(indices: tuple) -> str:
    """Return indices as they are written between brackets."""

    def one(index) -> str:
        if isinstance(index, slice):
            bounds = (index.start, index.stop, index.step)
            return ":".join("" if part is None else str(part) for part in bounds)
        return "..." if index is ... else str(index)

    return ", ".join(map(one, indices)) + "," * (len(indices) == 1)


def kernel_that_copies(indices: str):
    """Return a kernel (x, shape, out) that copies the part ``x[indices]`` and its shape."""
    text, file = COPY.format(indices), f"<x[{indices}]>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = {"np": np}
    exec(compile(text, file, "exec"), names)
    return cuda.jit(names["kernel"])


@settings(deadline=None)
@given(ranks_and_indices())
def test_an_ellipsis_stands_for_the_dimensions_that_numpy_takes(drawn):
    rank, indices = drawn
    x = array_of(rank)
    whole = expanded(indices, rank)
    assert ... not in whole
    np.testing.assert_array_equal(x[whole], x[indices], strict=True)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(ranks_and_indices())
def test_a_part_has_the_shape_and_the_elements_that_it_has_in_numpy(drawn):
    rank, indices = drawn
    x = array_of(rank)
    wanted = x[indices]
    if not wanted.ndim:
        return
    shape, out = np.zeros(wanted.ndim, np.int64), np.full_like(wanted, -1)
    run = trace(kernel_that_copies(as_text(indices)), 1, 1, x, shape, out)
    assert {one.kind for one in run.findings} <= {"wrapped_index"}
    assert tuple(shape) == wanted.shape
    np.testing.assert_array_equal(out, wanted)


BY_NUMBA = ("..., None", "0, ..., None", "None, ..., 0")


@njit
def parts_by_numba(x):
    return x[..., None], x[0, ..., None], x[None, ..., 0]


@pytest.mark.parametrize("rank", [2, 3])
def test_none_beside_an_ellipsis_gives_what_numba_gives(rank):
    x = array_of(rank)
    for text, by_numba in zip(BY_NUMBA, parts_by_numba(x), strict=True):
        shape, out = np.zeros(by_numba.ndim, np.int64), np.full(by_numba.shape, -1)
        trace(kernel_that_copies(text), 1, 1, x, shape, out)
        assert tuple(shape) == by_numba.shape, text
        np.testing.assert_array_equal(out, by_numba)
