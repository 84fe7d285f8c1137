"""Three elementwise launches and one fused kernel: their bytes, and their points on a roofline."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numba import cuda, float32

from utils.lessons.lesson_21 import roofline_figure
from utils.lessons.lesson_21.counted_steps import ceilings
from virtual_gpu import trace

ELEMENTS, THREADS = 1024, 256
OPERATIONS = 4  # of an element: a difference, a product, a sum and a maximum


@cuda.jit
def normalise(x, mean, scale, t):
    i = cuda.grid(1)
    if i < t.size:
        t[i] = (x[i] - mean) * scale


@cuda.jit
def add(t, y, s):
    i = cuda.grid(1)
    if i < s.size:
        s[i] = t[i] + y[i]


@cuda.jit
def cut(s, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = max(s[i], float32(0))


def bytes_of_three() -> float:
    """Return the bytes per element that the three launches move, counted on the virtual GPU."""
    x, y, t, s, out = np.ones((5, ELEMENTS), np.float32)
    arguments = {normalise: (x, np.float32(1), np.float32(2), t), add: (t, y, s), cut: (s, out)}
    return sum(_bytes(kernel, *given) for kernel, given in arguments.items())


def bytes_of_one(kernel) -> float:
    """Return the bytes per element that a reader's kernel `fused` moves, on the virtual GPU."""
    x, y, out = np.ones((3, ELEMENTS), np.float32)
    return _bytes(kernel, x, np.float32(1), np.float32(2), y, out)


def _bytes(kernel, *arguments) -> float:
    """Return the bytes per element that a launch moves; each sector counts once per block."""
    return trace(kernel, ELEMENTS // THREADS, THREADS, *arguments).footprint_bytes / ELEMENTS


def draw(moved: Mapping[str, float]) -> Figure:
    """Draw a roofline with a point per way to compute: the most GFLOP/s that DRAM allows it.

    The device is the course's own. moved: label of a way -> bytes per element for `OPERATIONS`
    operations.
    """
    rate = ceilings().gb_per_s["DRAM"]
    rows = [(label, OPERATIONS / each, OPERATIONS / each * rate) for label, each in moved.items()]
    points = pd.DataFrame(rows, columns=["label", "intensity", "gflops"])
    title = "The most that DRAM allows"
    return roofline_figure.roofline(points, ceilings(), title, "DRAM", list(moved))
