"""Figures and tables of lesson 21: rooflines, counts and profiler figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
from matplotlib.figure import Figure

from gemm_kernels import LADDER as PRODUCTS
from utils.errors import CourseError
from utils.figures import times
from utils.ladder.ladder import Ladder, is_of_a_ladder
from utils.ladder.step import Step, Variant
from utils.lessons import profiler
from utils.lessons.cards import Table, table
from utils.lessons.counting import as_step
from utils.lessons.lesson import course_device
from utils.lessons.lesson_21 import resource_needs, roofline_figure, warp_samples
from utils.lessons.lesson_21.counted_steps import ceilings, counts_of, recorded_counts, recorded_of
from utils.lessons.recorded import NOTHING, ms_if_any, recorded_ms
from utils.measuring import roofline
from virtual_gpu.pictures.svg import Picture

SIZE, LARGE = "4096", "2^30"
NAMED = ("naive", "tiled", "autotuned", "naive_strided", "register_blocked", "vectorized")
# Opcode -> a choice of the question "samples".
SAMPLED = {"LDG": "a load", "FFMA": "a multiply-add", "BRA": "the jump to the next iteration"}
MEMORIES = {"DRAM": "dram_bytes", "L2": "l2_bytes"}
# Letter -> the step whose counts the lesson shows without its name.
UNNAMED = {"K": "register_blocked", "L": "register_blocked_1d"}
# The lesson's word for the resource "shared memory and L1" of `roofline.times`.
PIPE = "the pipe"
TRAFFIC = {"L2": "lts__t_bytes.sum", "shared": "l1tex__data_pipe_lsu_wavefronts.sum"}


def draw_roofline(
    products: Ladder,
    memory: str = "shared",
    beside: Sequence[Ladder] = (),
    named: Sequence[str] = NAMED,
) -> Figure:
    """Draw the recorded products at 4096 as a path under the ceilings of the course's own device.

    Parameters
    ----------
    products : Ladder
        The ladder of products.
    memory : str
        "L2" or "shared", whose bytes were counted on the virtual GPU, or "DRAM", where each byte
        moves once.
    beside : sequence of Ladder
        Ladders of sums and copies to add, at 2^30. Only their DRAM bytes are counted.
    named : sequence of str
        The steps to label, at most six.
    """
    rows = []
    for kernel, ms in recorded_of(products, SIZE).items():
        counts = recorded_counts()[kernel]
        rate = counts.flops / ms / 1e6
        rows.append((kernel.partition(" ")[0], counts.flops / _moved(counts, memory), rate))
    points = [pd.DataFrame(rows, columns=["label", "intensity", "gflops"])]
    points += [roofline.points(one, LARGE, course_device().name) for one in beside]
    title = f"The products at {SIZE}" + (", sums and a copy" if beside else "")
    return roofline_figure.roofline(pd.concat(points), ceilings(), title, memory, named)


def _moved(counts: roofline.LaunchCounts, memory: str) -> float:
    """Return the bytes that a launch moves to and from a memory: "DRAM", "L2" or "shared".

    For "shared", each wavefront counts as WAVEFRONT_BYTES.
    """
    if memory == "shared":
        return roofline.WAVEFRONT_BYTES * counts.wavefronts
    return getattr(counts, MEMORIES[memory])


def dram_over_least(step: Step) -> float:
    """Return the DRAM bytes that the profiler counted, divided by those of the three matrices.

    Both are those of one product at 4096.
    """
    parts = ("dram__bytes_read.sum", "dram__bytes_write.sum")
    return sum(profiler.figure(step, part) for part in parts) / counts_of(step).dram_bytes


def counted_and_profiled(*steps: Step) -> Table:
    """Return a table of the traffic at 4096, counted on the virtual GPU and by the profiler.

    There is one row per step. The columns are the GB between L2 and the SMs, and the 10⁹ wavefronts
    of shared memory, each counted and profiled. The reader's own kernel was not profiled: these
    cells are "–".
    """
    rows = []
    for step in steps:
        counts = counts_of(step)
        counted = {"L2": counts.l2_bytes, "shared": counts.wavefronts}
        cells = [f"{counted[name] / 1e9:.2f}" for name in TRAFFIC]
        profiled = [_profiled(step, figure, 1e9, "{:.2f}") for figure in TRAFFIC.values()]
        rows.append((as_step(step).name, cells[0], profiled[0], cells[1], profiled[1]))
    head = ("", "L2, GB, counted", "profiler", "wavefronts, 10⁹, counted", "profiler")
    return table(f"Traffic at {SIZE}, counted and on one {course_device().name}", head, rows)


def _profiled(step: Step | Variant, figure: str, unit: float, form: str) -> str:
    """Return a profiler figure of a step as text; "–" for the reader's own kernel.

    unit: the figure is divided by it. form: a format such as "{:.2f}".
    """
    if not is_of_a_ladder(as_step(step)):
        return NOTHING
    return form.format(profiler.figure(step, figure) / unit)


def busiest(step: Step | Variant) -> tuple[str, float]:
    """Return (resource, milliseconds) of the resource that a step needs longest by the counts.

    The time is that of a product at 4096 on the course's reference device. The resource is
    "arithmetic", "DRAM", "L2", "the pipe" or "issue slots".
    """
    needed = _needed(step)
    name = max(needed, key=needed.get)
    return name, needed[name]


def _needed(step: Step | Variant) -> dict[str, float]:
    """Return resource -> ms for which a step's product at 4096 keeps it busy, by the counts.

    The resources have the rates that were recorded on the course's reference device.
    """
    return _times(counts_of(step))


def _times(counts: roofline.LaunchCounts) -> dict[str, float]:
    """Return resource -> ms for which a launch with these counts keeps it busy.

    The resources have the rates that were recorded on the course's reference device.
    """
    needed = roofline.times(counts, ceilings())
    return {PIPE if name == "shared memory and L1" else name: ms for name, ms in needed.items()}


def _recorded_ms(step: Step) -> float:
    """Return the recorded time in ms of a step at 4096 on the course's reference device."""
    return recorded_ms(step, SIZE, on=course_device().name)


