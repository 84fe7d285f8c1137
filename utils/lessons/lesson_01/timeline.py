"""Time lines of host and device, with the part of the work that a clock reading includes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from utils.figures.roles import KERNEL, LAUNCH
from utils.measuring.queue_model import ModelDevice, QueueEvent, Span, Speeds
from virtual_gpu.pictures.svg import (
    GREEN,
    GREY,
    Picture,
    legend,
    path,
    rect,
    svg,
    text,
)

CLOCK = "#c63939"
# Not to scale: a launch really takes microseconds, and a compilation most of a second.
FIRST = Speeds(compile_s=9, launch_s=1, cold_s=6, hot_s=4, flush_s=4, noise=(1.0,))
LATER = replace(FIRST, compile_s=0)
COMPILE = "#b0457b"
COLOURS = {"compile": COMPILE, "launch": LAUNCH, "wait": GREY, "kernel": KERNEL, "flush": GREEN}
# A flush takes time on the host and on the device; both have one name in the picture.
NAMES = {"clear": "flush"}
DEVICE_EVENTS = ("kernel", "clear")
LEFT, RIGHT, BAR, HEIGHT = 52, 412, 20, 108


def draw_launches() -> Picture:
    """Draw three time lines of host and device, each with the time that a clock reading includes.

    The clock is read when the launch returns, when the kernel ends, and when the kernel ends after
    a first launch that includes the compilation.
    """
    ways = (
        ("1. The clock is read when the launch returns", LATER, _until_it_returns),
        ("2. The host waits, and then reads the clock", LATER, _to_its_end),
        ("3. The same, and this is the first launch", FIRST, _to_its_end),
    )
    body = "".join(
        f'<g transform="translate(0 {HEIGHT * at})">{_panel(title, _after(way, speeds), 20)}</g>'
        for at, (title, speeds, way) in enumerate(ways)
    )
    alt = (
        "Two rows on a time axis, host and device. The host launches a kernel and goes on at once; "
        "the device begins then and works much longer. A clock that is read when the launch has "
        "returned sees the launch alone. A host that waits first sees launch and kernel. At the "
        "first launch the host compiles before it launches, and the clock sees that, too."
    )
    return _picture(("compile", "launch", "wait", "kernel"), len(ways), body, alt)


def draw_benchmark(benchmark: Callable, until: float = 40) -> Picture:
    """Run a benchmark on a model device and draw its beginning on a time line.

    The time line has the events of host and device, and the spans that the benchmark timed.
    benchmark: is called as `benchmark(device, 8, 8, 8)`; the numbers are m, n and k of a product.
    until: the end of the time line in seconds of the model, whose durations are not to scale.
    """
    title = "The beginning of your benchmark, not to scale"
    return _draw_own(title, lambda device: benchmark(device, 8, 8, 8), until)


def draw_two_waits(two_waits: Callable, until: float = 24) -> Picture:
    """Run a reader's `two_waits` on a model device and draw it on a time line.

    two_waits: is called with the device. until: the end of the time line in seconds of the model,
    whose durations are not to scale.
    """
    return _draw_own("Your measurement, not to scale", two_waits, until)


def _draw_own(title: str, work: Callable[[ModelDevice], object], until: float) -> Picture:
    """Return the picture of what `work` does on a model device, with the spans that it timed.

    until: the end of the time line in seconds of the model.
    """
    device = _after(work, FIRST)
    drawn = [event for event in device.events if event.begin < until and event.seconds]
    kinds = [kind for kind in COLOURS if kind in map(_name, drawn)]
    descriptions = ", ".join(
        f"{_name(event)} from {event.begin:.0f} to {event.end:.0f}" for event in drawn
    )
    spans = ", ".join(
        f"{span.begin:.0f} to {span.end:.0f}" for span in device.spans if span.begin < until
    )
    body = _panel(title, device, until)
    alt = f"{title}: {descriptions}. Between two readings of the clock: {spans or 'nothing'}."
    return _picture(tuple(kinds), 1, body, alt)


def _picture(kinds: tuple[str, ...], panels: int, body: str, alt: str) -> Picture:
    """Return a picture with a legend of these kinds of events above the time lines in `body`.

    kinds: keys of `COLOURS`. panels: the number of time lines. body: their SVG. alt: the alt text.
    """
    key = legend(**{kind: COLOURS[kind] for kind in kinds}, what_the_clock_sees=CLOCK)
    return Picture(key + svg(RIGHT + 18, HEIGHT * panels, body, alt, widest=579), alt)


def _after(work: Callable[[ModelDevice], object], speeds: Speeds) -> ModelDevice:
    """Return a new model device with these speeds on which `work` has run."""
    device = ModelDevice(speeds)
    work(device)
    return device


def _until_it_returns(device: ModelDevice) -> float:
    """Launch a kernel on a model device; return the model's seconds until the launch returns."""
    start = device.now()
    device.launch()
    return device.now() - start


def _to_its_end(device: ModelDevice) -> float:
    """Launch a kernel on a model device; return the model's seconds until the kernel has ended."""
    start = device.now()
    device.launch()
    device.synchronize()
    return device.now() - start


def _panel(title: str, device: ModelDevice, until: float) -> str:
    """Return the SVG of a time line: rows of host and device, and below them each timed span.

    The time line ends at `until` seconds of the model.
    """

    def x(seconds: float) -> float:
        return round(LEFT + (RIGHT - LEFT) * min(seconds, until) / until, 1)

    def row(event: QueueEvent) -> int:
        return below if event.kind in DEVICE_EVENTS else host

    host, below, clock = 30, 56, 86
    body = text(0, 20, title, 13, font_weight="bold")
    for name, y in (("host", host), ("device", below)):
        body += text(LEFT - 6, y + 14, name, 12, "end")
        body += path(f"M{LEFT} {y + BAR}H{RIGHT}", opacity=0.3)
    for event in device.events:
        if event.seconds and event.begin < until:
            body += _bar(event, x(event.begin), x(event.end), row(event))
    for y in {row(event) for event in device.events if event.end > until}:
        body += text(RIGHT + 4, y + 14, "…", 13)
    for span in (one for one in device.spans if one.begin < until):
        body += _bracket(span, x(span.begin), x(span.end), clock)
    return body


def _bar(event: QueueEvent, begin: float, end: float, y: float) -> str:
    """Return the SVG of an event as a bar from x = `begin` to x = `end`, with its top at y.

    The event's name is written on it if there is room.
    """
    name, width = _name(event), end - begin
    drawn = rect(begin, y, max(width - 1, 1), BAR - 1, COLOURS[name], rx=2)
    if width < 8 * len(name):
        return drawn
    return drawn + text(begin + width / 2, y + 14, name, 12, "middle", style="fill:#fff")


def _bracket(span: Span, begin: float, end: float, y: float) -> str:
    """Return the SVG of a timed span: a thick line just below y, between two dotted lines.

    begin, end: x of both ends in pixels.
    """
    ends = path(
        f"M{begin} {y - 54}V{y + 8}M{end} {y - 54}V{y + 8}",
        stroke=CLOCK, stroke_dasharray="2 3",
    )  # fmt: skip
    return ends + path(f"M{begin} {y + 4}H{end}", stroke=CLOCK, stroke_width=4)


def _name(event: QueueEvent) -> str:
    """Return an event's name in the picture, a key of `COLOURS`: "flush" for the kind "clear"."""
    return NAMES.get(event.kind, event.kind)
