"""The experiments on latency hiding: their kernels, their points, and their figures."""

from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import float32, int64, uint32, void

from gpu_xray import xray
from latency_kernels import arithmetic, chase, copies
from latency_kernels.hiding import curves, experiments
from latency_kernels.hiding.experiments import COPIES, ILPS, OCCUPANCIES, Point, shared_bytes
from utils.errors import CourseError
from utils.ladder.problems import draw
from utils.lessons.edits import Edit, edited
from utils.machine import devices
from utils.measuring import command_line, records
from utils.measuring.timing import Timing
from virtual_gpu import trace

H200 = devices.find("NVIDIA H200")


@pytest.mark.parametrize("ilp", ILPS)
def test_every_chain_is_as_long_as_its_turns_say(ilp):
    experiments._check_arithmetic(ilp)


@pytest.mark.parametrize(
    "old, new, kernel",
    [("cuda.fma(chains[i], b, b)", "chains[i] * b", "arithmetic"),
     ("range(UNROLL)", "range(UNROLL - 1)", "arithmetic"),
     ("put(values, i, out, (first + i", "put(values, 0, out, (first + i", "copies"),
     ("first += uint32(BLOCK * COUNT)", "first += uint32(BLOCK)", "copies")],
)  # fmt: skip
def test_a_wrong_kernel_is_not_measured(old, new, kernel, small, monkeypatch):
    wrong = edited(getattr(experiments, kernel), Edit(old, new))
    monkeypatch.setattr(experiments, kernel, wrong)
    with pytest.raises(CourseError, match=r"is wrong: .*; nothing is measured with it"):
        list(experiments.measure(H200))


@pytest.mark.slow
def test_all_work_of_the_arithmetic_is_multiply_adds_of_float32():
    report = xray(arithmetic.build(3), void(float32[::1], float32[::1], int64))
    assert report.instructions["FFMA"] >= 3 * arithmetic.UNROLL
    assert report.float64 == report.local_bytes == 0


@pytest.mark.parametrize("width, count", COPIES)
@pytest.mark.parametrize("block", [32, 64])
def test_a_copy_moves_every_element_by_accesses_of_its_width(width, count, block):
    size, turns = 3 * block * copies.FLOATS, copies.turns_of(width, count)
    x, out = draw("uniform", size, seed=1), np.full(size, np.nan, np.float32)
    result = trace(copies.build(width, count, block), 3, block, x, out, turns)
    np.testing.assert_array_equal(out, x)
    assert result.findings == ()
    assert result.totals["global_load_requests"] == size // (32 * width)


@settings(max_examples=20, deadline=None)
@given(places=st.integers(1, 300), apart=st.integers(1, 8), seed=st.integers(0, 99))
def test_a_tour_comes_back_only_after_it_was_everywhere(places, apart, seed):
    following, at, visited = chase.tour(places, apart, seed), 0, []
    for _ in range(places):
        visited.append(at)
        at = following[at]
    assert at == 0
    assert sorted(visited) == [apart * place for place in range(places)]


@pytest.mark.parametrize("launch", [chase.chase_global[1, 1], chase.chase_shared[1, 32]])
def test_a_chase_goes_as_many_steps_as_it_is_told_and_then_on_from_there(launch):
    following, at = chase.tour(chase.SHARED_WORDS, 1), np.zeros(1, np.uint32)
    expected = 0
    for steps in (5, 2):
        launch(following, at, steps)
        for _ in range(steps):
            expected = following[expected]
        assert at == [expected]


@pytest.mark.slow
def test_no_instruction_of_a_chase_checks_for_negative_indices():
    report = xray(chase.chase_global, void(uint32[::1], uint32[::1], int64))
    assert "selp" not in report.ptx


@pytest.mark.parametrize("blocks", sorted({blocks for _, blocks in OCCUPANCIES}))
def test_so_many_blocks_share_an_sm_and_not_one_more(blocks):
    room = H200.shared_kib_per_sm * devices.KIB
    each = shared_bytes(H200, blocks) + experiments.RESERVED_BYTES
    assert blocks * each <= room < (blocks + 1) * each