def draw_busiest(*steps: Step) -> Picture:
    """Draw one row per step: the ms that its busiest resource needs, and its recorded ms.

    Both are those of a product at 4096 on the course's reference device. A step without a record
    has no recorded ms in its row.
    """
    where = course_device().name
    bars = {
        as_step(step).name.replace("_", " "): (busiest(step)[1], ms_if_any(step, SIZE, where))
        for step in steps
    }
    title = f"Time at {SIZE}, one {course_device().name}"
    return times.draw_estimates(bars, title)


def draw_needs(step: Step) -> Picture:
    """Draw the ms that each resource needs for a step's product at 4096, and the recorded ms.

    The device is the course's reference device.
    """
    title = f"{as_step(step).name} at {SIZE}, one {course_device().name}"
    return resource_needs.draw_needs(title, _needed(step), _recorded_ms(step))


def busiest_share(step: Step) -> float:
    """Return the percentage of a step's recorded time for which its busiest resource is busy.

    Both times are those of a product at 4096 on the course's reference device.
    """
    return 100 * busiest(step)[1] / _recorded_ms(step)


def saved_by_half_the_wavefronts(step: Step) -> float:
    """Return the ms by which the longest need of a step shrinks with half of its wavefronts.

    All its other counts stay the same. The need that is the longest afterwards may be that of
    another resource. The product is that at 4096 on the course's reference device.
    """
    counts = counts_of(step)
    halved = _times(replace(counts, wavefronts=counts.wavefronts / 2))
    return busiest(step)[1] - max(halved.values())


def unnamed_kernels() -> dict[str, Step]:
    """Return the kernels whose counts the lesson shows without their names: letter -> step."""
    return {letter: PRODUCTS.step(name) for letter, name in UNNAMED.items()}


def most_sampled(step: Step) -> str:
    """Return which instruction of a step has the most samples, as a choice of question "samples".

    It is the single instruction with the most, and the choice is the one for its opcode: "a load",
    "a multiply-add" or "the jump to the next iteration". Raises CourseError if the profiler took no
    samples of the step.
    """
    row = max(_samples(step), key=lambda one: one.samples)
    return next(words for opcode, words in SAMPLED.items() if row.opcode.startswith(opcode))


def draw_samples(step: Step) -> Picture:
    """Draw the share of the profiler's warp samples at each instruction of a step, in code order.

    The first and the last drawn instruction are the outermost ones with at least a thousandth of
    all samples. Raise CourseError if the profiler took no samples of the step.
    """
    instructions, name = _samples(step), as_step(step).name
    total = sum(row.samples for row in instructions)
    shares = [(row.opcode, row.samples / total) for row in instructions]
    first, last = _busy_stretch([share for _, share in shares])
    title = f"Where the profiler saw the warps of {name}"
    return warp_samples.draw_samples(title, shares[first : last + 1])


def _samples(step: Step) -> list[profiler.SampledInstruction]:
    """Return the samples of a step by instruction, in code order.

    Raises CourseError if the profiler took no samples of the step.
    """
    instructions = profiler.sampled(step)
    if not sum(row.samples for row in instructions):
        name = as_step(step).name
        raise CourseError(f"The profiler took no samples of {name}: choose a profiled kernel.")
    return instructions


def _busy_stretch(shares: list[float]) -> tuple[int, int]:
    """Return the indices of the first and of the last share that is at least a thousandth."""
    busy_indices = [index for index, share in enumerate(shares) if share >= 1e-3]
    return busy_indices[0], busy_indices[-1]
