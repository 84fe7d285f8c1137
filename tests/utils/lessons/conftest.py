"""A stand-in for a GPU that the tests of lessons share."""

from types import SimpleNamespace

import pytest

from utils.machine import devices
from utils.measuring import measure, timing

H200 = devices.find(devices.REFERENCE)


class Event:
    """An event of a device on which each call takes a millisecond."""

    def __init__(self, calls):
        self.calls, self.at = calls, 0

    def record(self):
        self.at = len(self.calls)

    def synchronize(self):
        pass

    def elapsed_time(self, end):
        return float(end.at - self.at)


@pytest.fixture
def device(monkeypatch):
    """Stand in for an H200; the fixture is the list of all timed calls, in order."""
    calls, on_copies = [], measure._on_copies

    def noted(variant, *rest):
        execution = on_copies(variant, *rest)
        return lambda: (calls.append(variant.step.name), execution())

    stand_in = SimpleNamespace(event=lambda: Event(calls), synchronize=lambda: None)
    monkeypatch.setattr(timing, "cuda", stand_in)
    monkeypatch.setattr(timing, "hold_gpu", lambda microseconds: None)
    monkeypatch.setattr(timing, "clock_reader", lambda: lambda: 1980.0)
    monkeypatch.setattr(timing, "MOST_LAUNCHES", 1)
    monkeypatch.setattr(measure, "_on_copies", noted)
    monkeypatch.setattr(measure, "_machine_code", lambda variant, shape: {})
    monkeypatch.setattr(devices, "current", lambda: H200)
    return calls