def test_more_shared_memory_than_a_launch_gets_is_refused():
    with pytest.raises(CourseError, match=r"at 3 blocks, each needs 57345 bytes .* gets 49152"):
        shared_bytes(H200, 3)


@pytest.fixture
def small(monkeypatch):
    """Use few points with little work, and a device that needs 1 ms for anything."""
    sizes = {"ILPS": (1, 2), "THREADS": (32, 1024), "FMAS_PER_SM": 2**15, "COPIED": 2**14}
    sizes |= {"OCCUPANCIES": ((32, 4), (64, 5)), "PLACES": {"L2": 64, "DRAM": 128}}
    sizes |= {"STEPS": {"shared": 64, "L2": 64, "DRAM": 64}}
    for name, value in sizes.items():
        monkeypatch.setattr(experiments, name, value)

    def time_once(rivals):
        for rival in rivals:
            rival()
        return [Timing(1.0, 0.9, 1.1, 7, 1, 1980.0)] * len(rivals)

    monkeypatch.setattr(experiments, "time_gpu", time_once)
    # The loop is slow on the virtual GPU, and has tests of its own.
    monkeypatch.setattr(experiments, "_ceiling", lambda: 65_000.0)
    monkeypatch.setattr(experiments, "_resident_blocks", lambda *_: 5)
    monkeypatch.setattr(experiments, "_threads_per_sm", lambda: 2048)


def test_a_point_counts_the_work_of_all_its_threads(small):
    points = pd.DataFrame(map(asdict, experiments.measure(H200)))
    first, *_, last = points[points["experiment"] == "arithmetic"].itertuples()
    assert (first.what, first.sms, first.threads_per_sm) == ("ILP 1", 1, 32)
    assert first.value == pytest.approx(2 * 2**15 / 1e-3 / 1e9)
    assert (last.what, last.sms, last.threads_per_sm) == ("ILP 2", 132, 2048)
    copied = points[points["what"] == "8 float4"].iloc[0]
    assert (copied["floats"], copied["occupancy"]) == (32, 5 * 32 / 2048)
    assert copied["value"] == pytest.approx(2 * 4 * 2**14 / 1e-3 / 1e9)
    shared = points[points["what"] == "shared"].iloc[0]
    assert (shared["value"], shared["unit"]) == (pytest.approx(1.98e6 / 64), "cycles")


def test_some_points_of_the_arithmetic_can_be_had_alone(small):
    points = list(experiments.arithmetic_points(H200, 2, (2,), (32, 64)))
    assert [(point.what, point.sms) for point in points] == [("ILP 2", 2)] * 2
    assert [point.threads_per_sm for point in points] == [32, 64]
    # 2^15 multiply-adds on each of two SMs in 1 ms, of what the FMA loop does on two of 132.
    assert points[0].share == pytest.approx(2 * 2**16 / 1e6 / (65_000 * 2 / 132))


def test_cycles_need_a_clock(small, monkeypatch):
    unclocked = [Timing(1.0, 1.0, 1.0, 7, 1, None)]
    monkeypatch.setattr(experiments, "time_gpu", lambda rivals: unclocked)
    with pytest.raises(CourseError, match="NVML reports no clock"):
        list(experiments.measure(H200))


@pytest.fixture
def frame():
    """Return made-up curves: chains of 4 cycles, and memory of 600."""
    empty = dict.fromkeys(Point.__dataclass_fields__)
    rows = [
        empty | {"experiment": "latency", "what": what, "value": cycles, "sm_clock_mhz": 2000.0}
        for what, cycles in {"FMA": 4.0, "DRAM": 600.0}.items()
    ]
    rows += [
        empty
        | {"experiment": "arithmetic", "what": f"ILP {ilp}", "floats": ilp, "sms": sms}
        | {"threads_per_sm": threads, "share": min(0.9, ilp * threads / 600)}
        for ilp in (1, 2) for sms in (1, 132) for threads in (32, 512, 1024)
    ]  # fmt: skip
    rows += [
        empty
        | {"experiment": "copy", "what": what, "floats": floats, "threads_per_sm": threads}
        | {"occupancy": threads / 2048, "share": min(0.8, floats * threads / 4096)}
        for what, floats in {"1 float": 1, "8 float4": 32} .items() for threads in (128, 160, 2048)
    ]  # fmt: skip
    return pd.DataFrame(rows).assign(device=H200.name, date="2026-11-21")


