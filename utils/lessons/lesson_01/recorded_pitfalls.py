"""Timing mistakes of lesson 01: a device to repeat them on, and recorded measurements of them."""

from __future__ import annotations

from utils.errors import CourseError
from utils.ladder.step import Step, Variant
from utils.lessons.counting import as_variant
from utils.lessons.lesson import device_shown
from utils.lessons.lesson_01.dot_plot import draw_strips
from utils.machine import devices
from utils.machine.devices import Device
from utils.measuring import pitfalls
from utils.measuring.pitfalls import Series
from utils.measuring.real_queue import CpuQueue, GpuQueue
from virtual_gpu.pictures.svg import Picture

NAMES = {
    "first": "first launch",
    "launch": "launch returns",
    "wall": "kernel ends",
    "events": "two events",
    "hot": "kernel alone, hot",
    "cold": "kernel alone, cold",
    "pause": "after a pause",
}


def device_to_time(step: Step | Variant) -> CpuQueue | GpuQueue:
    """Return a real queue whose launches a lesson can time.

    With a GPU, a launch executes `step` there. Without a GPU, a launch computes a product on one
    CPU thread.
    """
    device = devices.current()
    return CpuQueue() if device is None else GpuQueue(as_variant(step), device)


def recorded_series(kernel: str, size: int, timer: str) -> Series:
    """Return the recorded times of one kernel at one size that one timer measured.

    `python -m gemm_kernels pitfalls --record` records them.

    Parameters
    ----------
    kernel : str
        "naive", "autotuned" or "copy".
    size : int
        n of an n×n product, or the number of elements of a copy.
    timer : str
        A key of `NAMES`.

    Returns
    -------
    Series
        All repetitions in us, with their median, minimum and maximum in ms.

    Raises
    ------
    CourseError
        If there is no such record.
    """
    _, recorded = _recorded()
    for one in recorded:
        if one.kernel == kernel and size in (one.n, one.elements) and one.timer == timer:
            return one
    raise CourseError(
        f"There is no record of {kernel} at {size} with the timer {timer!r}: "
        "`python -m gemm_kernels pitfalls --record` makes one on a GPU."
    )


def draw_pitfalls(kernel: str, size: int, *timers: str) -> Picture:
    """Draw the recorded times of one kernel at one size, one row of dots per timer.

    kernel: "naive", "autotuned" or "copy". size: n of an n×n product, or the number of elements of
    a copy. timers: keys of `NAMES`. Raises CourseError if a timer has no record.
    """
    device = pitfalls_device()
    title = f"{kernel}, {size:,} floats" if kernel == "copy" else f"{kernel}, {size}×{size}"
    series = {
        NAMES[timer]: [us / 1000 for us in recorded_series(kernel, size, timer).times_us]
        for timer in timers
    }
    return draw_strips(f"{title}, recorded on one {device.name}", series)


def pitfalls_device() -> Device:
    """Return the device whose recorded timing mistakes the lesson shows.

    It is the device shown, or the reference device if that has no such records.
    """
    return _recorded()[0]


def _recorded() -> tuple[Device, tuple[Series, ...]]:
    """Return the device whose recorded timing mistakes are drawn, and all its recorded series.

    It is the device shown in the lesson, or the reference device if that has no such records.
    """
    shown = device_shown()
    series = pitfalls.read(pitfalls.file_of(shown.name))
    if series:
        return shown, series
    own = devices.find(devices.REFERENCE)
    return own, pitfalls.read(pitfalls.file_of(own.name))
