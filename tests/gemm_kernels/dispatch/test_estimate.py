"""The estimate that chooses tiles: the quality of its choices, and the routes they lead to."""

import math
import statistics
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemm_kernels import autotuned
from gemm_kernels.dispatch import constants, errors, estimate, routes
from gemm_kernels.dispatch.estimate import KINDS, best, candidates, fitted, speed_of
from gemm_kernels.parts.strided import Tiling
from gemm_kernels.tuning import shapes_search
from utils.division import cdiv
from utils.ladder.shapes import GemmShape
from utils.launching.slots import Slot
from utils.machine import devices
from utils.measuring import rows

H200 = devices.find(devices.REFERENCE)
TIMINGS = shapes_search.read(shapes_search.file_of(H200.name))
WAYS_FILE = shapes_search.file_of(H200.name, estimate.WAYS)
SIDES = st.integers(1, 9400)


def slots(m, n, k, aligned=True):
    """Return the slots of a, b and out of a product, in C order."""
    return [
        replace(Slot.new(number, sides, np.float32), aligned=aligned)
        for number, sides in enumerate(((m, k), (k, n), (m, n)))
    ]


def mean_of(regrets):
    return math.exp(statistics.fmean(map(math.log, regrets)))


def test_what_it_takes_is_hardly_slower_than_the_fastest():
    timed = (*TIMINGS, *rows.read_if_any(WAYS_FILE, shapes_search.TilingTime))
    chosen = shapes_search.regrets(timed, fitted(), speed_of(H200), errors.known(H200.name))
    assert len(chosen) > 100
    assert mean_of(chosen) < 1.045
    assert max(chosen) < 1.6
    assert statistics.fmean(regret > 1.2 for regret in chosen) < 0.06


def test_errors_at_other_shapes_improve_the_choices():
    alone = shapes_search.regrets(TIMINGS, fitted(), speed_of(H200))
    corrected = shapes_search.regrets(TIMINGS, fitted(), speed_of(H200), errors.known(H200.name))
    assert mean_of(corrected) < mean_of(alone) - 0.01


def test_the_errors_of_the_file_are_those_of_the_timings():
    timed = (*TIMINGS, *rows.read_if_any(WAYS_FILE, shapes_search.TilingTime))
    made = shapes_search.errors_of(timed, fitted(), speed_of(H200))
    recorded = rows.read(errors.file_of(H200.name), errors.EstimateError)
    for one, other in zip(made, recorded, strict=True):
        assert replace(one, error=0) == replace(other, error=0)
        assert one.error == pytest.approx(other.error, rel=1e-2, abs=1e-6)


@pytest.fixture
def timed_once(tmp_path, monkeypatch):
    """Let the H200 have one timing, of 512³ with an error of 0.5; return its shape and tiling."""
    shape, tiling = GemmShape(512, 512, 512), next(iter(fitted().tilings["strided"])).sliced(4)
    monkeypatch.setattr(constants, "FOLDER", tmp_path)
    errors.known.cache_clear()
    row = errors.EstimateError("strided", shape, tiling, 0.5)
    rows.write(errors.file_of(H200.name), [row], errors.EstimateError)
    yield shape, tiling
    errors.known.cache_clear()


def test_an_error_counts_for_its_tiling_and_less_the_farther_a_shape_is(timed_once):
    shape, tiling = timed_once
    known = errors.known(H200.name)["strided"]
    shapes = shape, GemmShape(1024, 512, 512), GemmShape(8192, 8192, 8192)
    here, near, far = (known.factors(each)[tiling] for each in shapes)
    assert here == pytest.approx(math.exp(0.5 / 2))
    assert here > near > far > 1
    assert far == pytest.approx(1, abs=0.01)
    assert known.factors(shape)[tiling.sliced(6)] < here
    assert known.factors(shape, is_held_out=True)[tiling] == 1


def test_a_device_without_timings_has_the_estimate_alone(timed_once):
    shape, tiling = timed_once
    here, elsewhere = (
        dict(estimate.corrected(shape, "strided", device))[tiling]
        for device in (H200, replace(H200, name="Another GPU"))
    )
    assert here == pytest.approx(math.exp(0.25) * elsewhere)
    assert errors.known("Another GPU") == {}


def test_a_way_that_was_not_timed_has_the_errors_of_its_kernel(timed_once):
    shape, _ = timed_once
    times = [dict(estimate.corrected(shape, kind, H200)) for kind in ("strided", "columns, rows")]
    assert times[0] == times[1]


def test_copies_must_promise_a_tenth_where_their_stores_are_not_timed(timed_once):
    changed = 0
    for n in range(201, 1201, 50):
        shape = GemmShape(5316, n, 806)
        a, b, out = slots(*shape.__dict__.values())
        copies = routes.copies_us(shape, (a, b), out, 0.0, H200)
        with_copies = best(routes.padded(shape), "padded", H200)[1] + copies
        ratio = with_copies / best(shape, "strided", H200)[1]
        kind = routes.fastest(shape, (a, b), out, 0.0, H200).kind
        assert kind == ("wide" if ratio <= 1 / routes.UNTIMED else "strided")
        changed += 1 / routes.UNTIMED < ratio < 1
    assert changed


@pytest.mark.parametrize(("strides", "kind"), [
    (((400, 4), (400, 4)), "strided"), (((4, 400), (400, 4)), "columns, rows"),
    (((800, 8), (4, 400)), "rows, columns"), (((4, 400), (8, 800)), "columns, columns"),
])  # fmt: skip
def test_each_layout_has_errors_of_its_own(strides, kind):
    inputs = [
        Slot(number, (100, 100), each, np.dtype(np.float32)) for number, each in enumerate(strides)
    ]
    assert routes.layout(inputs) == kind


def test_a_worse_estimate_would_be_found():
    alike = {
        kind: dict.fromkeys(of_kind, shapes_search.FIRST_FACTS)
        for kind, of_kind in fitted().tilings.items()
    }
    worse = estimate.Estimate(fitted().costs, alike)
    regrets = shapes_search.regrets(TIMINGS, worse, speed_of(H200))
    assert mean_of(regrets) > 1.06


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