def test_littles_law_multiplies_latency_and_throughput(frame):
    law = curves.littles_law(frame, H200)
    assert law.loc["arithmetic", "under_way"] == 4 * 128
    assert law.loc["memory", "under_way"] == pytest.approx(600 * 4.8e12 / 2e9 / 132)


@pytest.mark.parametrize(
    "threads, ilp, share",
    [(32, 1, 1 / 16), (128, 1, 1 / 4), (128, 2, 1 / 2), (512, 1, 1),
     # One warp keeps one of four schedulers busy, however much it has in flight.
     (32, 4, 1 / 4), (32, 8, 1 / 4),
     # Five and six warps: two on the fullest of the schedulers, in the time of eight.
     (160, 4, 5 / 8), (192, 4, 6 / 8), (192, 1, 3 / 8)],
)  # fmt: skip
def test_littles_law_holds_for_each_scheduler_and_the_fullest_decides(frame, threads, ilp, share):
    shares = curves.expected_share(frame, H200, pd.Series([threads]), pd.Series([ilp]))
    assert list(shares) == pytest.approx([share])


def test_a_lesson_draws_the_device_at_hand_only_if_its_curves_are_recorded(monkeypatch):
    monkeypatch.setattr(devices, "current", lambda: None)
    assert curves.device_shown() == H200
    monkeypatch.setattr(devices, "current", lambda: devices.find("T4"))
    assert curves.device_shown() == H200
    monkeypatch.setattr(curves, "_path", lambda device: records.DATA)
    assert curves.device_shown() == devices.find("T4")


def test_the_claim_is_answered_with_the_number_nearest_to_its_occupancy(frame):
    assert "8 float4 per thread reaches 80.0% of the data sheet's bandwidth at 7.8% occ" in (
        curves.answer(frame)
    )


def test_the_figures_show_the_share_and_what_littles_law_says(frame):
    one_sm = curves.arithmetic_figure(frame, H200, 1)
    measured, model, *_ = one_sm.axes[0].lines
    np.testing.assert_allclose(measured.get_ydata(), [100 * 32 / 600, 100 * 512 / 600, 90])
    np.testing.assert_allclose(model.get_ydata(), [100 * 32 / 512, 100, 100])
    assert "ILP 1 at 576, 100%" in one_sm.alt_text
    assert "8 float4 rises from 80% at 6.25" in curves.copy_figure(frame, H200).alt_text


def main(arguments):
    return command_line.main("Ceilings", (curves.COMMAND,), arguments)


def test_curves_are_recorded_found_again_and_drawn(small, monkeypatch, tmp_path, capsys):
    published = records.published("latency_hiding")
    monkeypatch.setattr(records, "published", lambda name: published)
    monkeypatch.setattr(records, "DATA", tmp_path / "data")
    monkeypatch.setattr(devices, "current", lambda: H200)
    assert main(["--record"]) == 0
    output = capsys.readouterr().out
    monkeypatch.setattr(devices, "current", lambda: None)
    assert main(["--plot", str(tmp_path / "figures")]) == 0
    assert output.splitlines()[1] in capsys.readouterr().out
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    assert names == {f"latency_{name}.png" for name in
                     ("arithmetic_one_sm", "arithmetic_all_sms", "copy_occupancy")}  # fmt: skip


def test_without_a_device_nothing_is_recorded(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(records, "DATA", tmp_path)
    monkeypatch.setattr(devices, "current", lambda: None)
    assert main(["--record"]) == 2
    assert "--record needs a CUDA device" in capsys.readouterr().err
    assert main(["--device", "t4"]) == 2
    assert "are not recorded: run python -m latency_kernels curves" in capsys.readouterr().err
