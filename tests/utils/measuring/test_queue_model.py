"""The model of host, queue and device follows the rules of CUDA, with its own clock."""

import pytest

from utils.measuring.queue_model import READING_S, ModelDevice, Speeds

SPEEDS = Speeds(compile_s=100, launch_s=1, cold_s=10, hot_s=6, flush_s=4, noise=(1.0,))


@pytest.fixture
def device():
    return ModelDevice(SPEEDS)


def kinds(device) -> list[tuple]:
    return [(event.kind, event.begin, event.end) for event in device.events]


def test_a_launch_returns_at_once_and_the_first_one_compiles(device):
    device.launch()
    device.launch()
    assert kinds(device) == [
        ("compile", 0, 100), ("launch", 100, 101), ("kernel", 101, 111),
        ("launch", 101, 102), ("kernel", 111, 117),
    ]  # fmt: skip


def test_a_wait_ends_when_the_queue_is_empty(device):
    device.launch()
    device.synchronize()
    device.synchronize()
    assert kinds(device)[-2:] == [("wait", 101, 111), ("wait", 111, 111)]


def test_a_flush_is_work_in_the_queue_and_makes_the_next_kernel_cold(device):
    device.launch()
    device.flush()
    device.launch()
    device.launch()
    kernels = [event for event in device.events if event.kind == "kernel"]
    assert [event.hot for event in kernels] == [False, False, True]
    assert [event.seconds for event in kernels] == [10, 10, 6]
    assert ("clear", 111, 115) in kinds(device)


def test_noise_comes_by_turns():
    device = ModelDevice(Speeds(0, 0, 1, 1, 0, noise=(1.0, 3.0)))
    for _ in range(3):
        device.launch()
    kernels = [event.seconds for event in device.events if event.kind == "kernel"]
    assert kernels == [1, 3, 1]


def test_differences_of_readings_are_remembered_with_their_line(device):
    begin = device.now()
    device.launch()
    seconds = device.now() - begin
    assert seconds == pytest.approx(101 + READING_S)
    assert device.spans == [seconds]
    assert device.spans[0].begin is begin
    assert device.spans[0].site.source == "seconds = device.now() - begin"


def test_other_arithmetic_with_a_reading_gives_a_plain_number(device):
    reading = device.now()
    assert type(reading - 1.0) is float
    assert type(2 * reading) is float
    assert device.spans == []


def test_an_unknown_method_is_answered_with_those_that_there_are(device):
    with pytest.raises(AttributeError, match=r"no wait; it has launch\(\), synchronize\(\)"):
        device.wait()
