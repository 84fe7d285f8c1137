"""Right kernels of many kinds are right, and get no warning, no finding and no hint of a flaw."""

import warnings

import numpy as np
import pytest

from virtual_gpu import install, trace
from virtual_gpu.launching.dispatcher_methods import VirtualLaunch, run_launch
from virtual_gpu.launching.tracing import make_geometry
from virtual_gpu.tests.everyday import data, images, language, sums
from virtual_gpu.tests.planted.judge import ON_SPEED

CASES = [*images.CASES, *sums.CASES, *language.CASES, *data.CASES]


def is_right(case, arguments):
    want = case.reference(*case.arguments())
    np.testing.assert_allclose(arguments[-1], want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_right_kernel_is_right_and_gets_no_remark(case):
    install()
    arguments = case.arguments()
    run = trace(case.kernel, case.grid, case.block, *arguments, shared_bytes=case.shared_bytes)
    is_right(case, arguments)
    assert run.findings == ()
    assert [str(hint) for hint in run.hints if hint.kind not in ON_SPEED] == []
    arguments, geometry = case.arguments(), make_geometry(case.grid, case.block)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run_launch(VirtualLaunch(case.kernel, geometry, case.shared_bytes), arguments)
    is_right(case, arguments)


def test_there_are_120_of_them_and_no_two_share_a_name():
    assert len(CASES) >= 120
    assert len({case.name for case in CASES}) == len(CASES)
