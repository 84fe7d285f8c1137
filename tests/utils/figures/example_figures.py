"""Invented records, a figure of each kind, and functions that find violations of figures' rules."""

import re
from collections import Counter
from dataclasses import replace
from itertools import combinations

import pandas as pd
from matplotlib.text import Annotation, Text

from utils.figures import plots
from utils.figures.labels import MOST_LABELS, extent
from utils.figures.look import COLOURS, of_text
from utils.lessons.lesson_08.occupancy_figures import curves
from utils.lessons.lesson_21.roofline_figure import roofline
from utils.measuring import records
from utils.measuring.records import Record
from utils.measuring.roofline import Ceilings

PEAK = 66900
BASE = replace(
    Record(**dict.fromkeys(records.COLUMNS)),
    device="NVIDIA H200",
    date="2026-11-21",
    ladder="gemm",
)
PHONE = 420  # pixels
SMALLEST = 11  # pixels


def gemm(speeds, sizes=(512, 1024, 4096), **fields):
    """Return records of square products. speeds: step -> GFLOP/s, the same at every size."""
    return records.to_frame(
        replace(
            BASE,
            **{"step": step, "m": n, "n": n, "k": n, "gflops": speed},
            efficiency=speed and speed / PEAK,
            time_ms=speed and 2 * n**3 / speed / 1e6,
            **fields,
        )
        for step, speed in speeds.items()
        for n in sizes
    )


SLOW_AND_FAST = {"naive": 5000, "tiled": 20000}
WITH_LIBRARY = gemm(SLOW_AND_FAST, library="cuBLAS", library_ratio=0.5)
CROWDED = gemm({f"register_blocked_{i}": 1000 + 100 * i for i in range(12)}, params="TILE=32")
REDUCE = records.to_frame(
    replace(BASE, step=f"reduce{i}", elements=2**e, gb_per_s=500 * (i + 1), time_ms=1 / (i + 1),
            efficiency=500 * (i + 1) / 4800)
    for i in range(9)
    for e in (20, 28, 30)
)  # fmt: skip
PUBLISHED = records.published("gemm_gpu")
SHARES = pd.DataFrame(
    {"label": ["ILP 1"] * 3 + ["ILP 4"] * 3, "x": [32, 256, 1024] * 2}
    | {"share": [0.06, 0.4, 0.5, 0.23, 0.96, 0.96], "model": [0.06, 0.5, 1, 0.25, 1, 1]}
)
CROSSES = [(192, 1.0, "ILP 4"), (576, 1.0, "ILP 1")]
WHERE = "recorded 2026-11-21 on NVIDIA H200; crosses: where the GTX480 of 2010 is at its peak"
LADDER = pd.DataFrame({"label": [f"step_{i}" for i in range(20)], "intensity": 9.0, "gflops": 80.0})
CEILINGS = Ceilings("NVIDIA H200, recorded 2026-11-21", 1000, {"DRAM": 10, "L2": 40, "shared": 256})
FIGURES = {
    "shares": lambda: plots.share_lines(SHARES, "threads", "Chains", WHERE, CROSSES),
    "curve": lambda: plots.curve(WITH_LIBRARY, ["naive", "tiled"]),
    "one size": lambda: plots.curve(gemm(SLOW_AND_FAST, [64]), ["tiled"]),
    "crowded": lambda: plots.curve(CROWDED, [f"register_blocked_{i}" for i in range(5)]),
    "bandwidth": lambda: plots.curve(REDUCE, ["reduce0", "reduce8"], "Sum of float32"),
    "old and new": lambda: plots.old_against_new(WITH_LIBRARY, "naive", "tiled", PEAK),
    "panels": lambda: plots.small_multiples(CROWDED, "Twelve steps"),
    "staircase": lambda: plots.staircase(CROWDED),
    "with library": lambda: plots.staircase(WITH_LIBRARY),
    "published": lambda: plots.published_beside_measured(PUBLISHED, WITH_LIBRARY),
    "roofline": lambda: roofline(
        LADDER.assign(gflops=80 + LADDER.index / 10), CEILINGS, "Steps of nearly one speed"
    ),
    "times of products": lambda: plots.times_of_products(
        (64, 256, 1024),
        {
            "GPU with copies": (0.5, 0.6, 2.8),
            "kernel alone": (0.05, 0.05, 0.4),
            "CPU, 1 thread": (0.004, 0.3, 13),
            "CPU, 16 threads": (0.02, 0.06, 2.7),
        },
        "NVIDIA H200",
    ),
    "occupancy": lambda: curves((9, 0), threads=1024, registers=64, shared_bytes=100_000),
}


