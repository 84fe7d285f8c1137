"""The estimate that chooses tiles: the quality of its choices, and the routes they lead to."""

import math
import statistics
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemm_kernels import autotuned
from gemm_kernels.dispatch import estimate, routes
from gemm_kernels.dispatch.estimate import KINDS, best, candidates, fitted, speed_of
from gemm_kernels.parts.strided import Tiling
from gemm_kernels.tuning import shapes_search
from utils.division import cdiv
from utils.ladder.shapes import GemmShape
from utils.launching.slots import Slot
from utils.machine import devices

H200 = devices.find(devices.REFERENCE)
TIMINGS = shapes_search.read(shapes_search.file_of(H200.name))
SIDES = st.integers(1, 9400)


def slots(m, n, k, aligned=True):
    """Return the slots of a, b and out of a product, in C order."""
    return [
        replace(Slot.new(number, sides, np.float32), aligned=aligned)
        for number, sides in enumerate(((m, k), (k, n), (m, n)))
    ]


def test_what_it_takes_is_hardly_slower_than_the_fastest():
    regrets = shapes_search.regrets(TIMINGS, fitted(), speed_of(H200))
    assert len(regrets) > 100
    assert math.exp(statistics.fmean(map(math.log, regrets))) < 1.06
    # Two of the 300 choices have a candidate whose one timing was disturbed.
    assert sorted(regrets)[-3] < 1.6


def test_a_worse_estimate_would_be_found():
    alike = {
        kind: dict.fromkeys(of_kind, shapes_search.FIRST_FACTS)
        for kind, of_kind in fitted().tilings.items()
    }
    worse = estimate.Estimate(fitted().costs, alike)
    regrets = shapes_search.regrets(TIMINGS, worse, speed_of(H200))
    assert math.exp(statistics.fmean(map(math.log, regrets))) > 1.06


def test_the_fit_finds_the_constants_that_made_the_timings():
    some = [timing for timing in TIMINGS if timing.kind == "wide"][::5]
    known, speed = fitted(), speed_of(H200)
    made = []
    for timing in some:
        facts = known.tilings["wide"][timing.tiling.sliced(1)]
        us = estimate.estimate_us(timing.shape, timing.tiling, facts, known.costs, speed)
        made.append(replace(timing, us=us))
    again = shapes_search.fit(made, speed)
    assert max(shapes_search.regrets(made, again, speed)) < 1.1


@given(m=SIDES, n=SIDES, k=SIDES, kind=st.sampled_from(KINDS))
def test_every_candidate_can_be_launched(m, n, k, kind):
    shape = GemmShape(m, n, k)
    for tiling in fitted().tilings[kind]:
        for sliced in candidates(kind, shape, tiling, H200.sms):
            assert 1 <= sliced.SLICES <= max(1, cdiv(k, sliced.BK))
            if kind == "wide":
                names = ("BM", "BN", "BK", "TM", "TN", "BLOCKS", "SLICES")
                autotuned.STEP.variant(**{name: getattr(sliced, name) for name in names})


@pytest.mark.parametrize("kind", KINDS)
def test_a_larger_product_takes_longer_and_a_faster_device_less(kind):
    times = [best(GemmShape(n, n, n), kind, H200)[1] for n in (64, 512, 2048, 8192)]
    assert times == sorted(times)
    assert best(GemmShape(4096, 4096, 4096), kind, devices.find("Tesla T4"))[1] > 3 * times[-2] / 8


def test_the_tiles_of_the_file_are_those_that_were_timed():
    timed = {(timing.kind, timing.tiling.sliced(1)) for timing in TIMINGS}
    assert timed == {(kind, tiling) for kind in KINDS for tiling in fitted().tilings[kind]}
    assert all(isinstance(tiling, Tiling) for _, tiling in timed)


@pytest.mark.parametrize(
    ("sizes", "aligned", "kind"),
    [((1024, 1024, 1024), True, "wide"), ((100, 101, 103), True, "strided"),
     ((512, 512, 512), False, "strided"), ((8191, 8191, 8191), True, "wide")],
)  # fmt: skip
def test_copies_are_made_only_where_they_pay(sizes, aligned, kind):
    a, b, out = slots(*sizes, aligned)
    assert routes.fastest(GemmShape(*sizes), (a, b), out, 0.0, H200).kind == kind


def test_a_result_without_neighbours_in_its_rows_is_made_elsewhere():
    a, b, out = slots(32, 32, 32)
    gaps, backwards = (replace(out, strides=strides) for strides in ((256, 8), (-128, 4)))
    for other in (gaps, backwards):
        assert routes.fastest(GemmShape(32, 32, 32), (a, b), other, 0.0, H200).kind == "wide"
    assert routes.has_columns(out.transposed())
    assert not routes.has_columns(out)
