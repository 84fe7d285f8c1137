"""Transfers between host and device are timed, and their rows are records like all others."""

import numpy as np
import pytest
from numba import cuda

import gemm_kernels.transfers as command
from utils.errors import CourseError
from utils.figures import plots
from utils.ladder.shapes import GemmShape
from utils.machine import devices
from utils.measuring import command_line, records, transfer_experiments, transfers
from utils.measuring.transfer_experiments import Experiment

ELEMENTS = 2**14


def do_nothing(array, to_device):
    """Replace the driver's prefetch, which the virtual GPU does not have."""


def test_a_copy_is_recorded_with_its_rate():
    for experiment in transfer_experiments.copies(ELEMENTS, do_nothing):
        row = transfers.copy_record("a GPU", ELEMENTS, experiment)
        assert row.time_ms_min <= row.time_ms <= row.time_ms_max
        assert row.gb_per_s == pytest.approx(4 * ELEMENTS / row.time_ms / 1e6)
        assert (row.ladder, row.elements) == ("transfers", ELEMENTS)


def test_every_way_goes_in_both_directions():
    ways = {(e.step, e.params) for e in transfer_experiments.copies(ELEMENTS, do_nothing)}
    steps = {"pageable", "pinned", "managed", "managed_prefetch"}
    assert ways == {(s, f"DIRECTION={d}") for s in steps for d in ("to_device", "to_host")}


def test_what_is_copied_arrives():
    for experiment in transfer_experiments.copies(ELEMENTS, do_nothing):
        experiment.prepare()
        experiment.execute()
        if experiment.step in ("pageable", "pinned") and "to_host" in experiment.params:
            _, host = experiment.execute.args
            host[...] = np.nan
            experiment.execute()
            np.testing.assert_array_equal(host, 1)


def test_every_page_is_touched():
    x = cuda.to_device(np.arange(5000, dtype=np.float32))
    transfer_experiments.touch[2, 64](x)
    np.testing.assert_array_equal(x.copy_to_host(), -np.arange(5000))


def test_what_prepares_a_repetition_is_not_timed(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(transfers.time, "perf_counter", lambda: clock[0])

    def lasts(seconds):
        clock[0] += seconds

    slow_to_prepare = Experiment("x", "", lambda: lasts(0.002), lambda: lasts(5))
    assert transfers.timed(slow_to_prepare)["time_ms"] == pytest.approx(2)


SMALL = GemmShape(16, 8, 24)


def every_product():
    yield from transfer_experiments.products(SMALL, command.kernel(SMALL), do_nothing)
    yield from transfer_experiments.parts(SMALL, command.kernel(SMALL))
    yield from transfer_experiments.ten_products(SMALL, command.kernel(SMALL))
    # The other steps take long to compile.
    yield from command.on_cpu(SMALL, command.CPU_STEPS[:1])


def test_products_their_parts_and_the_host_are_recorded_in_one_file(tmp_path, monkeypatch):
    monkeypatch.setattr(transfers, "REPETITIONS", 1)
    rows = [transfers.product_record("a GPU", SMALL, one) for one in every_product()]
    rows.append(transfers.host_record("a GPU", SMALL))
    records.write(rows, tmp_path / "transfers.csv")
    frame = records.read(tmp_path / "transfers.csv")
    assert len(frame) == len(rows) == 11 + 6 + 7 + 1 + 1
    no_product = frame["params"].str.contains("PART=|fill")
    assert (frame["gflops"].isna() == no_product).all()


def test_the_rate_of_ten_products_counts_all_ten():
    (each, *_) = transfer_experiments.ten_products(SMALL, command.kernel(SMALL))
    row = transfers.product_record("a GPU", SMALL, each)
    assert row.gflops == pytest.approx(10 * SMALL.flops / row.time_ms / 1e6)


def test_the_result_of_a_product_with_copies_is_on_the_host():
    a, b, c = transfer_experiments.host_arrays(SMALL)
    transfer_experiments._with_copies(command.kernel(SMALL), (a, b, c))
    np.testing.assert_allclose(c, a @ b, rtol=1e-5, atol=1e-5)


def test_pages_that_are_born_on_the_gpu_are_filled_there():
    x = cuda.managed_array((9, 70), np.float32)
    transfer_experiments.fill[(3, 2), (32, 8)](x)
    np.testing.assert_array_equal(x, 1)


def test_without_a_gpu_transfers_are_refused_with_a_sentence(monkeypatch, capsys):
    monkeypatch.setattr(devices, "current", lambda: None)
    assert command_line.main("SGEMM", (command.COMMAND,), []) == command_line.REFUSED
    assert "transfers needs a CUDA device." in capsys.readouterr().err


def test_transfers_are_drawn_beside_the_published_ones():
    rows = [
        transfers.copy_record("a GPU", ELEMENTS, e)
        for e in transfer_experiments.copies(ELEMENTS, do_nothing)
    ]
    figure = plots.bandwidth_of_transfers(records.to_frame(rows), records.published("transfers"))
    (axes,) = figure.axes
    assert len(axes.lines) == len(rows) + 1
    crosses = axes.lines[-1]
    # 4 MiB in 0.32701 ms and two copies more, the sources' matrices, and those of the naive run.
    rates = [12.826, 12.965, 12.965, 3.096, 3.315, 9.846, 10.056, 8.633]
    np.testing.assert_allclose(crosses.get_ydata(), rates, rtol=1e-3)
    assert "pinned, to device: up to" in figure.alt_text


def test_products_alone_are_no_transfers_to_draw():
    rows = [transfers.host_record("a GPU", SMALL)]
    with pytest.raises(CourseError, match="no copy to draw"):
        plots.bandwidth_of_transfers(records.to_frame(rows), records.published("transfers"))
