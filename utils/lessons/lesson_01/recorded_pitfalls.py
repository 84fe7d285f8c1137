"""What a lesson on measuring times itself, and what was recorded of the same faults on a GPU."""

from __future__ import annotations

from utils.errors import CourseError
from utils.ladder.step import Step
from utils.lessons.lesson import device_shown
from utils.lessons.lesson_01.strips import draw_strips
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


def device_to_time(step: Step) -> CpuQueue | GpuQueue:
    """Something real to time: this step on the GPU at hand, else a product on one CPU thread."""
    device = devices.current()
    return CpuQueue() if device is None else GpuQueue(step.variant(), device)


def recorded_series(kernel: str, size: int, timer: str) -> Series:
    """What `python -m gemm_kernels pitfalls` recorded. CourseError where nothing is recorded.

    kernel: naive, autotuned or copy. size: n of a product, elements of a copy. timer: see NAMES.
    """
    _, found = _recorded()
    for one in found:
        if one.kernel == kernel and size in (one.n, one.elements) and one.timer == timer:
            return one
    raise CourseError(
        f"Nothing is recorded of {kernel} at {size} timed as {timer!r}: "
        "`python -m gemm_kernels pitfalls --record` makes it on a GPU."
    )


def draw_pitfalls(kernel: str, size: int, *timers: str) -> Picture:
    """The recorded repetitions of several ways to time one kernel, a strip for each."""
    device, _ = _recorded()
    what = f"{kernel}, {size:,} floats" if kernel == "copy" else f"{kernel}, {size}×{size}"
    series = {
        NAMES[timer]: [us / 1000 for us in recorded_series(kernel, size, timer).times_us]
        for timer in timers
    }
    return draw_strips(f"{what}, recorded on one {device.name}", series)


def _recorded() -> tuple[Device, tuple[Series, ...]]:
    """The device whose series are shown: that of all records, or the course's own."""
    shown = device_shown()
    found = pitfalls.read(pitfalls.file_of(shown.name))
    if found:
        return shown, found
    own = devices.find(devices.REFERENCE)
    return own, pitfalls.read(pitfalls.file_of(own.name))
