"""Two estimates of each kernel of the experiment `ilp_alone` as bars on its recorded time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from utils.errors import CourseError
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Card
from utils.lessons.counting import as_variant
from utils.lessons.granularity import machine_wavefronts
from utils.lessons.inner_loops import hot_loop
from utils.machine import devices
from utils.machine.occupancy import WARP, limits_of
from utils.translation import translate
from virtual_gpu.pictures.svg import GREY, Picture, path, rect, svg, text

N = 4096  # rows and columns of the matrices
RESOURCES = ("wavefronts", "instructions")
WIDTH, LEFT, BAR, PITCH, HEAD = 412, 84, 11, 15, 29


@dataclass(frozen=True)
class Times:
    """Milliseconds for n×n matrices: two estimates, each of one resource alone, and the record.

    wavefronts: one per cycle and SM. instructions: one per cycle and scheduler, those of the
    innermost loop.
    """

    wavefronts: float
    instructions: float
    recorded: float


def recorded_times(rows: Iterable) -> dict[str, float]:
    """Return kernel -> recorded ms at N×N on the device of the first row.

    rows: of `ilp_alone.csv`, as `gemm_kernels.ilp_alone.recorded_times()` returns them. The names
    have the constants, such as "ilp GRAIN=4".
    """
    rows = list(rows)
    own = [row for row in rows if row.device == rows[0].device and row.n == N]
    return {row.kernel: row.time_ms for row in own}


def times_of(step: Step | Variant, rows: Iterable) -> Times:
    """Return the times of one kernel of the experiment; rows: as for `recorded_times`.

    Raises CourseError for a kernel without a record, and if neither the compiler nor the record of
    loops has its innermost loop.
    """
    variant, rows = as_variant(step), list(rows)
    timed, device = recorded_times(rows), devices.find(rows[0].device)
    if str(variant) not in timed:
        raise CourseError(
            f"{variant} has no row in ilp_alone.csv: choose one of {', '.join(timed)}."
        )
    ms_per_cycle = N**3 / WARP / device.sms / device.boost_clock_mhz / 1e3
    schedulers = limits_of(device.compute_capability).sub_partitions
    return Times(
        wavefronts=machine_wavefronts(variant) * ms_per_cycle,
        instructions=hot_loop(variant).per_multiply_add / schedulers * ms_per_cycle,
        recorded=timed[str(variant)],
    )


def draw(rows: Iterable, **steps: Step | Variant) -> Picture | Card:
    """Draw the estimates of each kernel as bars on the pale band of its recorded time.

    The longer estimate is in the colour of the text. rows: as for `recorded_times`. steps: one per
    kernel, from top to bottom; the keyword is its name in the picture, with _ for spaces. If the
    innermost loop of one is not known, return a Card that says so.
    """
    rows = list(rows)
    try:
        times = {name.replace("_", " "): times_of(step, rows) for name, step in steps.items()}
    except CourseError as error:
        return Card("ask", (f"{error} The lesson goes on without this picture.",))
    longest = max(ms for one in times.values() for ms in vars(one).values())
    title = translate("Time that each resource needs alone")
    where = f"{N}×{N}×{N}, one {rows[0].device}"
    body, y = text(0, 14, title, 13, font_weight="bold") + text(0, 31, where, 12), 68
    body += rect(0, 38, 20, BAR, "currentColor", opacity=0.13) + path(f"M20 38v{BAR}")
    body += text(26, 47.5, translate("recorded time"), 12)
    sentences = []
    for name, one in times.items():
        body += _kernel(name, one, y, (WIDTH - LEFT - 60) / longest)
        y += HEAD + PITCH * len(RESOURCES)
        parts = [f"{what} {_ms(getattr(one, what))}" for what in (*RESOURCES, "recorded")]
        sentences.append(f"{name}: {', '.join(parts)}")
    alt = f"{title}, {where}. {'. '.join(sentences)}."
    return Picture(svg(WIDTH, y - 14, body, alt, widest=560), alt)


def _kernel(name: str, one: Times, y: float, scale: float) -> str:
    """Return SVG of one kernel, whose name is at y. scale: pixels per millisecond."""
    body, top = text(0, y, f"{name}: {_ms(one.recorded)}", 13, font_weight="600"), y + 6
    width, height = one.recorded * scale, PITCH * len(RESOURCES) - 2
    body += rect(LEFT, top - 1, round(width, 1), height, "currentColor", opacity=0.13)
    body += path(f"M{LEFT + width:.1f} {top - 1}v{height}", stroke_width=1.5)
    for row, what in enumerate(RESOURCES):
        ms = getattr(one, what)
        is_longer = ms == max(one.wavefronts, one.instructions)
        fill = {"fill": "currentColor", "opacity": 0.8} if is_longer else {"fill": GREY}
        body += text(LEFT - 6, top + PITCH * row + BAR - 1.5, what, 12, "end")
        body += rect(LEFT, top + PITCH * row, round(ms * scale, 1), BAR, **fill)
        end = LEFT + max(width, ms * scale) + 5
        body += text(end, top + PITCH * row + BAR - 1.5, _ms(ms), 12)
    return body


def _ms(ms: float) -> str:
    return f"{ms:.1f}\N{NO-BREAK SPACE}ms"
