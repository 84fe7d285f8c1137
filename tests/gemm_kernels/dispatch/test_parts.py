"""Products of arrays that are too large for offsets of 32 bits, planned on paper and in parts."""

import itertools
import sys

import numpy as np
import pytest
from numba import cuda

from gemm_kernels import sgemm
from gemm_kernels.dispatch import parts, routes
from tools.paper_driver import installed
from utils.division import cdiv
from utils.ladder.problems import draw
from utils.launching import plan
from utils.launching.slots import Slot
from utils.launching.workspace import WorkspaceLayout

# `from gemm_kernels import sgemm` is the function.
MODULE = sys.modules["gemm_kernels.sgemm"]
ITEM = 4
LIMIT = 1 << 32
HUGE = [
    (66000, 66000, 16), (131080, 32800, 8), (3, 2147483653, 1), (3, 1, 2147483653),
    (1, 4294967304, 1), (4294967304, 1, 1), (1, 1, 4294967304), (65536, 65536, 4),
    (65537, 65535, 7), (2, 2147483648, 3), (2147483648, 2, 3), (2147483649, 1, 2),
    (1, 2147483649, 2), (100000, 3, 100000), (3, 100000, 100000), (92682, 92682, 1),
    (1073741825, 4, 1), (1, 4, 1073741825), (4294967295, 1, 1), (1, 4294967295, 1),
    (1, 1, 4294967295), (131072, 131072, 2), (70001, 61357, 64), (600000, 8192, 8192),
    (65536, 65537, 1), (65537, 65536, 1), (65536, 1, 65537), (1, 65536, 65537), (4, 1073741825, 1),
    (4, 1, 1073741825), (5, 4, 858993460), (858993460, 5, 4), (4, 858993460, 5), (7, 613566757, 9),
    (613566757, 7, 9), (9, 7, 613566757), (131071, 32769, 33), (32769, 131071, 33),
    (46341, 92682, 5), (92682, 5, 46341), (200000, 200000, 3), (3, 200000, 200000),
    (200000, 3, 200000), (1000003, 4297, 11), (4297, 1000003, 11), (11, 4297, 1000003),
    (16777216, 257, 2),
]  # fmt: skip
LAYOUTS = {
    "rows": lambda m, n: (n * ITEM, ITEM),
    "columns": lambda m, n: (ITEM, m * ITEM),
    "gaps": lambda m, n: ((n + 3) * ITEM, ITEM),
}
# Each shape has the layout of a and b, and that of out, that follow those of the shape before it.
CASES = [(shape, *layouts) for shape, layouts in zip(HUGE, itertools.cycle(
    [("rows", "rows"), ("columns", "gaps"), ("gaps", "columns"), ("rows", "columns")]
), strict=False)]  # fmt: skip


def slots_of(shape, of_a, of_out):
    m, n, k = shape
    sides = ((m, k), of_a), ((k, n), of_a), ((m, n), of_out)
    return [
        Slot(number, size, LAYOUTS[layout](*size), np.dtype(np.float32))
        for number, (size, layout) in enumerate(sides)
    ]


@pytest.mark.parametrize("shape, of_a, of_out", CASES)
def test_each_array_of_a_huge_product_has_offsets_of_32_bits(shape, of_a, of_out):
    a, b, out = slots_of(shape, of_a, of_out)
    calls = MODULE._calls(a, b, out, 1.0, 0.0, WorkspaceLayout(first=3))
    flat = [each for call in calls for each in call.arguments if isinstance(each, Slot)]
    copies = MODULE.fitted, MODULE.fitted_both, MODULE.blend  # these have offsets of 64 bits
    for call in calls:
        if call.kernel not in copies:
            assert all(each.size < LIMIT for each in call.arguments if isinstance(each, Slot))
    for whole in (a, b, out):
        ends = [each.offset + each.extent[1] for each in flat if each.number == whole.number]
        assert max(ends) == whole.extent[1]
        assert min(each.offset for each in flat if each.number == whole.number) == 0


@pytest.mark.parametrize("shape, of_a, of_out", CASES)
def test_parts_of_a_huge_product_cover_it_once(shape, of_a, of_out):
    a, b, out = slots_of(shape, of_a, of_out)
    sizes = parts.sizes_of_a_part(a, b, out)
    assert max(sizes) <= LIMIT // 2
    work, begun = 0, []
    for first, of_a, of_b, of_out in parts.parts_of(a, b, out, sizes):
        (rows, columns), depth = of_out.shape, of_a.shape[1]
        assert (of_a.shape, of_b.shape) == ((rows, depth), (depth, columns))
        work += rows * columns * depth
        if first:
            begun.append(of_out.offset)
        assert begun[-1] == of_out.offset
    assert work == np.prod(shape, dtype=object)
    assert len(set(begun)) == len(begun)


@pytest.mark.parametrize("shape", [(64, 64, 64), (2049, 2049, 2049), (65535, 65535, 8)])
def test_what_fits_is_one_product(shape):
    m, n, k = shape
    assert parts.sizes_of_a_part(*slots_of(shape, "rows", "rows")) == (m, n, k)


