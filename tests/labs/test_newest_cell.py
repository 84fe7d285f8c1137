"""Tests that `check` says when the newest cell with the reader's function has not run."""

import pytest
from IPython.core.interactiveshell import InteractiveShell

SETUP = "from numba import cuda\nfrom labs import check"
NO_GUARD = """@cuda.jit
def scale(x, factor, out):
    i = cuda.grid(1)
    out[i] = factor * x[i]"""
RIGHT = NO_GUARD.replace("    out[i]", "    if i < out.size:\n        out[i]")
NOTE = "The newest cell with this function stopped with an error"


@pytest.fixture(scope="module")
def run():
    """Yield a function that runs a cell with history and returns its result."""
    shell = InteractiveShell.instance()
    shell.run_cell(SETUP, store_history=True)
    yield lambda cell: shell.run_cell(cell, store_history=True).result
    InteractiveShell.clear_instance()


@pytest.mark.parametrize("newest", [
    RIGHT.replace("out.size:", "out.size"), RIGHT.replace("@cuda.jit", "@cuda.jitt")
])  # fmt: skip
def test_a_cell_that_stopped_is_named_until_it_runs(run, newest):
    run(NO_GUARD)
    assert NOTE not in str(run('check("scale", scale)'))
    run(newest)
    verdict = str(run('check("scale", scale)'))
    assert "Nothing in your kernel keeps them away" in verdict
    assert verdict.splitlines()[-1].startswith(NOTE)
    run(RIGHT)
    assert NOTE not in str(run('check("scale", scale)'))


def test_a_cell_with_magic_or_an_indent_is_the_newest_all_the_same(run):
    run(NO_GUARD)
    for cell in (f"%%capture\n{RIGHT}", "    " + RIGHT.replace("\n", "\n    ")):
        run(cell)
        assert str(run('check("scale", scale)')).startswith("Your first kernel: right.\nRight")
        assert NOTE not in str(run('check("scale", scale)'))
