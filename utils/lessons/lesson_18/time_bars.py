"""Bars of the time that each resource needs for a reduction, on the recorded time of its kernel."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from utils.errors import CourseError
from utils.ladder.step import Step, Variant
from utils.lessons.block_sums import block_of, issued_by_block
from utils.lessons.counting import as_variant
from utils.machine import devices
from utils.machine.occupancy import limits_of
from utils.translation import translate
from virtual_gpu.pictures.svg import GREY, Picture, path, rect, svg, text

WORD = 4  # bytes of an element
RESOURCES = ("memory", "wavefronts", "instructions")
WIDTH, LEFT, BAR, PITCH, HEAD = 412, 80, 11, 15, 27


@dataclass(frozen=True)
class Times:
    """Milliseconds for all elements: three estimates, each of one resource alone, and the record.

    memory: all elements at the data sheet's bandwidth. wavefronts: one per cycle and SM.
    instructions: one per cycle and scheduler; None if they cannot be counted. recorded: None if the
    kernel has no record.
    """

    memory: float
    wavefronts: float
    instructions: float | None
    recorded: float | None


def longest_of(rows: Iterable) -> dict:
    """Return kernel -> row for the greatest length that is recorded on the first row's device.

    rows: of `remainder.csv`, as `reduce_kernels.remainder.recorded_times()` returns them.
    """
    rows = list(rows)
    own = [row for row in rows if row.device == rows[0].device]
    elements = max(row.elements for row in own)
    return {row.kernel: row for row in own if row.elements == elements}


def times_of(step: Step | Variant, rows: Iterable) -> Times:
    """Return the times of one kernel at the length and on the device of `longest_of`.

    rows: as for `longest_of`. Raises CourseError for a step that is no reduction.
    """
    variant, timed = as_variant(step), longest_of(rows)
    any_row = next(iter(timed.values()))
    device, elements = devices.find(any_row.device), any_row.elements
    block = block_of(variant)
    # All SMs work at the same time, and each takes one block after the other.
    ms_per_cycle = elements / block.elements / device.sms / device.boost_clock_mhz / 1e3
    try:
        schedulers = limits_of(device.compute_capability).sub_partitions
        instructions = issued_by_block(variant).number / schedulers * ms_per_cycle
    except CourseError:
        instructions = None
    row = timed.get(variant.step.name)
    return Times(
        memory=WORD * elements / device.memory_gb_per_s / 1e6,
        wavefronts=block.wavefronts * ms_per_cycle,
        instructions=instructions,
        recorded=row.time_ms if row else None,
    )


def draw(rows: Iterable, **steps: Step | Variant) -> Picture:
    """Draw the three estimates of each kernel as bars on the pale band of its recorded time.

    The longest estimate is in the colour of the text. rows: as for `longest_of`. steps: one per
    kernel, from top to bottom; the keyword is the kernel's name, with _ for spaces.
    """
    rows = list(rows)
    any_row = next(iter(longest_of(rows).values()))
    times = {name.replace("_", " "): times_of(step, rows) for name, step in steps.items()}
    longest = max(ms or 0 for one in times.values() for ms in vars(one).values())
    title = translate("Time that each resource needs alone")
    where = translate(
        "{elements} elements, one {device}",
        elements=f"{any_row.elements:,}",
        device=any_row.device,
    )
    body, y = text(0, 14, title, 13, font_weight="bold") + text(0, 31, where, 12), 66
    body += rect(0, 38, 20, BAR, "currentColor", opacity=0.13) + path(f"M20 38v{BAR}")
    body += text(26, 47.5, translate("recorded time"), 12)
    sentences = []
    for name, one in times.items():
        body += _kernel(name, one, y, (WIDTH - LEFT - 56) / longest)
        y += HEAD + PITCH * len(RESOURCES)
        parts = [f"{what} {_ms(getattr(one, what))}" for what in (*RESOURCES, "recorded")]
        sentences.append(f"{name}: {', '.join(parts)}")
    alt = f"{title}, {where}. {'. '.join(sentences)}."
    return Picture(svg(WIDTH, y - 12, body, alt, widest=560), alt)


def _kernel(name: str, one: Times, y: float, scale: float) -> str:
    """Return SVG of one kernel, whose name is at y. scale: pixels per millisecond."""
    heading = name if one.recorded is None else f"{name}: {_ms(one.recorded)}"
    body, top = text(0, y, heading, 13, font_weight="600"), y + 6
    if one.recorded:
        width, height = one.recorded * scale, PITCH * len(RESOURCES) - 2
        body += rect(LEFT, top - 1, width, height, "currentColor", opacity=0.13)
        body += path(f"M{LEFT + width:.1f} {top - 1}v{height}", stroke_width=1.5)
    estimates = {what: getattr(one, what) for what in RESOURCES}
    highest = max(ms for ms in estimates.values() if ms is not None)
    for row, (what, ms) in enumerate(estimates.items()):
        middle = top + PITCH * row + BAR - 1.5
        body += text(LEFT - 6, middle, what, 12, "end")
        width = (ms or 0) * scale
        fill = {"fill": "currentColor", "opacity": 0.8} if ms == highest else {"fill": GREY}
        body += rect(LEFT, top + PITCH * row, round(width, 1), BAR, **fill)
        end = max(width, (one.recorded or 0) * scale)
        body += text(LEFT + end + 5, middle, _ms(ms), 12)
    return body


def _ms(ms: float | None) -> str:
    return "–" if ms is None else f"{ms:.2f} ms"