SMALL = {
    "rows": lambda x: x,
    "columns": np.asfortranarray,
    "backwards": lambda x: np.ascontiguousarray(x[::-1])[::-1],
    "every other": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
}


def _device(layout, x):
    made = SMALL[layout](x)
    whole = made if made.base is None else made.base
    if layout == "backwards":
        return cuda.to_device(whole)[::-1]
    if layout == "every other":
        return cuda.to_device(whole)[:, ::2]
    return cuda.to_device(made)


@pytest.fixture(params=[False, True], ids=["numba", "packed"])
def few_elements(request, monkeypatch):
    """Fewer than 40 elements per array, by Numba's launches and by packed arguments."""
    monkeypatch.setattr(routes, "MOST_ELEMENTS", 40)
    monkeypatch.setattr(MODULE, "PLANS", plan.Plans())
    if not request.param:
        yield
    elif cuda.is_available():
        pytest.skip("a real driver is there")
    else:
        with installed(monkeypatch):
            yield


@pytest.mark.parametrize("of_a, of_out, alpha, beta", [
    ("rows", "rows", 1, 0), ("backwards", "rows", -2, 3), ("every other", "columns", -2, 3),
])  # fmt: skip
def test_a_product_in_parts_is_the_product(few_elements, of_a, of_out, alpha, beta):
    m, n, k = 9, 4, 12
    a, b, before = (draw("integers", size, seed) for seed, size in enumerate(
        ((m, k), (k, n), (m, n))))  # fmt: skip
    out = _device(of_out, before)
    assert sgemm(_device(of_a, a), cuda.to_device(b), out, alpha, beta) is out
    np.testing.assert_array_equal(out.copy_to_host(), alpha * (a @ b) + beta * before)


def test_a_device_without_autotuned_gets_parts_that_its_grid_has_room_for(monkeypatch):
    monkeypatch.setattr(MODULE, "_has_autotuned", lambda: False)
    a, b, out = slots_of((9_000_000, 8, 4), "rows", "rows")
    calls = MODULE._calls(a, b, out, 1.0, 0.0, WorkspaceLayout(first=3))
    assert [call.launch.grid for call in calls] == [(1, 65535), (1, 4778)]


def test_a_part_shares_its_workspace_with_the_part_before_it(monkeypatch):
    def nbytes():
        layout = WorkspaceLayout(first=3)
        MODULE._calls(*slots_of((64, 6, 64), "rows", "every third"), 1.0, 0.0, layout)
        return layout.nbytes

    monkeypatch.setitem(LAYOUTS, "every third", lambda m, n: (3 * n * ITEM, 3 * ITEM))
    whole = nbytes()
    monkeypatch.setattr(routes, "MOST_ELEMENTS", 2000)
    assert 0 < nbytes() <= whole


TALL = [(524_288, 2, 0), (600_000, 1024, 1022), (1024, 1022, 600_002), (600_001, 2000, 2001)]


@pytest.mark.parametrize("both", [False, True])
def test_copies_have_zeros_around_them(both):
    x, y = draw("integers", (70, 5), 1), draw("integers", (3, 101), 2)
    given = [x, y] if both else [x]
    slots = [Slot(0, each.shape, each.strides, each.dtype) for each in given]
    wide = [(rows + 2, cdiv(columns, 4) * 4) for rows, columns in (each.shape for each in given)]
    call = MODULE._fitting(
        [(slot, Slot.new(1, to, "f4")) for slot, to in zip(slots, wide, strict=True)]
    )
    copies = [cuda.to_device(np.full(to, np.nan, np.float32)) for to in wide]
    pairs = zip(map(cuda.to_device, given), copies, strict=True)
    arrays = [each for pair in pairs for each in pair]
    numbers = call.arguments[len(arrays) :]
    call.kernel[call.launch.grid, call.launch.block](*arrays, *numbers)
    for each, copy in zip(given, copies, strict=True):
        missing = [(0, wide - size) for wide, size in zip(copy.shape, each.shape, strict=True)]
        np.testing.assert_array_equal(copy.copy_to_host(), np.pad(each, missing))


@pytest.mark.parametrize("shape", TALL)
def test_a_tall_product_has_a_grid_that_every_device_takes(shape):
    a, b, out = slots_of(shape, "rows", "rows")
    for layout in ((a, b, out), (a, b, slots_of(shape, "rows", "gaps")[2])):
        assert MODULE._calls(*layout, 1.0, 3.0, WorkspaceLayout(first=3))


def test_rows_beyond_the_grid_are_scaled(monkeypatch):
    monkeypatch.setattr(MODULE, "MAX_GRID", (9, 2, 2))
    x, product = draw("integers", (70, 5), 1), draw("integers", (70, 5), 2)
    slot = Slot(0, x.shape, x.strides, x.dtype)
    launch = MODULE._over(None, slot, ()).launch
    assert launch.grid == (1, 2, 5)
    out = cuda.to_device(x)
    numbers = np.float32(2), np.float32(3)
    MODULE.blend[launch.grid, launch.block](cuda.to_device(product), *numbers, out)
    np.testing.assert_array_equal(out.copy_to_host(), 2 * product + 3 * x)