def texts(figure):
    return [text.get_text() for text in shown(figure)]


def shown(figure):
    """Return the visible texts, without labels of ticks outside the limits of their axis."""
    figure.draw_without_rendering()
    invisible = [text for axes in figure.axes for text in _invisible(axes)]
    return [
        text
        for text in figure.findobj(lambda artist: isinstance(artist, Text))
        if text.get_text() and text.get_visible() and text not in invisible
    ]


def _invisible(axes):
    if not axes.get_visible():
        return axes.findobj(lambda artist: isinstance(artist, Text))
    texts = []
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        outside = [tick for tick in axis.get_major_ticks() if not low <= tick.get_loc() <= high]
        texts += [tick.label1 for tick in outside]
    return texts


def labels(figure):
    """Return the labels of series: the bold annotations in the axes."""
    return [
        text
        for text in shown(figure)
        if isinstance(text, Annotation) and text.get_fontweight() == "bold"
    ]


def too_many_labels(figure):
    return [text.get_text() for text in labels(figure)][MOST_LABELS:]


def too_small_on_a_phone(page):
    """Return the words that are smaller than SMALLEST on a page as wide as a phone."""
    width = float(re.search(r'viewBox="0 0 ([\d.]+)', page)[1])
    sizes = re.findall(r"<text[^>]*font-size: ([\d.]+)px[^>]*>([^<]*)", page)
    assert len(sizes) == page.count("<text")
    return [words for size, words in sizes if float(size) * PHONE / width < SMALLEST]


def cut_off(figure):
    """Return the texts that cross the edge of the figure."""
    edge = figure.bbox
    boxes = [(text.get_text(), extent(text)) for text in shown(figure)]
    return [
        words
        for words, box in boxes
        if box.x0 < edge.x0 - 1 or box.x1 > edge.x1 + 1 or box.y0 < -1 or box.y1 > edge.y1 + 1
    ]


def touching(figure):
    """Return the pairs of texts that overlap; rotated texts are left out."""
    boxes = [(text.get_text(), extent(text)) for text in shown(figure) if not text.get_rotation()]
    return [
        (one, other)
        for (one, first), (other, second) in combinations(boxes, 2)
        if first.shrunk(0.98, 0.8).overlaps(second.shrunk(0.98, 0.8))
    ]


def pointing_at_others(figure):
    """Return the labels that are crossed by the leader of another label."""
    boxes = [(text.get_text(), extent(text)) for text in labels(figure) if text.get_text()]
    crossed = []
    for leader in (text.arrow_patch for text in figure.findobj(Annotation) if text.arrow_patch):
        path = leader.get_transform().transform_path(leader.get_path()).interpolated(20)
        # A leader starts at its own label, so its first fifth is left out.
        rest = path.vertices[len(path.vertices) // 5 :]
        crossed += [words for words, box in boxes if box.count_contains(rest)]
    return crossed


def foreign_colours(page):
    """Return the colours in a page that are neither the page's ink nor a colour of a series."""
    colours = re.findall(r'(?:fill|stroke)(?:: |=")([^;"]+)', page)
    series = "|".join(COLOURS)
    allowed = rf"none|currentColor|{series}|color-mix\(in srgb, (?:{series}) 70%, currentColor\)"
    return {colour for colour in colours if not re.fullmatch(allowed, colour)} - _LABELS


# The colours of labels, for browsers without `color-mix`.
_LABELS = {of_text(colour) for colour in COLOURS}


def shared_ids(*pages):
    """Return the ids that more than one of the pages has."""
    counts = Counter(name for page in pages for name in set(re.findall(r'\bid="([^"]+)"', page)))
    return {name for name, count in counts.items() if count > 1}
