"""The virtual GPU reports every flaw of the corpus, and whatever NVIDIA's own tool reports.

The tool's verdicts were recorded on a real device by ``python -m
virtual_gpu.tests.kernels.sanitize``.
"""

import functools

import pandas as pd
import pytest

from utils.paths import MEASURED
from virtual_gpu import trace
from virtual_gpu.host.allocation import device_array_like
from virtual_gpu.tests.kernels import KernelCase, broken, correct
from virtual_gpu.tests.kernels.run_case import CASES

RECORDED = MEASURED / "nvidia_h200" / "sanitizer.csv"

each_broken_case = pytest.mark.parametrize("case", broken.CASES, ids=lambda case: case.name)
each_correct_case = pytest.mark.parametrize("case", correct.CASES, ids=lambda case: case.name)


def run(case: KernelCase):
    """Return the kinds of findings, without the warning for a wrapped index, and the result."""
    arguments = tuple(
        device_array_like(argument) if number in case.unset else argument
        for number, argument in enumerate(case.arguments())
    )
    launch = trace(case.kernel, case.grid, case.block, *arguments, shared_bytes=case.shared_bytes)
    return {f.kind for f in launch.findings} - {"wrapped_index"}, arguments[-1]


@functools.cache
def kinds_found(name: str) -> set[str]:
    return run(CASES[name])[0]


@each_broken_case
def test_a_broken_kernel_is_reported_for_what_is_wrong_with_it(case):
    assert kinds_found(case.name) == {case.kind}


@each_correct_case
def test_a_correct_kernel_is_right_and_is_not_accused(case):
    kinds, result = run(case)
    assert kinds == set()
    assert case.is_right(result)


def test_every_case_has_a_name_and_a_sentence_of_its_own():
    cases = (*broken.CASES, *correct.CASES)
    assert len(CASES) == len(cases)
    assert len({case.flaw for case in cases}) == len(cases)
    assert all(case.flaw.endswith(".") for case in cases)


def test_a_case_of_each_corpus_knows_its_own():
    assert {case.corpus for case in broken.CASES} == {"broken"}
    assert {case.corpus for case in correct.CASES} == {"correct"}


@pytest.fixture(scope="module")
def recorded():
    if not RECORDED.exists():
        pytest.skip("compute-sanitizer's verdicts have not been recorded on a device yet")
    return pd.read_csv(RECORDED, keep_default_na=False)


def test_the_recorded_verdicts_cover_the_corpus(recorded):
    assert {(row.case, row.corpus, row.kind) for row in recorded.itertuples()} == {
        (case.name, case.corpus, case.kind) for case in CASES.values()
    }
    assert set(recorded["reported"]) <= {True, False}


def test_the_virtual_gpu_reports_all_that_compute_sanitizer_reports(recorded):
    reported = recorded[(recorded["corpus"] == "broken") & recorded["reported"]]
    assert len(reported) > 0
    assert [r.case for r in reported.itertuples() if r.kind not in kinds_found(r.case)] == []


def test_the_virtual_gpu_hangs_on_none_that_hangs_a_device(recorded):
    hung = recorded[recorded["hung"]]
    assert [r.case for r in hung.itertuples() if not kinds_found(r.case)] == []


def test_correct_kernels_were_right_on_the_device(recorded):
    results = recorded[recorded["corpus"] == "correct"]
    assert set(results["result"]) == {"right"}
