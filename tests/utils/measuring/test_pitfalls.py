"""One kernel is timed in several ways, and all times are kept."""

from dataclasses import replace

import numpy as np
import pytest
from numba import cuda

from gemm_kernels import pitfalls as command
from utils.machine import devices
from utils.measuring import command_line, pitfalls
from utils.measuring.pitfalls import TIMERS, PitfallCase, flush_of, measured, read, write


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Use few repetitions, no pause, and no GPU to hold back."""
    monkeypatch.setattr(pitfalls, "REPETITIONS", 3)
    monkeypatch.setattr(pitfalls, "PAUSE_S", 0.0)
    monkeypatch.setattr(pitfalls, "hold_gpu", lambda microseconds: None)


def logged() -> tuple[list[str], list]:
    """A case whose execution and flush record that they were called."""
    log = []
    case = PitfallCase("naive", 64, None, lambda: lambda: log.append("kernel"))
    return log, [case, lambda: log.append("flush")]


def test_each_kernel_gives_its_first_call_once_and_each_case_all_timers():
    _, (case, flush) = logged()
    series = list(measured([case, replace(case, n=128)], flush))
    assert [row.timer for row in series] == ["first", *TIMERS, *TIMERS]
    assert [len(row.times_us) for row in series] == [1] + [3] * 12
    assert {row.n for row in series} == {64, 128}


def test_a_series_holds_its_repetitions_and_their_median():
    _, (case, flush) = logged()
    for one in measured([case], flush):
        assert one.time_ms_min <= one.time_ms <= one.time_ms_max
        assert sorted(one.times_us)[len(one.times_us) // 2] == pytest.approx(1e3 * one.time_ms)


@pytest.mark.parametrize(
    ("timer", "order"),
    [
        ("launch", ["wait", "kernel"]),
        ("wall", ["wait", "kernel", "wait"]),
        ("hot", ["wait", "kernel", "event", "kernel", "event"]),
        ("cold", ["wait", "flush", "event", "kernel", "event"]),
        ("events", ["wait", "event", "kernel", "event"]),
    ],
)
def test_what_is_done_before_and_after_the_kernel(monkeypatch, timer, order):
    log, (case, flush) = logged()

    class Event:
        def record(self):
            log.append("event")

        def synchronize(self):
            pass

        def elapsed_time(self, end):
            return 1.0

    monkeypatch.setattr(pitfalls.cuda, "synchronize", lambda: log.append("wait"))
    monkeypatch.setattr(pitfalls.cuda, "event", Event)
    TIMERS[timer](case.bind(), flush)
    assert log == order


def test_a_file_gives_back_what_was_written(tmp_path):
    _, (case, flush) = logged()
    series = list(measured([case], flush))
    write(series, tmp_path / "pitfalls.csv")
    again = read(tmp_path / "pitfalls.csv")
    assert [(one.kernel, one.n, one.elements, one.timer) for one in again] == [
        (one.kernel, one.n, one.elements, one.timer) for one in series
    ]
    for one, other in zip(series, again, strict=True):
        assert other.times_us == pytest.approx(one.times_us, rel=1e-4)
    assert read(tmp_path / "none.csv") == ()


def test_the_flush_reads_more_than_the_cache_holds_and_writes_nothing():
    device = replace(devices.find("NVIDIA H200"), l2_kib=1, sms=1)
    flush = flush_of(device)
    x, out = flush.args
    assert x.size * 4 == 4 * 1024
    out.copy_to_device(np.full(1, 7, np.float32))
    flush()
    assert out.copy_to_host()[0] == 7


def test_the_cases_compute_what_they_say():
    for case in command.cases(products=(32,), copies=(64,)):
        case.bind()()
        cuda.synchronize()
    assert [case.n or case.elements for case in command.cases()] == [
        *(2 * command.PRODUCTS), *command.COPIES,
    ]  # fmt: skip


def test_the_command_prints_and_records_all_series(monkeypatch, tmp_path, capsys):
    small = replace(devices.find("NVIDIA H200"), l2_kib=1, sms=1)
    file = tmp_path / "pitfalls.csv"
    monkeypatch.setattr(pitfalls, "device_for", lambda what: small)
    monkeypatch.setattr(pitfalls, "file_of", lambda device: file)
    monkeypatch.setattr(pitfalls, "DATA", tmp_path / "data")
    made = pitfalls.pitfalls_command(lambda: command.cases(products=(16,), copies=(64,)))
    assert command_line.main("SGEMM", (made,), ["--record"]) == 0
    assert "autotuned" in capsys.readouterr().out
    assert [one.timer for one in read(file)] == 3 * ["first", *TIMERS]


def test_without_a_gpu_pitfalls_are_refused_with_a_sentence(monkeypatch, capsys):
    monkeypatch.setattr(devices, "current", lambda: None)
    assert command_line.main("SGEMM", (command.COMMAND,), []) == command_line.REFUSED
    assert "pitfalls needs a CUDA device." in capsys.readouterr().err
