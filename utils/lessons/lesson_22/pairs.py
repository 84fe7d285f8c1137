"""The loads of a by pairs: what one mma needs if each load brings a lane two elements of a row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import cuda, uint32
from numba.types import float16

from tensor_kernels import LADDER
from tensor_kernels.mma_naive import STEP
from tensor_kernels.pairs_alone import (
    EXPERIMENT,
    by_elements,
    by_pairs,
    kernel_with,
    variant_with,
)
from utils.lessons.cards import Card, Fold, Table, table
from utils.lessons.code import show_kernel
from utils.lessons.lesson_22 import limits
from utils.lessons.recorded import duration, row_with, rows_of
from utils.machine import devices
from utils.machine.occupancy import WARP
from utils.measuring import measure
from utils.measuring.kernel_times import ProductTime
from utils.translation import translate
from virtual_gpu import Finding, Trace, VirtualGpuError
from virtual_gpu import trace as run_traced
from virtual_gpu.numbers.fragments import element_of_a

SHAPE = (32, 16, 64)  # m, n, k; rows of a are a cache line long
PAIR_BYTES = 4
LARGEST, WIDE = 2048, 32  # up to LARGEST every integer is a float16; WIDE elements are a row


def traced(load_a: Callable) -> Trace:
    """Return the trace of a product of `SHAPE` on the virtual GPU, with these loads of a."""
    m, n, k = SHAPE
    draw = np.random.default_rng(22)
    a, b = (draw.integers(-7, 8, size).astype(np.float16) for size in ((m, k), (k, n)))
    # Rows of b have the distance of a cache line, as in a large matrix.
    wide = np.zeros((k, 64), np.float16)
    wide[:, :n] = b
    c = np.full((m, n), np.nan, np.float32)
    return run_traced(kernel_with(load_a), (n // 8, m // 16), (32,), a, wide, c)


def lines() -> float:
    """Return the mean number of cache lines that a warp's loads of a and b touch per mma.

    The loads of a bring pairs, as in the course's solution. They are counted on the virtual GPU.
    """
    return limits.lines_per_mma(traced(by_pairs))


def count(load_a: Callable) -> Card:
    """Return a card that says whether the reader's `load_a` is right, or what is wrong with it.

    If it loads the right elements without a finding of the virtual GPU, a table below has the loads
    and the cache lines per mma, and the ms of these cache lines at `limits.SIDE`. More than two
    loads of a per mma are a mistake.
    """
    not_yet = translate("`load_a`: not yet.")
    if wrong := _mistake(load_a):
        return Card("bad", (not_yet, wrong))
    trace = traced(load_a)
    if trace.findings:
        return Card("bad", (not_yet, _finding(trace.findings[0])))
    loads = trace.accesses.query("kind == 'load'")
    of_a = loads.query("array == 'a'").sum(numeric_only=True)
    per_mma = loads[list(limits.COUNTS)].sum() / trace.totals["mma"]
    ms = limits.lines_ms(per_mma["cache_lines"])
    head = ("with your `load_a`", *limits.COUNTS.values(), f"their ms at {limits.SIDE}")
    row = ("per mma", *(f"{per_mma[one]:g}" for one in limits.COUNTS), f"{ms:.1f}")
    below = table("Counted on the virtual GPU", head, [row])
    number = round(of_a["requests"] / trace.totals["mma"])
    if number <= 2:
        right = translate("Two loads of `a` bring a lane its four elements.")
        return Card("good", (translate("`load_a`: right."), right), below=below)
    cause = _more_loads(number, of_a["bytes"] / of_a["lanes"])
    return Card("bad", (not_yet, cause), below=below)


def _more_loads(number: int, bytes_per_lane: float) -> str:
    """Return a sentence for a `load_a` that brings the right elements by more than two loads.

    number: the loads from a that a warp makes for one mma. bytes_per_lane: the bytes that a lane
    gets by one load, in the mean; with fewer than PAIR_BYTES the sentence says that some loads
    bring no pair, else that a pair is loaded more than once.
    """
    if bytes_per_lane < PAIR_BYTES:
        return translate(
            "The elements are right, but not every load brings a pair: a warp loads {number} times "
            "from `a` for one mma.",
            number=number,
        )
    return translate(
        "The elements are right, but a lane loads a pair more than once: a warp loads {number} "
        "times from `a` for one mma, and two loads bring all four elements.",
        number=number,
    )


def _mistake(load_a: Callable) -> str:
    """Return a sentence on why `load_a` cannot run or loads other elements, "" if it is right."""
    try:
        held, trace = fragments_by(load_a)
        if trace.findings:
            return _finding(trace.findings[0])
        return _other_element(held)
    except VirtualGpuError as error:
        return _not_run(str(error))


def fragments_by(load_a: Callable) -> tuple[np.ndarray, Trace]:
    """Return the fragments that the lanes of one warp load from a, and the trace of the loads.

    Element (y, z) of a is y·WIDE + z. The fragments have the shape (lanes, 4); an element that
    `load_a` does not set is -1.
    """

    @cuda.jit
    def store_fragments(a, held):
        of_a = cuda.local.array(4, float16)
        lane = uint32(cuda.threadIdx.x)
        for i in range(4):
            of_a[i] = float16(-1.0)
        load_a(of_a, a, lane // 4, lane % 4 * 2)
        for i in range(4):
            held[lane, i] = of_a[i]

    a = np.arange(LARGEST, dtype=np.float16).reshape(-1, WIDE)
    held = np.zeros((WARP, 4), np.float16)
    return held, run_traced(store_fragments, 1, (WARP,), a, held)


def _other_element(held: np.ndarray) -> str:
    """Return a sentence on the first element that a lane should not hold, "" if there is none."""
    for (lane, i), value in np.ndenumerate(held.astype(int)):
        right = element_of_a(lane, i)
        if value < 0:
            return translate("`load_a` does not set `of_a[{i}]`.", i=i)
        if (found := divmod(value, WIDE)) != right:
            other = translate(
                "In lane {lane} `of_a[{i}]` is the element {found} of `a`, and in the picture it "
                "is {right}.",
                lane=lane,
                i=i,
                found=str(tuple(map(int, found))),
                right=str(tuple(map(int, right))),
            )
            return f"{other} {_same_distance(held)}".strip()
    return ""


def _same_distance(held: np.ndarray) -> str:
    """Return a sentence if all indices are off by the same distance, "" if they are not."""
    away = {
        tuple(np.subtract(divmod(int(value), WIDE), element_of_a(lane, i)).tolist())
        for (lane, i), value in np.ndenumerate(held)
    }
    if len(away) > 1:
        return ""
    return translate(
        "Every index is the right one plus {away}. `y` and `z` are already the row and the column "
        "of the lane's first element.",
        away=str(*away),
    )


def _finding(finding: Finding) -> str:
    """Return a sentence on a finding of the virtual GPU, with the line of the reader's cell."""
    words = finding.message
    if finding.axis is not None:
        name, index = finding.array, ", ".join(map(str, finding.index))
        words = translate("`{name}[{index}]` is outside of `{name}`.", name=name, index=index)
    return translate(
        "Line {line} of your cell, `{source}`: {words}",
        line=finding.site.line,
        source=finding.site.source,
        words=words,
    )


