"""What the virtual GPU refuses, reports and shows of the instructions of tensor cores."""

from dataclasses import dataclass

import numpy as np
import pytest
from numba import cuda, float32
from numba.types import float16

from utils.intrinsics import tensor
from virtual_gpu import OutOfBounds, Unsupported, installed, register, trace
from virtual_gpu.programs.advice import advice


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


def test_a_recording_has_the_products():
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
