"""The timings of random shapes: what is timed is the product, and each way has its arrays."""

import numpy as np
import pytest
from numba import cuda

from gemm_kernels.dispatch import estimate
from gemm_kernels.dispatch.estimate import KINDS, WAYS
from gemm_kernels.parts.strided import Tiling
from gemm_kernels.tuning import shapes_search
from utils.ladder.problems import draw
from utils.ladder.shapes import GemmShape
from utils.machine import devices

H200 = devices.find(devices.REFERENCE)
TILING = Tiling(64, 32, 8, 8, 4, 8, SLICES=2)
PLACES = {"rows": np.ascontiguousarray, "columns": np.asfortranarray}


@pytest.fixture
def bound(monkeypatch):
    """Keep what a search would time: a list of (kind, tiling, shape, arrays), on the host."""
    kept = []

    def keep(*arguments):
        kept.append(arguments)

    monkeypatch.setattr(
        shapes_search, "matrix", lambda _, sides, layout: PLACES[layout](np.zeros(sides))
    )
    monkeypatch.setattr(shapes_search, "_bound", keep)
    monkeypatch.setattr(shapes_search, "_burst_us", lambda call: 1.0)
    monkeypatch.setattr(shapes_search, "shapes", lambda *_: [(GemmShape(35, 42, 66), "", "")])
    return kept


@pytest.mark.parametrize("kind", [*KINDS, *WAYS])
def test_what_is_timed_is_the_product(kind):
    width, n = {"wide": (44, 44), "padded": (44, 42)}.get(kind, (42, 42))
    a, b = draw("integers", (33, 64), 1), draw("integers", (64, width), 2)
    layouts = shapes_search.LAYOUTS_OF.get(kind, ("rows", "rows"))
    inputs = [cuda.to_device(PLACES[layout](x)) for layout, x in zip(layouts, (a, b), strict=True)]
    out = cuda.to_device(np.full((33, n), np.nan, np.float32))
    shapes_search._bound(kind, TILING, GemmShape(33, n, 64), (*inputs, out))()
    np.testing.assert_array_equal(out.copy_to_host(), (a @ b)[:, :n])


@pytest.mark.parametrize("ways", [False, True])
def test_each_kind_is_timed_with_its_arrays(bound, ways):
    timed = list(shapes_search.timings(1, 7, H200, ways))
    assert {each.kind for each in timed} == set(WAYS if ways else KINDS)
    for kind, _, shape, (a, b, out) in bound:
        wide = kind in ("wide", "padded")
        assert (a.shape, b.shape) == (((35, 68), (68, 44)) if wide else ((35, 66), (66, 42)))
        assert out.shape == (shape.m, shape.n) == (35, 44 if kind == "wide" else 42)
        of_a, of_b = shapes_search.LAYOUTS_OF.get(kind, ("rows", "rows"))
        assert (a.flags.f_contiguous, b.flags.f_contiguous) == (
            of_a == "columns",
            of_b == "columns",
        )


def test_ways_are_timed_only_with_candidates_that_may_be_chosen(bound):
    (*_, some) = (len(list(shapes_search.timings(1, 7, H200, ways))) for ways in (False, True))
    kinds = [kind for kind, *_ in bound]
    assert 0 < kinds.count("columns, rows") < kinds.count("strided") / 2
    assert some == sum(map(kinds.count, WAYS))
    shape = GemmShape(35, 42, 66)
    chosen = estimate.best(shape, "columns, rows", H200)[0]
    assert ("columns, rows", chosen, shape) in [one[:3] for one in bound]