def _not_run(message: str) -> str:
    """Return a sentence on loads that the virtual GPU refuses. message: that of its error."""
    if "load_pair(" in message and "called with these arguments" in message:
        return translate(
            "`load_pair` takes an array and one position, which is a tuple of both indices: "
            "`load_pair(a, (y, z))`."
        )
    if "without @cuda.jit(device=True)" in message:
        return translate("`load_a` needs `@cuda.jit(device=True)` above its `def`.")
    if "a call that does not fit" in message:
        return translate("`load_a` has four parameters: `of_a`, `a`, `y` and `z`.")
    if "storing to" in message:
        return translate(
            "`load_pair` returns two elements: assign them to two elements of `of_a`, as in `one, "
            "two = pair`."
        )
    return message


def race(load_a: Callable, shape: str = limits.SIDE) -> Table | Card:
    """Time a product with `load_a`, one with single loads, and `mma_naive` in turns on this GPU.

    Return a table of the times, or a card with a sentence if `load_a` is wrong. Without a GPU the
    table is that of `recorded_race`, whatever the shape. shape: n of an n×n product, as text, a
    multiple of 16.
    """
    if wrong := _mistake(load_a):
        return Card("bad", (translate("`load_a`: not yet."), wrong))
    problem, device = LADDER.parse(shape), devices.current()
    if device is None:
        return recorded_race()
    rivals = {"your load_a": load_a, "single loads": by_elements}
    variants = [variant_with(name, one) for name, one in rivals.items()]
    rows = measure.race(LADDER, (*variants, STEP.variant()), problem, device)
    return table(
        f"{problem}, in turns on one {device.name}",
        ("", "time"),
        [(row.step, duration(row.time_ms)) for row in rows],
    )


def recorded_race() -> Table:
    """Return a table of the recorded ms of loads by pairs, of single loads and of `mma_naive`.

    It has a row per kernel. The kernels were timed in turns.
    """
    timed = recorded_times()
    return table(
        f"{LADDER.parse(str(timed[0].n))}, recorded in turns on one {timed[0].device}",
        ("", "time"),
        [(row.kernel.replace("_loads", " loads"), f"{row.time_ms:.2f} ms") for row in timed],
    )


def recorded_ms(kernel: str) -> float:
    """Return the recorded ms of a kernel of `tensor_kernels.pairs_alone` at `limits.SIDE`."""
    return row_with(recorded_times(), kernel=kernel, n=int(limits.SIDE)).time_ms


def recorded_times() -> tuple[ProductTime, ...]:
    """Return the recorded times of `tensor_kernels.pairs_alone`, one row per kernel and size.

    They are those of the device shown or, if it has no such record, of the reference device.
    """
    return rows_of(EXPERIMENT.file, ProductTime)


def solution() -> Fold:
    """Return a closed fold with the source of the loads by pairs."""
    return Fold(translate("The course's function"), show_kernel(by_pairs, comments=False))
