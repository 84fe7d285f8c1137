"""Kernels written after the documentation of numba-cuda-mlir do what its pages promise."""

import numpy as np
import pytest

import virtual_gpu

from . import require_the_package

require_the_package()

from .documented import CASES, FINDING, PASSES, REFUSED  # noqa: E402

virtual_gpu.install()


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


def test_there_are_a_hundred_and_each_that_does_not_pass_has_its_reason():
    assert len({case.name for case in CASES}) == len(CASES) >= 100
    assert all(case.reason and case.message for case in CASES if case.outcome != PASSES)
    assert {case.outcome for case in CASES} <= {PASSES, REFUSED, FINDING}
