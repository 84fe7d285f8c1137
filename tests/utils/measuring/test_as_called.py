"""Benchmarks of calls: what is counted, the order of rivals, rows and summaries."""

import random
from dataclasses import replace

import pytest

from gemm_kernels import as_called as products
from reduce_kernels import as_called as reductions
from utils.measuring import as_called
from utils.measuring.as_called import CallCase, Called, CallRow, burst, compared, row_of, summary

ROW = CallRow("sgemm", 64, 32, 128, None, "rows, rows", "float32", 9.0, 20.0, "CuPy", 18.0, 0.9)


class SimulatedClock:
    """A clock that calls advance: Python's part at once, the GPU's part when somebody waits."""

    def __init__(self):
        self.now, self.free_at, self.log = 0.0, 0.0, []

    def call(self, name: str, host_us: float, gpu_us: float):
        def enqueue():
            self.log.append(name)
            self.now += host_us / 1e6
            self.free_at = max(self.free_at, self.now) + gpu_us / 1e6

        return enqueue

    def wait(self):
        self.now = max(self.now, self.free_at)


def test_host_time_is_pythons_and_time_is_until_the_work_is_done():
    machine = SimulatedClock()
    for host_us, gpu_us, expected in ((10, 50, 51), (10, 2, 10.2)):
        called = burst(machine.call("", host_us, gpu_us), 10, machine.wait, lambda: machine.now)
        assert called.host_us == pytest.approx(10)
        assert called.time_us == pytest.approx(expected)


def test_rivals_take_turns_in_changing_order_and_the_median_counts():
    machine = SimulatedClock()
    rivals = {"slow": machine.call("slow", 5, 900), "fast": machine.call("fast", 9, 90)}
    called = compared(rivals, random.Random(3), machine.wait, lambda: machine.now)
    assert called["slow"].host_us == pytest.approx(5)
    assert called["fast"].time_us == pytest.approx(90, rel=0.01)
    firsts = [name for name, before in zip(machine.log, ["", *machine.log]) if name != before]
    assert len(firsts) > 4
    calls = {name: machine.log.count(name) for name in rivals}
    assert calls["fast"] > calls["slow"] >= as_called.REPETITIONS * as_called.FEWEST_CALLS
    assert calls["fast"] <= as_called.REPETITIONS * as_called.MOST_CALLS + 4


def case(waits: bool) -> CallCase:
    our_call, without = (lambda: None), (lambda: None) if waits else None
    return CallCase("reduce", None, None, None, 1024, "rows", "float32",
                lambda: (our_call, {"CuPy": print, "PyTorch": repr}, without))  # fmt: skip


def test_a_row_names_the_fastest_library_and_takes_the_kernel_from_a_call_that_waits():
    times = {"": Called(30, 31), "CuPy": Called(50, 62), "PyTorch": Called(40, 46.5)}
    for waits, host_us in ((True, 30 - 12), (False, 30)):
        row = row_of(case(waits), None, lambda rivals, turns: dict(times), lambda call: 12.0)
        assert (row.library, row.library_us, row.ratio) == ("PyTorch", 46.5, 1.5)
        assert (row.host_us, row.time_us, row.elements, row.m) == (host_us, 31, 1024, None)


def test_of_several_rounds_the_one_with_the_median_ratio_counts():
    our_times = {1024: iter([30, 10, 20]), 2048: iter([5, 5, 50])}
    order = []

    def compare(rivals, turns):
        elements = rivals[""]()
        order.append(elements)
        return {"": Called(1, next(our_times[elements])), "CuPy": Called(2, 20)}

    cases = [
        replace(case(False), elements=n, bind=lambda n=n: (lambda: n, {}, None)) for n in our_times
    ]
    rows = list(as_called.rows_of(cases, random.Random(1), 3, compare))
    assert [(row.elements, row.time_us, row.ratio) for row in rows] == [
        (1024, 20, 1.0),
        (2048, 5, 4.0),
    ]
    # One round is over before the next begins.
    assert order == [1024, 2048] * 3


def test_a_summary_is_the_worst_and_the_geometric_mean():
    rows = [replace(ROW, ratio=ratio, host_us=host) for ratio, host in ((0.5, 1), (2, 5), (1, 9))]
    result = summary(rows)
    assert (result.rows, result.worst.ratio, result.behind, result.host_us) == (3, 0.5, 1, 5)
    assert result.geometric_mean == pytest.approx(1)


def test_rows_of_a_function_replace_its_old_ones_and_no_others(tmp_path):
    path = tmp_path / "a_gpu" / "as_called.csv"
    other = replace(ROW, function="reduce", m=None, n=None, k=None, elements=7, time_us=12345.6)
    as_called.write([ROW, replace(ROW, m=8)], path)
    as_called.write([other], path)
    as_called.write([replace(ROW, m=9)], path)
    assert as_called.read(path) == (replace(other, time_us=12346.0), replace(ROW, m=9))
    columns = "function m n k elements layout dtype host_us time_us library library_us ratio"
    assert path.read_text().splitlines()[0].split(",") == columns.split()
    assert as_called.read(tmp_path / "none.csv") == ()


def test_shapes_are_the_same_each_time_and_a_third_is_odd():
    drawn = list(products.shapes(200, seed=1))
    assert drawn == list(products.shapes(200, seed=1)) != list(products.shapes(200, seed=2))
    sides = [(shape.m, shape.n, shape.k) for shape, *_ in drawn]
    assert all(32 <= side <= 9401 for shape in sides for side in shape)
    assert sum(all(side % 2 for side in shape) for shape in sides) >= 67
    assert {name for _, *layouts in drawn for name in layouts} == set(products.LAYOUTS)
    below = sum(side < 548 for shape in sides for side in shape)
    assert 0.4 < below / 600 < 0.6


def test_every_layout_stays_within_its_memory():
    largest = 2 * (products.LARGEST + 8) ** 2
    for layout in products.LAYOUTS.values():
        for rows, columns in ((products.LARGEST + 1, products.LARGEST + 1), (32, 9401)):
            row, column, first = layout(rows, columns)
            assert first + row * (rows - 1) + column * (columns - 1) < largest


def test_cases_cover_cubes_lengths_and_both_ways_to_reduce():
    cubes = [case for case in products.cases(3, 1) if case.m == case.n == case.k]
    assert {case.m for case in cubes} >= set(products.CUBES)
    lengths = {case.elements for case in reductions.cases(2, 1) if case.function == "reduce"}
    assert lengths >= {2**exponent for exponent in range(10, 31)}
    assert len(lengths) == 23


def test_the_tables_of_a_run_name_what_is_slowest(capsys):
    rows = [replace(ROW, ratio=ratio, m=m) for m, ratio in ((7, 0.4), (8, 1.2))]
    (line,) = as_called._sentences(rows, queues=True)
    assert "2 shapes, geometric mean 0.693 × the library, worst 0.400 at 7×32×128" in line
    assert "1 behind it; 9.0 us of Python a call." in line
    assert "1 behind it." in next(as_called._sentences(rows, queues=False))
    assert as_called._table(rows).row_count == 2
