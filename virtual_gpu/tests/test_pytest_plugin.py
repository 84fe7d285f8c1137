"""The pytest plugin: flaws of a kernel fail the test that launches it."""

import pytest

from utils.paths import ROOT

pytest_plugins = ["pytester"]

KERNELS = """
import numpy as np
import pytest
from numba import cuda, float32

@cuda.jit
def right(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = i

@cuda.jit
def neighbours(x):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    x[t] = tile[63 - t]

@cuda.jit
def too_far(x):
    x[cuda.threadIdx.x + 1] = 1

def zeros():
    return np.zeros(64, np.float32)
"""


@pytest.fixture
def run(pytester, monkeypatch):
    """Return a function that runs tests in another process, as the plugin changes numba.cuda."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def run_tests(text: str, *options: str):
        pytester.makepyfile(KERNELS + text)
        wanted = ("virtual_gpu.programs.pytest_plugin", "no:cacheprovider", "no:hypothesispytest")
        plugins = [word for name in wanted for word in ("-p", name)]
        return pytester.runpytest_subprocess(*plugins, "--strict-markers", *options)

    return run_tests


def test_a_test_with_a_right_kernel_passes(run):
    run("def test_it():\n right[2, 32](zeros())").assert_outcomes(passed=1)


def test_a_test_that_passes_fails_for_the_flaws_of_its_kernels(run):
    text = """
def test_it():
    neighbours[1, 64](zeros())
    too_far[1, 64](zeros())
"""
    result = run(text)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([
        "The virtual GPU found: race at line *tile?63 - t?*",
        "The virtual GPU found: out_of_bounds at line *x?cuda.threadIdx.x + 1?*",
    ])  # fmt: skip


def test_a_test_that_fails_shows_the_flaws_beside_its_own_failure(run):
    result = run("def test_it():\n neighbours[1, 64](zeros())\n assert 1 == 2")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*assert 1 == 2*", "*virtual GPU*", "*found: race at line*"])


def test_a_flaw_in_another_file_than_the_tests_names_it(run, pytester):
    pytester.makepyfile(kernels=KERNELS)
    result = run(
        """
import kernels

def test_elsewhere():
    kernels.too_far[1, 64](zeros())

def test_here():
    too_far[1, 64](zeros())
"""
    )
    assert result.ret == 1
    found = [line for line in result.outlines if line.startswith("The virtual GPU found: ")]
    assert [line.endswith(" (kernels.py)") for line in found] == [True, False]


def test_a_kind_of_flaw_can_be_allowed_and_only_that_kind(run):
    text = """
@pytest.mark.virtual_gpu_allow("race")
def test_allowed():
    neighbours[1, 64](zeros())

@pytest.mark.virtual_gpu_allow()
def test_all_allowed():
    too_far[1, 64](zeros())

@pytest.mark.virtual_gpu_allow("race")
def test_another():
    too_far[1, 64](zeros())
"""
    run(text).assert_outcomes(passed=2, failed=1)


def test_a_flaw_in_a_fixture_is_an_error_of_the_tests_that_use_it(run):
    text = """
@pytest.fixture
def data():
    x = zeros()
    too_far[1, 64](x)
    return x

def test_it(data):
    pass

def test_another():
    pass
"""
    run(text).assert_outcomes(passed=1, errors=1)


def test_a_wrapped_index_is_a_warning(run):
    text = """
@cuda.jit
def last(x):
    x[-1 - cuda.threadIdx.x] = 1

def test_it():
    last[1, 1](zeros())
"""
    run(text).assert_outcomes(passed=1, warnings=1)


def test_switched_off_it_leaves_launches_alone(run):
    text = """
from virtual_gpu import Race, install

install()

def test_it():
    with pytest.raises(Race):
        neighbours[1, 64](zeros())
"""
    run(text, "--virtual-gpu=off").assert_outcomes(passed=1)
    run(text, "--virtual-gpu=on").assert_outcomes(failed=1)


def test_a_kind_that_there_is_not_cannot_be_allowed(run):
    result = run("@pytest.mark.virtual_gpu_allow('rase')\ndef test_it():\n right[2, 32](zeros())")
    result.stderr.fnmatch_lines(["*test_it: virtual_gpu_allow was given 'rase', which is no kind*"])


def test_a_refused_launch_shows_the_tests_own_line(run):
    result = run("def test_it():\n right[1, 2048](zeros())")
    result.stdout.fnmatch_lines([">*right[[]1, 2048](zeros())", "E*LaunchError: The block*"])
    result.stdout.no_fnmatch_line("*without_interpreter*")
