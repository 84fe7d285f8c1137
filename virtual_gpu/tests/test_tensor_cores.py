"""`mma` and `ldmatrix` on the virtual GPU: who holds what, how sums round, and what is refused."""

import csv
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda, float32, uint16
from numba.types import float16

from utils.intrinsics import tensor
from utils.paths import DATA
from virtual_gpu import OutOfBounds, Unsupported, installed, register, trace
from virtual_gpu.numbers import tensor_sums
from virtual_gpu.numbers.fragments import (
    COLUMNS,
    DEPTHS,
    ROWS,
    element_of_a,
    element_of_b,
    element_of_c,
    element_of_matrix,
)
from virtual_gpu.programs.advice import advice
from virtual_gpu.tests.kernels.counted_matrices import PATTERNS
from virtual_gpu.tests.kernels.tensor_rounding import INSTRUCTIONS, LANES, bits_of, compare

ROUNDING = DATA / "measured" / "nvidia_h200" / "tensor_rounding.csv"


def read(name):
    """Return the rows of a record of the H200 as dicts."""
    with (DATA / "measured" / "nvidia_h200" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def fragments_of(matrix, element_of, size):
    """Return what each lane holds of a matrix, in the shape (32, size)."""
    return np.stack([matrix[element_of(LANES, i)] for i in range(size)], axis=1)


def matrix_of(held, element_of, shape):
    """Return the matrix of which each lane holds ``held``, in the shape (32, size)."""
    matrix = np.zeros(shape, held.dtype)
    for i in range(held.shape[1]):
        matrix[element_of(LANES, i)] = held[:, i]
    return matrix


# --- fragments -------------------------------------------------------------------------------


@pytest.mark.parametrize("k", DEPTHS)
def test_each_element_of_a_matrix_is_held_once(k):
    for element_of, shape in (
        (element_of_a, (ROWS, k)), (element_of_b, (k, COLUMNS)), (element_of_c, (ROWS, COLUMNS))
    ):  # fmt: skip
        size = shape[0] * shape[1] // 32
        held = {element_of(lane, i) for lane in range(32) for i in range(size)}
        assert held == set(np.ndindex(shape))


def test_the_maps_are_those_of_the_manual():
    # PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type".
    assert [element_of_a(5, i) for i in range(8)] == [
        (1, 2), (1, 3), (9, 2), (9, 3), (1, 10), (1, 11), (9, 10), (9, 11)
    ]  # fmt: skip
    assert [element_of_b(5, i) for i in range(4)] == [(2, 1), (3, 1), (10, 1), (11, 1)]
    assert [element_of_c(5, i) for i in range(4)] == [(1, 2), (1, 3), (9, 2), (9, 3)]


# --- mma -------------------------------------------------------------------------------------


def multiplied(kernel, a, b, c, warps=1):
    """Return the trace of one mma per warp, and the sums as a matrix (of the last warp)."""
    k = a.shape[1]
    held = [
        np.tile(fragments_of(matrix, element_of, matrix.size // 32), (warps, 1))
        for matrix, element_of in ((a, element_of_a), (b, element_of_b), (c, element_of_c))
    ]
    assert held[0].shape == (32 * warps, k // 2)
    run = trace(kernel, 1, 32 * warps, *held)
    return run, matrix_of(held[2][-32:], element_of_c, c.shape)


@pytest.mark.parametrize("instruction", INSTRUCTIONS, ids=lambda one: one.name)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=10, deadline=None)
def test_mma_of_whole_numbers_is_the_plain_product(instruction, seed):
    rng, k = np.random.default_rng(seed), instruction.k
    a, b = (rng.integers(-64, 65, shape).astype(float) for shape in ((16, k), (k, 8)))
    c = rng.integers(-99, 100, (16, 8)).astype(np.float32)
    held = [instruction.held(bits_of(matrix, instruction)) for matrix in (a, b)]
    run, sums = multiplied(instruction.kernel, *held, c)
    assert run.findings == ()
    np.testing.assert_array_equal(sums, a @ b + c)


def test_each_warp_has_matrices_of_its_own_and_counts_once():
    rng = np.random.default_rng(1)
    a, b = rng.random((16, 8)).astype(np.float16), rng.random((8, 8)).astype(np.float16)
    c = np.zeros((16, 8), np.float32)
    run, sums = multiplied(INSTRUCTIONS[0].kernel, a, b, c, warps=3)
    assert run.totals["mma"] == 3
    np.testing.assert_allclose(sums, a.astype(float) @ b.astype(float), rtol=1e-6)


# --- rounding --------------------------------------------------------------------------------


def exponent(value, least):
    return max(math.frexp(value)[1] - 1, least)


def exact_model(a, b, c, least):
    """Return the rounded sum of one element in rational numbers: the model of the two studies."""
    products = [Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a, b, strict=True)]
    exponents = [
        exponent(float(x), least) + exponent(float(y), least)
        for x, y in zip(a, b, strict=True)
        if x and y
    ]
    exponents.append(exponent(float(c), -126) if c else -133)
    unit = Fraction(2) ** (max(exponents) - 25)
    total = sum(math.trunc(term / unit) for term in (*products, Fraction(float(c)))) * unit
    if not total:
        return 0.0
    first = total.numerator.bit_length() - total.denominator.bit_length()
    first -= abs(total) < Fraction(2) ** first
    last = Fraction(2) ** (max(first, -126) - 23)
    return float(math.trunc(total / last) * last)


def any_numbers(rng, shape, dtype):
    """Return finite numbers of random bits; a third of them are 0."""
    bits = rng.integers(0, 1 << 8 * dtype().itemsize, shape).astype(f"u{dtype().itemsize}")
    values = bits.view(dtype)
    return np.where(np.isfinite(values) & (rng.random(shape) < 2 / 3), values, dtype(0))


@given(seed=st.integers(0, 2**32 - 1), bfloat16=st.booleans(), zero=st.booleans())
@settings(max_examples=20, deadline=None)
def test_a_sum_is_rounded_as_the_models_of_hopper_say(seed, bfloat16, zero):
    rng = np.random.default_rng(seed)
    a, b = (any_numbers(rng, shape, np.float16) for shape in ((1, 3, 16), (1, 16, 2)))
    if bfloat16:
        a, b = (tensor_sums.from_bfloat16(x.view(np.uint16)) for x in (a, b))
        a, b = (np.where(np.isfinite(x), x, np.float32(1)) for x in (a, b))
    c = any_numbers(rng, (1, 3, 2), np.float32) * np.float32(not zero)
    sums = tensor_sums.multiply_add(a, b, c)[0]
    for row, column in np.ndindex(3, 2):
        least = -126 if bfloat16 else -14
        model = exact_model(a[0, row], b[0, :, column], c[0, row, column], least)
        with np.errstate(over="ignore"):
            assert sums[row, column] == np.float32(model)


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_the_error_is_below_the_stated_bound(seed):
    rng = np.random.default_rng(seed)
    a, b = (rng.normal(size=shape).astype(np.float16) for shape in ((9, 16, 16), (9, 16, 8)))
    a, b = (np.where(abs(x) < 2**-14, np.float16(1), x) for x in (a, b))
    c = rng.normal(size=(9, 16, 8)).astype(np.float32)
    sums = tensor_sums.multiply_add(a, b, c)
    products = a[:, :, None, :].astype(float) * b.swapaxes(1, 2)[:, None]
    terms = np.concatenate([products, c[..., None]], axis=-1)
    largest = abs(terms).max(axis=-1)
    bound = 2.0**-23 * abs(sums) + terms.shape[-1] * 2.0**-25 * largest
    assert (abs(sums - terms.sum(axis=-1)) < bound).all()


def test_sums_are_truncated_and_not_rounded_to_nearest():
    a, b = np.zeros((1, 16, 8), np.float16), np.zeros((1, 8, 8), np.float16)
    a[0, 0, :2], b[0, :2, 0] = (1, 0.875), (1, 2.0**-23)
    c = np.zeros((1, 16, 8), np.float32)
    assert tensor_sums.multiply_add(a, b, c)[0, 0, 0] == 1
    assert tensor_sums.multiply_add(-a, b, c)[0, 0, 0] == -1


def test_infinity_and_nan_go_through():
    a, b = np.ones((1, 16, 8), np.float16), np.ones((1, 8, 8), np.float16)
    c = np.zeros((1, 16, 8), np.float32)
    a[0, 0, 3], a[0, 1, :2], b[0, 2, 5] = np.inf, (np.inf, -np.inf), np.nan
    sums = tensor_sums.multiply_add(a, b, c)[0]
    assert sums[0, 0] == np.inf
    assert np.isnan(sums[1, 0])
    assert sums[2, 5].view(np.uint32) == 0x7FFFFFFF
    assert sums[2, 0] == 8


def test_a_sum_that_float32_cannot_hold_is_infinite():
    huge = np.full((1, 16, 16), 3e38, np.float32)
    a = tensor_sums.from_bfloat16(bits_of(huge, INSTRUCTIONS[-1]))
    sums = tensor_sums.multiply_add(a, -a[:, :, :8], np.zeros((1, 16, 8), np.float32))
    assert (sums == -np.inf).all()


def test_a_sum_that_the_model_does_not_predict_is_counted_and_shown():
    def nearest(instruction, a, b, c):
        with np.errstate(all="ignore"):
            a, b = (instruction.values(bits).astype(float) for bits in (a, b))
            return (a @ b + c).astype(np.float32)

    for instruction in INSTRUCTIONS:
        with installed():
            rows = compare(instruction, warps=4)
        assert {row.differing for row in rows} == {0}
        (row,) = (row for row in compare(instruction, 4, nearest) if row.inputs == "normal numbers")
        assert row.sums / 4 < row.differing < row.sums
        assert len(row.example.split(" | ")) == 5


@pytest.mark.slow
@pytest.mark.skipif(not ROUNDING.exists(), reason="no device has been compared yet")
@pytest.mark.parametrize("instruction", INSTRUCTIONS, ids=lambda one: one.name)
def test_the_model_gives_every_bit_that_the_recorded_device_gave(instruction):
    def model(instruction, a, b, c):
        return tensor_sums.multiply_add(instruction.values(a), instruction.values(b), c)

    with ROUNDING.open(encoding="utf-8", newline="") as file:
        recorded = {(row["instruction"], row["inputs"]): row for row in csv.DictReader(file)}
    same = 0
    for row in compare(instruction, run=model):
        record = recorded[row.instruction, row.inputs]
        if int(record["inputs_crc"]) == row.inputs_crc:  # this NumPy draws the same numbers
            assert (row.inputs, row.sums_crc) == (record["inputs"], int(record["sums_crc"]))
            same += row.sums
    if not same:
        pytest.skip("This version of NumPy draws other numbers.")


# --- ldmatrix --------------------------------------------------------------------------------


@cuda.jit
def four_matrices(x, rows, out):
    tile = cuda.shared.array((64, 8), float16, alignment=16)
    part = cuda.local.array(8, float16)
    t = cuda.threadIdx.x
    for i in range(t, 64 * 8, 32):
        tile[i // 8, i % 8] = x[i // 8, i % 8]
    cuda.syncthreads()
    tensor.ldmatrix_x4(part, tile, (rows[t], 0))
    for i in range(8):
        out[0, t, i] = part[i]
    tensor.ldmatrix_x4_trans(part, tile, (rows[t], 0))
    for i in range(8):
        out[1, t, i] = part[i]


@cuda.jit
def two_matrices(x, rows, out):
    tile = cuda.shared.array((64, 8), uint16, alignment=16)
    part = cuda.local.array((2, 2, 2), uint16)
    t = cuda.threadIdx.x
    for i in range(t, 64 * 8, 32):
        tile[i // 8, i % 8] = x[i // 8, i % 8]
    cuda.syncthreads()
    tensor.ldmatrix_x2(part[0], tile, (rows[t], 0))
    tensor.ldmatrix_x2_trans(part[1], tile, (rows[t], 0))
    for i in range(8):
        out[i // 4, t, i % 4] = part[i // 4, i // 2 % 2, i % 2]


@pytest.mark.parametrize(
    ("kernel", "matrices", "dtype"),
    [(four_matrices, 4, np.float16), (two_matrices, 2, np.uint16)],
)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=5, deadline=None)
def test_ldmatrix_deals_rows_and_columns_of_each_matrix(kernel, matrices, dtype, seed):
    rng = np.random.default_rng(seed)
    x = rng.permutation(512).reshape(64, 8).astype(dtype)
    rows, out = rng.integers(0, 64, 32), np.zeros((2, 32, 2 * matrices), dtype)
    run = trace(kernel, 1, 32, x, rows, out)
    assert run.findings == ()
    for matrix in range(matrices):
        given_rows = x[rows[8 * matrix : 8 * matrix + 8]]
        for i in range(2):
            row, column = element_of_matrix(LANES, i)
            got = out[:, :, 2 * matrix + i]
            np.testing.assert_array_equal(got, [given_rows[row, column], given_rows[column, row]])


def test_lanes_that_give_no_row_may_have_any_position():
    x = np.arange(512, dtype=np.uint16).reshape(64, 8)
    rows = np.where(LANES < 16, LANES, 9999)
    run = trace(two_matrices, 1, 32, x, rows, np.zeros((2, 32, 4), np.uint16))
    assert run.findings == ()
    counts = [one for one in run.access_counts if one.instruction == "ldmatrix"]
    # All lanes execute the instruction, and half of them give rows.
    assert [(one.lanes, one.bytes, one.wavefronts) for one in counts] == [(32, 256, 2)] * 2


@cuda.jit
def strided_rows(x, pitch, out):
    tile = cuda.shared.array(8192, float16, alignment=16)
    part = cuda.local.array(8, float16)
    t = cuda.threadIdx.x
    for i in range(t, 8192, 32):
        tile[i] = 0
    cuda.syncthreads()
    tensor.ldmatrix_x4(part, tile, t * pitch)
    out[t] = part[0]


@pytest.mark.parametrize(("pitch", "wavefronts"), [(8, 4), (16, 8), (64, 32), (72, 4), (0, 4)])
def test_the_eight_rows_of_each_matrix_are_one_pass_without_conflicts(pitch, wavefronts):
    run = trace(strided_rows, 1, 32, np.zeros(1, np.float16), pitch, np.zeros(32))
    (access,) = (one for one in run.access_counts if one.instruction == "ldmatrix")
    assert (access.requests, access.wavefronts, access.fewest_wavefronts) == (1, wavefronts, 4)
    assert access.bytes == 512
    hints = [hint for hint in run.hints if hint.array == "tile" and "ldmatrix" in hint.message]
    assert bool(hints) == (wavefronts >= 8)
    assert all(hint.site.source == access.site.source for hint in hints)
    assert all("8 more elements" in advice(hint) for hint in hints)


@pytest.mark.parametrize("row", read("ldmatrix.csv"), ids=lambda row: row["pattern"])
def test_the_cost_of_ldmatrix_is_what_the_profiler_counted(row):
    kernel, positions = PATTERNS[row["pattern"]]
    run = trace(kernel, 1, 64, positions, np.zeros(64, np.float32))
    (access,) = (one for one in run.access_counts if one.instruction == "ldmatrix")
    assert access.requests == int(row["requests"])
    assert access.wavefronts == int(row["wavefronts"])
    assert access.wavefronts - access.fewest_wavefronts == int(row["bank_conflicts"])


# --- what is refused and reported ------------------------------------------------------------


@cuda.jit
def without_some_lanes(first, last, out):
    of_a = cuda.local.array(4, float16)
    of_b = cuda.local.array(2, float16)
    sums = cuda.local.array(4, float32)
    t = cuda.threadIdx.x
    for i in range(4):
        of_a[i] = sums[i] = 1
    for i in range(2):
        of_b[i] = 1
    if t < first or t > last:
        tensor.mma_m16n8k8(sums, of_a, of_b)
    out[t] = sums[0]


@pytest.mark.parametrize(
    ("first", "last", "named"),
    [(31, 31, "lane 31"), (8, 15, "lanes 8 to 15"), (4, 5, "lanes 4, 5")],
)
def test_a_warp_with_missing_lanes_is_named_with_them(first, last, named):
    (finding,) = trace(without_some_lanes, 1, 32, first, last, np.zeros(32)).findings
    assert finding.kind == "barrier"
    assert "tensor.mma_m16n8k8" in finding.site.source
    assert f"comes here without {named} of its warp: all 32 lanes must take part" in str(finding)
    assert advice(finding) == "Call the function outside of the if, in blocks of whole warps."


def test_whole_warps_may_stay_away():
    out = np.zeros(96)
    run = trace(without_some_lanes, 1, 96, 32, 63, out)
    assert run.findings == ()
    assert run.totals["mma"] == 2
    np.testing.assert_array_equal(out, np.repeat([9, 1, 9], 32))


@dataclass(frozen=True)
class Arrays:
    """The arrays of the kernel below, as the machine sees them."""

    part: object  # local, float16
    column: object  # a column of a local array
    sums: object  # local, float32
    tile: object  # shared, float16
    words: object  # shared, float32
    x: object  # global, float16


REFUSED = (
    (lambda machine, of: machine.load_matrices(of.part, of.words, (0, 0), 4), "not float32"),
    (lambda machine, of: machine.load_matrices(of.part, of.x, (0, 0), 4), "in shared memory"),
    (lambda machine, of: machine.load_matrices(of.part, of.part, 0, 4), "one index per dimension"),
    (lambda machine, of: machine.load_matrices(of.part, of.tile, 0, 4), "one index per dimension"),
    (lambda machine, of: machine.load_matrices(of.tile, of.tile, (0, 0), 4), "is a local array"),
    (lambda machine, of: machine.load_matrices(of.column, of.tile, (0, 0), 4), "be neighbours"),
    (lambda machine, of: machine.load_matrices(of.sums, of.tile, (0, 0), 4), "sums are float32"),
    (lambda machine, of: machine.mma(of.sums, of.part, of.part, 16, True), "part are float16"),
    (lambda machine, of: machine.mma(of.part, of.part, of.part, 16), "part are float16"),
    (lambda machine, of: machine.mma(of.sums, of.part, of.tile, 16), "is a local array"),
)


def use(number, part, column, sums, tile, words, x):
    """Do what the entry of REFUSED with this number does; only the virtual GPU knows how."""


@cuda.jit
def hand_over(x, number):
    tile = cuda.shared.array((16, 16), float16)
    words = cuda.shared.array((16, 16), float32)
    part = cuda.local.array((4, 8), float16)
    sums = cuda.local.array(4, float32)
    use(number, part[0], part[:, 0], sums, tile, words, x)


register(use, lambda machine, number, *arrays: REFUSED[int(number)][0](machine, Arrays(*arrays)))


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_arrays_that_the_instruction_does_not_take_are_refused(number):
    with pytest.raises(Unsupported, match=REFUSED[number][1]):
        trace(hand_over, 1, 32, np.zeros((16, 16), np.float16), number)


@cuda.jit
def too_few(x, out):
    of_a = cuda.local.array((1, 4), float16)
    of_b = cuda.local.array((1, 4), float16)
    sums = cuda.local.array(4, float32)
    for i in range(4):
        of_a[0, i] = of_b[0, i] = x[i]
        sums[i] = 0
    tensor.mma_m16n8k16(sums, of_a, of_b)
    out[0] = sums[0]


def test_a_fragment_with_too_few_elements_is_out_of_bounds():
    with pytest.raises(OutOfBounds, match=r"uses of_a\[1, 0\]; dimension 0 of of_a has 1 element"):
        installed_launch(too_few, np.ones(4, np.float16), np.zeros(1))


def installed_launch(kernel, *arguments):
    with installed():
        kernel[1, 32](*arguments)


# --- what is shown ---------------------------------------------------------------------------


@cuda.jit
def rows_of_an_odd_array(first, out):
    tile = cuda.shared.array(100, float16, alignment=16)
    part = cuda.local.array(4, float16)
    t = cuda.threadIdx.x
    for i in range(t, 100, 32):
        tile[i] = 1
    cuda.syncwarp()
    tensor.ldmatrix_x2(part, tile, first + t % 11 * 8)
    out[cuda.grid(1)] = part[0]


def test_each_block_has_an_aligned_array_of_any_size():
    assert trace(rows_of_an_odd_array, 3, 32, 0, np.zeros(96)).findings == ()
    (finding,) = trace(rows_of_an_odd_array, 3, 32, 4, np.zeros(96)).findings
    assert finding.kind == "out_of_bounds"
    assert "from element 4 on, which is no multiple of 8: the address is misaligned" in str(finding)


@cuda.jit
def without_alignment(x, out):
    plain = cuda.shared.array((16, 8), float16)
    half = cuda.shared.array((16, 8), float16, alignment=8)
    whole = cuda.shared.array((16, 8), float16, alignment=16)
    part = cuda.local.array(4, float16)
    t = cuda.threadIdx.x
    for i in range(t, 128, 32):
        plain[i // 8, i % 8] = half[i // 8, i % 8] = whole[i // 8, i % 8] = 0
    cuda.syncwarp()
    for _ in range(2):
        tensor.ldmatrix_x2(part, plain, (t % 16, 0))
        out[t] = part[0]
        tensor.ldmatrix_x2(part, half, (t % 16, 0))
        out[t] += part[0]
        tensor.ldmatrix_x2(part, whole, (t % 16, 0))
        out[t] += part[0]


def test_a_shared_array_that_may_not_be_aligned_gets_one_hint():
    hints = trace(without_alignment, 1, 32, np.zeros(1), np.zeros(32)).hints
    hints = [hint for hint in hints if hint.kind == "unaligned_array"]
    assert [hint.array for hint in hints] == ["plain", "half"]
    assert [hint.figures["alignment"] for hint in hints] == [2, 8]
    assert hints[0].message == (
        "ldmatrix of plain needs an address that is a multiple of 16 bytes, and plain is only "
        "aligned to 2: declare it with alignment=16"
    )


def test_a_recording_has_the_rows_of_ldmatrix_and_the_products():
    x, rows = np.zeros((64, 8), np.float16), LANES
    run = trace(four_matrices, 1, 32, x, rows, np.zeros((2, 32, 8), np.float16), record=0)
    events = [event for event in run.recording.events if event.width == 8]
    assert [(event.kind, event.array) for event in events] == [("load", "tile")] * 2
    np.testing.assert_array_equal(events[0].first, 8 * rows)

    run = trace(without_some_lanes, 1, 64, 0, 31, np.zeros(64), record=0)
    (event,) = (event for event in run.recording.events if event.kind == "mma")
    np.testing.assert_array_equal(event.first >= 0, np.arange(64) >= 32)
    assert "multiply two small matrices" in run.movie()._repr_html_()


def test_the_counts_are_in_the_tables_and_beside_the_source():
    run = trace(without_some_lanes, 1, 64, 0, 31, np.zeros(64))
    lines = run.lines.set_index("source")
    (line,) = (source for source in lines.index if "mma_m16n8k8" in source)
    assert lines.loc[line, "mma"] == 1
    head = str(run).split("without_some_lanes")[1]
    assert "mma" in head
    assert (run.accesses["instruction"] == run.accesses["kind"]).all()
