"""Kernels written after the documentation of numba-cuda-mlir do what its pages promise."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import virtual_gpu

from . import require_the_package

require_the_package()
virtual_gpu.install()  # before kernels are declared with signatures

from .documented import CASES, FINDING, PASSES, REFUSED  # noqa: E402


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_kernel_does_what_its_page_promises(case):
    arguments = case.arguments()
    launch = case.kernel[case.grid, case.block, 0, case.shared_bytes]
    if case.outcome == PASSES:
        launch(*arguments)
        np.testing.assert_allclose(
            arguments[-1], case.expected(*case.arguments()[:-1]), rtol=1e-5, atol=1e-6
        )
        return
    with pytest.raises(virtual_gpu.VirtualGpuError) as error:
        launch(*arguments)
    assert case.message in str(error.value)
    assert (error.value.finding is not None) == (case.outcome == FINDING)


def test_the_readme_says_how_many_do():
    """The sentence of the README about these kernels."""
    counts = Counter(case.outcome for case in CASES)
    sentence = (
        f"{len(CASES)} kernels are written after its documentation. {counts[PASSES]} of them do "
        f"what it promises, {counts[REFUSED]} are refused"
    )
    assert sentence in (Path(virtual_gpu.__file__).parent / "README.md").read_text("utf-8")


def test_there_are_a_hundred_and_each_that_does_not_pass_has_its_reason():
    assert len({case.name for case in CASES}) == len(CASES) >= 100
    assert all(case.reason and case.message for case in CASES if case.outcome != PASSES)
    assert {case.outcome for case in CASES} <= {PASSES, REFUSED, FINDING}
