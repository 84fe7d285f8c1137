"""What lesson 21 shows: rooflines, counts beside the profiler's, and shares of peaks."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from utils.figures import times
from utils.ladder.ladder import Ladder, ladder_of
from utils.ladder.step import Step, Variant
from utils.lessons import profiler
from utils.lessons.cards import Table, table
from utils.lessons.lesson import course_device
from utils.lessons.lesson_21 import peak_shares, roofline_figures, samples
from utils.lessons.lesson_21.counted_steps import ceilings, counts_of, recorded_counts, recorded_of
from utils.lessons.recorded import CPU, recorded_ms, share_of_peak
from utils.measuring import records, roofline
from virtual_gpu.pictures.svg import Picture

SIZE, LARGE = "4096", "2^30"
NAMED = ("naive_strided", "naive", "tiled", "vectorized", "autotuned")
MEMORIES = {"DRAM": "dram_bytes", "L2": "l2_bytes"}
# One core of the processor of lesson 02: GHz, FMA units, floats in a vector, operations.
CORE_PEAK = 3.95 * 2 * 16 * 2
TRAFFIC = {"L2": "lts__t_bytes.sum", "shared": "l1tex__data_pipe_lsu_wavefronts.sum"}


def draw_roofline(
    products: Ladder,
    memory: str = "shared",
    beside: Sequence[Ladder] = (),
    named: Sequence[str] = NAMED,
) -> Figure:
    """The recorded products at 4096 as a path under the ceilings of the course's own device.

    memory: "L2" or "shared", whose bytes were counted on the virtual GPU; or "DRAM", where each
    byte moves once. beside: ladders of sums and copies, at 2^30, of which DRAM alone is counted.
    named: the steps that get a label, at most six.
    """
    rows = []
    for kernel, ms in recorded_of(products, SIZE).items():
        counts = recorded_counts()[kernel]
        rate = counts.flops / ms / 1e6
        rows.append((kernel.partition(" ")[0], counts.flops / _moved(counts, memory), rate))
    points = [pd.DataFrame(rows, columns=["label", "intensity", "gflops"])]
    points += [roofline.points(one, LARGE, course_device().name) for one in beside]
    title = f"The products at {SIZE}" + (", sums and a copy" if beside else "")
    return roofline_figures.roofline(pd.concat(points), ceilings(), title, memory, named)


def _moved(counts: roofline.Counts, memory: str) -> float:
    if memory == "shared":
        return roofline.WAVEFRONT_BYTES * counts.wavefronts
    return getattr(counts, MEMORIES[memory])


def smallest_right_of_ridge() -> int:
    """The least n for which n×n products have more operations per byte than the ridge of DRAM."""
    found = ceilings()
    return int(6 * found.gflops / found.gb_per_s["DRAM"]) + 1


def dram_over_least(step: Step) -> float:
    """Bytes that the profiler saw pass DRAM, over those of the three matrices."""
    parts = ("dram__bytes_read.sum", "dram__bytes_write.sum")
    return sum(profiler.figure(step, part) for part in parts) / counts_of(step).dram_bytes


def counted_and_profiled(*steps: Step) -> Table:
    """What the virtual GPU counted at 4096, and what the profiler did."""
    rows = []
    for step in steps:
        counts = counts_of(step)
        told = {"L2": counts.l2_bytes, "shared": counts.wavefronts}
        cells = [f"{told[name] / 1e9:.2f}" for name in TRAFFIC]
        seen = [f"{profiler.figure(step, figure) / 1e9:.2f}" for figure in TRAFFIC.values()]
        rows.append((step.name, cells[0], seen[0], cells[1], seen[1]))
    head = ("", "L2, GB, counted", "profiler", "wavefronts, 10⁹, counted", "profiler")
    return table(f"Traffic at {SIZE}, counted and on one {course_device().name}", head, rows)


def busiest(step: Step | Variant) -> tuple[str, float]:
    """The resource that needs the most time by the counts, and this time in ms."""
    found = roofline.times(counts_of(step), ceilings())
    name = max(found, key=found.get)
    return name, found[name]


def busy(*steps: Step) -> Table:
    """How busy the busiest resource is: by count and record, and by the profiler."""
    rows = []
    for step in steps:
        name, ms = busiest(step)
        by_count = f"{ms / _recorded_ms(step):.0%}"
        rows.append((step.name, name, by_count, f"{profiled_busy(step):.0f}%"))
    head = ("", "the busiest", "busy, by count", "by the profiler")
    return table(f"At {SIZE}, on one {course_device().name}", head, rows)


def _recorded_ms(step: Step) -> float:
    return recorded_ms(step, SIZE, on=course_device().name)


def profiled_busy(step: Step) -> float:
    """The profiler's figure, in percent, of the resource that the counts say is the busiest."""
    resource = (
        "Issue Slots Busy" if busiest(step)[0] == "issue slots" else "L1/TEX Cache Throughput"
    )
    return profiler.figure(step, resource)


def draw_busiest(*steps: Step) -> Picture:
    """For each step the time that its busiest resource needs, and the recorded one."""
    found = {step.name.replace("_", " "): (busiest(step)[1], _recorded_ms(step)) for step in steps}
    title = f"Time at {SIZE}, one {course_device().name}"
    return times.draw_estimates(found, title)


def draw_samples(step: Step) -> Picture:
    """Where the profiler saw the warps of a short kernel: its longest loop, by instruction."""
    found = profiler.sampled(step)
    total = sum(row.samples for row in found)
    seen = [(row.opcode, row.samples / total) for row in found]
    first, last = _busy_stretch([share for _, share in seen])
    title = f"Where the profiler saw the warps of {step.name}"
    return samples.draw_samples(title, seen[first : last + 1])


def _busy_stretch(shares: list[float]) -> tuple[int, int]:
    """From the first to the last instruction with at least a thousandth of all samples."""
    places = [place for place, share in enumerate(shares) if share >= 1e-3]
    return places[0], places[-1]


def shares_of_peaks(first_version: Step) -> dict[str, dict[str, float]]:
    """Of one CPU core at 1024 and of the GPU at 4096: first version, best version, library.

    first_version: of the GPU's products.
    """
    frame = records.measured(CPU, "cpu")
    one = frame[(frame["n"] == 1024) & ~frame["step"].str.contains("parallel")]
    best = one.loc[one["gflops"].idxmax()]
    first = one[one["step"] == "naive"].iloc[0]
    core = {
        "first version": first["gflops"] / CORE_PEAK,
        "best version": best["gflops"] / CORE_PEAK,
        "library": best["gflops"] / best["library_ratio"] / CORE_PEAK,
    }
    found = records.measured(course_device().name, ladder_of(first_version).name)
    gpu = records.fastest(found[(found["n"] == 4096) & (found["m"] == 4096)])
    top = gpu.loc[gpu["gflops"].idxmax()]
    return {
        "one core of a CPU": core,
        course_device().name: {
            "first version": share_of_peak(first_version, on=course_device().name),
            "best version": top["efficiency"],
            "library": top["efficiency"] / top["library_ratio"],
        },
    }


def nearer_to_its_peak(first_version: Step) -> str:
    """Whose best version is nearer to its own peak, in the words of the question."""
    core, gpu = (shares["best version"] for shares in shares_of_peaks(first_version).values())
    return "one core of the CPU" if core > gpu else "the GPU"


def draw_shares_of_peaks(first_version: Step) -> Picture:
    """The same as a figure."""
    title = "Share of its own peak, float32 products"
    return peak_shares.draw_peak_shares(title, shares_of_peaks(first_version))
