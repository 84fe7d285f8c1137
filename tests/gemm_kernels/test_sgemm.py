"""The function sgemm: any shape and layout, alpha and beta as in BLAS; and its tilings."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda
from numpy.lib.stride_tricks import as_strided

from gemm_kernels import LADDER, run, sgemm
from gemm_kernels.autotuned import STEP
from gemm_kernels.parts import slices
from gemm_kernels.parts.slices import cut
from tests.steps_edited import edited_step
from utils.errors import CourseError
from utils.ladder.problems import draw
from utils.ladder.shapes import GemmShape
from utils.ladder.verify import verify_all
from utils.launching import arrays, slots
from utils.launching.plan import Plans
from virtual_gpu.common.errors import Race
from virtual_gpu.host.hostarrays import DeviceArray

LAYOUTS = {
    "rows": lambda x: x,
    "columns": np.asfortranarray,
    "every other": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "backwards": lambda x: np.ascontiguousarray(x[::-1])[::-1],
}
TILINGS = {
    "in halves": {"BM": 64, "BK": 8, "TM": 16, "BLOCKS": 4, "SLICES": 2},
    "in eight": {"BM": 64, "BN": 64, "BK": 8, "TM": 8, "BLOCKS": 6, "SLICES": 8},
    "rows from below": {"BM": 64, "BN": 32, "TM": 8, "TN": 4, "BLOCKS": 8, "ORDER": 1},
    "large": {"BM": 128, "TM": 16, "BLOCKS": 2},
    "three blocks": {},
}


@settings(max_examples=25, deadline=None)
@given(
    size=st.tuples(*[st.integers(1, 45)] * 3),
    layouts=st.tuples(*[st.sampled_from(sorted(LAYOUTS))] * 2),
    alpha=st.sampled_from([1, 0, -2]),
    beta=st.sampled_from([0, 1, 3]),
)
def test_any_shape_layout_alpha_and_beta_give_what_blas_gives(size, layouts, alpha, beta):
    m, n, k = size
    a, b = (LAYOUTS[name](draw("integers", shape, seed)) for name, shape, seed in zip(
        layouts, ((m, k), (k, n)), (1, 2)))  # fmt: skip
    before = draw("integers", (m, n), 3) if beta else np.full((m, n), np.nan, np.float32)
    out = before.copy()
    assert sgemm(a, b, out, alpha, beta) is out
    expected = alpha * (a @ b) + (beta * before if beta else 0)
    np.testing.assert_array_equal(out, expected.astype(np.float32))


@pytest.mark.parametrize("m, n, k", [(33, 12, 8), (30, 32, 520)])
def test_alpha_is_left_to_the_kernel_where_nothing_else_is_to_do(m, n, k, monkeypatch):
    monkeypatch.setattr(sys.modules["gemm_kernels.sgemm"], "blend", None)
    a, b = draw("integers", (m, k), seed=1), draw("integers", (k, n), seed=2)
    np.testing.assert_array_equal(sgemm(a, b, alpha=-2.0), -2 * (a @ b))


def test_a_new_array_lies_where_the_inputs_do():
    a, b = draw("integers", (5, 8), 1), draw("integers", (8, 4), 2)
    assert isinstance(sgemm(a, b), np.ndarray)
    on_device = sgemm(cuda.to_device(a), b)
    np.testing.assert_array_equal(on_device.copy_to_host(), a @ b)


def test_nothing_is_read_that_blas_would_not_read():
    a, nan = np.ones((3, 4), np.float32), np.full((4, 3), np.nan, np.float32)
    np.testing.assert_array_equal(sgemm(a, nan, alpha=0), np.zeros((3, 3), np.float32))
    empty = np.zeros((3, 0), np.float32)
    out = np.full((3, 2), 2, np.float32)
    sgemm(empty, empty.T[:, :2], out, beta=2)
    np.testing.assert_array_equal(out, 4)
    assert sgemm(empty.T, a).shape == (0, 4)


def test_nan_and_infinity_go_through_and_padding_adds_none():
    a, b = draw("integers", (3, 5), 1), draw("integers", (5, 3), 2)
    a[0, 4], b[4, 1] = np.inf, np.nan
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(sgemm(a, b), a @ b)


def read_only(x: np.ndarray) -> np.ndarray:
    """Return a copy that must not be written."""
    copy = x.copy()
    copy.flags.writeable = False
    return copy


A, B = np.zeros((3, 4), np.float32), np.zeros((4, 5), np.float32)
W, S = np.ones((64, 128), np.float32), np.ones((64, 64), np.float32)
S4 = np.ones((4, 4), np.float32)
REFUSED = {
    "float64": ((A.astype(float), B), r"a holds float64, .* use a.astype\(np.float32\)"),
    "a vector": ((A, B[:, 0]), r"b has the shape \(4,\), and 2 dimensions"),
    "a list": (([[1.0]], B), "a is a list"),
    "no chain": ((A, A), "a is 3×4 and b is 3×4"),
    "another out": ((A, B, A), "out is 3×4 and the product is 3×5"),
    "beta without out": ((A, B, None, 1, 1), "beta is 1 and there is no out"),
    "out is a": ((np.zeros((4, 4), np.float32),) * 3, "out shares memory with a"),
    "out in a": ((W[:, :64], S, W[:, 63:127]), "out shares memory with a"),
    "a mask": ((np.ma.masked_array(S, S > 0), S), r"a is a MaskedArray, .* use a.filled\(...\)"),
    "read-only out": ((S, S, read_only(S)), "out is read-only, and the product is written there"),
    "one row in out": (
        (S, S, as_strided(np.zeros(64, np.float32), (64, 64), (0, 4))),
        r"Several elements of out have the same address, by its strides \(0, 4\)",
    ),
    "rows of out that meet": (
        (S, S, as_strided(np.zeros(8192, np.float32), (64, 64), (8, 4))),
        "have the same address",
    ),
    "text as alpha": ((S, S, None, "2"), "alpha is a str, and a real number is needed: use float"),
    "nothing as alpha": ((S, S, None, None), "alpha is a NoneType, and a real number is needed"),
    "a list as beta": ((S, S, S.copy(), 1, [2.0]), "beta is a list, and a real number is needed"),
    "an array as alpha": ((S, S, None, np.array([2.0])), "alpha is a ndarray, and a real number"),
    "complex alpha": ((S, S, None, 1j), "alpha is a complex, and a real number"),
}


@pytest.mark.parametrize("arguments, sentence", REFUSED.values(), ids=REFUSED)
def test_what_is_no_product_is_refused_with_what_to_do(arguments, sentence):
    with pytest.raises(CourseError, match=sentence):
        sgemm(*arguments)


@pytest.mark.parametrize("arguments, sentence", [
    ((S.astype(float), S), r"use cuda.to_device\(a.copy_to_host\(\).astype\(np.float32\)\)"),
    ((S, S, None, "2"), "alpha is a str"),
    ((S, S, None, None), "alpha is a NoneType"),
    ((S, S, None, np.array([2.0])), "alpha is a ndarray"),
])  # fmt: skip
def test_device_arrays_are_refused_in_the_words_of_their_library(arguments, sentence):
    a, b, _, *factors = *map(cuda.to_device, arguments[:2]), None, *arguments[3:]
    out = cuda.device_array((64, 64), np.float32)
    sgemm(cuda.to_device(S4), cuda.to_device(S4), cuda.device_array((4, 4), np.float32), 2.0)
    for _ in range(2):
        with pytest.raises(CourseError, match=sentence):
            sgemm(a, b, out, *factors)


def test_a_factor_that_is_no_number_is_refused_by_a_plan_that_is_there():
    a, out = cuda.to_device(S4), cuda.device_array((4, 4), np.float32)
    sgemm(a, a, out, 2.0)
    for wrong in (None, "2"):
        with pytest.raises(CourseError, match=r"alpha is a .* and a real number is needed"):
            sgemm(a, a, out, wrong)


class Tensor0:
    """A number in an array without dimensions; comparing it gives another one, as PyTorch does."""

    shape, dtype = (), "torch.float32"

    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return Tensor0(self.number == other)

    __hash__ = object.__hash__

    def __float__(self):
        return float(self.number)


def test_a_factor_without_dimensions_is_its_number_and_makes_one_plan(monkeypatch):
    plans = Plans()
    monkeypatch.setattr(sys.modules["gemm_kernels.sgemm"], "PLANS", plans)
    a, out = cuda.to_device(S4), cuda.device_array((4, 4), np.float32)
    for factor in (*map(Tensor0, (2.0, 3.0, 4.0)), np.array(5.0)):
        sgemm(a, a, out, factor)
        np.testing.assert_array_equal(out.copy_to_host(), 4 * float(factor))
    assert len(plans) == 1


# Two parts of one 12×12 array that have no element in common, each 6×6 or 12×6.
APART = {
    "left and right": lambda w: (w[:6, :6], w[:6, 6:]),
    "right and left": lambda w: (w[:6, 6:], w[:6, :6]),
    "even and odd columns": lambda w: (w[:6, ::2], w[:6, 1::2]),
    "even and odd rows": lambda w: (w[::2, :6], w[1::2, :6]),
}


@pytest.mark.parametrize("parts", APART.values(), ids=APART)
@pytest.mark.parametrize("place", [np.copy, cuda.to_device], ids=["host", "device"])
def test_parts_of_one_array_without_a_common_element_are_input_and_out(parts, place):
    before, factor = draw("integers", (12, 12), 1), draw("integers", (6, 6), 2)
    whole = place(before)
    given, out = parts(whole)
    assert sgemm(given, place(factor), out) is out
    after = whole if isinstance(whole, np.ndarray) else whole.copy_to_host()
    expected, changed = before.copy(), parts(before)[0] @ factor
    parts(expected)[1][:] = changed
    np.testing.assert_array_equal(after, expected)
    with pytest.raises(CourseError, match="out shares memory with b"):
        sgemm(given, out, out)


def test_an_overlap_that_takes_too_long_to_decide_is_refused_as_possible(monkeypatch):
    monkeypatch.setattr(slots, "MOST_WORK", 0)
    given, out = APART["even and odd columns"](np.zeros((12, 12), np.float32))
    with pytest.raises(CourseError, match="out may share memory with a"):
        sgemm(given, np.eye(6, dtype=np.float32), out)


@pytest.mark.skipif(cuda.is_available(), reason="arrays of the virtual GPU")
def test_elements_between_multiples_of_four_bytes_are_refused():
    record = np.zeros((4, 4), [("x", np.float32), ("y", np.int16)])
    x = DeviceArray.over(record["x"])
    with pytest.raises(CourseError, match="Elements of a begin between multiples of 4 bytes"):
        sgemm(x, cuda.to_device(S4), cuda.device_array((4, 4), np.float32))


def test_a_new_array_waits_for_the_stream_of_its_product():
    stream = cuda.stream() if cuda.is_available() else cuda.external_stream(5)
    product = sgemm(cuda.to_device(S4), S4, stream=stream)
    assert arrays.stream_handle(product.stream) == arrays.stream_handle(stream)


@pytest.mark.parametrize("constants", TILINGS.values(), ids=TILINGS)
@pytest.mark.parametrize("m, n, k", [(1, 4, 4), (130, 132, 20), (65, 260, 44)])
def test_every_tiling_is_right_with_and_without_slices(constants, m, n, k):
    variant = STEP.variant(**constants)
    (verdict,) = verify_all(LADDER, [variant], GemmShape(m, n, k))
    assert verdict.passed, verdict


WRONG_AUTOTUNED = {
    "a step left out": ("multiply_of(BK,", "multiply_of(BK - 2,"),
    "a tile left out": ("uint32(end - begin)", "uint32(end - begin - 1)"),
}


@pytest.mark.parametrize("old, new", WRONG_AUTOTUNED.values(), ids=WRONG_AUTOTUNED)
def test_a_wrong_autotuned_would_be_found(old, new):
    variant = edited_step(STEP, old, new).variant(**TILINGS["in halves"])
    (verdict,) = verify_all(LADDER, [variant], GemmShape(130, 132, 20), kinds=("integers",))
    assert not verdict.passed


@pytest.mark.skipif(cuda.is_available(), reason="a real GPU does not see races")
def test_slices_that_lie_in_one_place_would_be_found():
    step = edited_step(STEP, "(piece - 1) * (down * across - whole) + tile", "tile")
    with pytest.raises(Race, match="nothing orders these two blocks"):
        verify_all(LADDER, [step.variant(**TILINGS["in eight"])], GemmShape(30, 32, 64))


@pytest.mark.parametrize("cut_tiles", [(30, 32, 64), (130, 132, 260)], ids=["all", "the rest"])
def test_slices_are_added_and_it_would_be_found_if_they_were_not(cut_tiles, monkeypatch):
    tiling = TILINGS["in eight"]
    (verdict,) = verify_all(LADDER, [STEP.variant(**tiling)], GemmShape(*cut_tiles))
    assert verdict.passed
    nothing = cuda.jit(lambda c, partials, m, n, whole: None)
    monkeypatch.setattr(slices, "add_slices", lambda *constants: nothing)
    (verdict,) = verify_all(LADDER, [STEP.variant(**tiling)], GemmShape(*cut_tiles))
    assert not verdict.passed


@given(
    tiles=st.integers(1, 5000),
    slots=st.integers(1, 1200),
    steps=st.integers(1, 600),
    requested=st.integers(1, 16),
)
def test_whole_rounds_are_not_cut_and_each_slice_has_a_step(tiles, slots, steps, requested):
    plan = cut(tiles, slots, steps, requested)
    assert 1 <= plan.slices <= steps
    assert plan.whole == (tiles if plan.slices == 1 else tiles // slots * slots)


def test_the_rest_of_4096_is_cut_in_quarters():
    plan = cut(tiles=1376, slots=396, steps=256, slices=1)
    assert (plan.whole, plan.slices) == (1188, 4)
    assert plan.blocks(1376) == 1188 + 188 * 4


def test_a_slice_is_long_enough_to_be_worth_storing():
    assert cut(tiles=1376, slots=396, steps=40, slices=1).slices == 2
    assert cut(tiles=1376, slots=396, steps=20, slices=1).slices == 1


def test_a_full_last_round_is_not_cut():
    assert cut(tiles=264, slots=132, steps=64, slices=4).slices == 1


def test_autotuned_lets_the_table_choose_and_takes_what_is_asked_for():
    variant = STEP.variant()
    assert variant.at(GemmShape(256, 256, 256)).constants == STEP.constants(
        **STEP.choose(GemmShape(256, 256, 256))
    )
    requested = STEP.variant(**TILINGS["large"])
    assert requested.at(GemmShape(256, 256, 256)) is requested
    a, b = draw("integers", (7, 8), 1), draw("integers", (8, 12), 2)
    np.testing.assert_array_equal(run("autotuned", a, b, **TILINGS["large"]), a @ b)


def test_each_host_array_is_looked_at_once(monkeypatch):
    looked_at = []

    def look(array):
        looked_at.append(array)
        return arrays.look(array)

    monkeypatch.setattr(sys.modules["gemm_kernels.sgemm"], "look", look)
    monkeypatch.setattr(arrays, "argument", lambda array: arrays.Argument(array, *look(array)))
    a, b, out = draw("integers", (8, 5), 1), draw("integers", (5, 12), 2), np.zeros((8, 12), "f4")
    assert sgemm(a, b, out) is out
    np.testing.assert_array_equal(out, a @ b)
    for array in (a, b, out):
        assert sum(one is array for one in looked_at) == 1
