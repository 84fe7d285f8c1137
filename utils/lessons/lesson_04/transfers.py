"""Host–device transfers: counted on the virtual GPU, and their recorded times."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import numpy as np
import pandas as pd

from gemm_kernels.naive import naive
from utils.errors import CourseError
from utils.figures import plots
from utils.figures.roles import COPY, KERNEL
from utils.ladder.problems import draw
from utils.lessons.cards import Table, table
from utils.lessons.lesson import device_shown
from utils.lessons.lesson_04.time_axis import draw_time_axis
from utils.machine import devices
from utils.measuring import records
from virtual_gpu import counting_transfers, installed
from virtual_gpu.pictures.svg import GREY, Picture, path, rect, svg, text

SIZES = (64, 128, 256, 512, 1024, 2048)  # n of the recorded n×n products
TIMES = ("time_ms", "time_ms_min", "time_ms_max")
DECADE = 70  # pixels of a factor of ten, in bars on a logarithmic axis
DIRECTIONS = {"to_device": "to device", "to_host": "to host"}


def copies(function: Callable, *arguments) -> Table:
    """Call a function on the virtual GPU and return a table of the host–device copies it makes.

    Parameters
    ----------
    function : callable
        A function that copies arrays or launches kernels.
    *arguments
        The arguments of `function`.

    Returns
    -------
    Table
        One row per array shape, direction, what made the copy, and bytes per copy. Its cells are
        the first three of these, the number of such copies and their total bytes. The rows are in
        the order of their first copies, and a row with the sums of all copies is the last.
    """
    with installed(), counting_transfers() as log:
        function(*arguments)
    counts = Counter((one.shape, one.direction, one.by, one.nbytes) for one in log)
    rows = [
        ("×".join(map(str, shape)) or "one element", DIRECTIONS[direction], f"`{by}`", number,
         f"{number * nbytes:,}")
        for (shape, direction, by, nbytes), number in counts.items()
    ]  # fmt: skip
    rows.append(("all", "", "", len(log), f"{sum(one.nbytes for one in log):,}"))
    head = ("array", "goes", "copied by", "copies", "bytes")
    return table("Copies between host and device", head, rows)


def compare(a: np.ndarray, b: np.ndarray, **functions: Callable) -> Table:
    """Return a table of the copies of several host functions that return a·b, a row per function.

    Each function is called with (kernel, a, b) on the virtual GPU; the kernel is the course's
    `naive`. The columns are the number of all copies, their bytes to the device, and their bytes to
    the host.
    """
    rows = []
    for name, function in functions.items():
        with installed(), counting_transfers() as log:
            function(naive, a, b)
        moved = Counter()
        for one in log:
            moved[one.direction] += one.nbytes
        rows.append((name.replace("_", " "), len(log), *(f"{moved[to]:,}" for to in DIRECTIONS)))
    head = ("", "copies", "bytes to the device", "bytes to the host")
    size = f"{a.shape[0]}×{b.shape[1]}×{a.shape[1]}"
    return table(f"Copies of a product of {size}", head, rows)


def copies_of_a_product(function: Callable) -> Table:
    """Return a table of the host–device copies of a reader's function that returns a·b.

    The function takes (kernel, a, b). The table has one row per array shape, direction and what
    made the copy, and a row with the sums. a is 48×20 and b is 20×80, as in the lesson, and the
    kernel is the course's `naive`.
    """
    a, b = draw("integers", (48, 20), 4), draw("integers", (20, 80), 5)
    return copies(function, naive, a, b)


def transfer_ms(step: str, params: str = "", shape: str = "2000x600x2000") -> float:
    """Return the median time in ms of one recorded transfer or product.

    Parameters
    ----------
    step : str
        The step as `transfers.csv` names it.
    params : str
        The beginning of the record's text in the column `params`, such as "PART=kernel".
    shape : str
        m×n×k as on the command line, such as "2000x600x2000", or one number for all three.

    Raises
    ------
    CourseError
        Unless exactly one record matches.
    """
    return transfer_times(step, params, shape)[0]


def transfer_times(
    step: str, params: str = "", shape: str = "2000x600x2000"
) -> tuple[float, float, float]:
    """Return the median, shortest and longest time in ms of one recorded transfer or product.

    step: as `transfers.csv` names it. params: the beginning of the record's text in the column
    `params`. shape: m×n×k, or one number for all three. Raises CourseError unless exactly one
    record matches.
    """
    sizes = (shape.split("x") * 3)[:3] if "x" not in shape else shape.split("x")
    frame = recorded_transfers()
    rows = frame[(frame["step"] == step) & frame["params"].str.startswith(params)]
    for column, size in zip("mnk", sizes, strict=True):
        rows = rows[rows[column] == int(size)]
    if len(rows) != 1:
        raise CourseError(
            f"There are {len(rows)} times of {step} {params} at {shape} on {_device()}, and one is "
            "needed: `python -m gemm_kernels transfers --record` makes records."
        )
    return tuple(float(rows[column].iloc[0]) for column in TIMES)


def recorded_transfers() -> pd.DataFrame:
    """Return the transfer records of one device, one record per row.

    The device is the one shown in the lesson, or the reference device if the device shown has no
    transfer records.
    """
    return records.measured(_device(), "transfers")


def draw_bandwidth(*ways: str) -> None:
    """Show a figure of the recorded bandwidth of copies in GB/s against the number of bytes.

    ways: the kinds of copy to draw, such as "pageable" or "pinned".
    """
    frame = recorded_transfers()
    plots.show(plots.bandwidth_of_transfers(frame[frame["step"].isin(ways)]))


def draw_managed_kernels() -> Picture:
    """Draw the recorded kernel times of a 2000×600×2000 product, one bar per origin of its arrays.

    The arrays are copied, or managed with pages on the host, or managed and already moved by a
    request or by an earlier launch, or managed and filled by a kernel, whose time is drawn too.
    """
    kernel, managed = "WHAT=kernel", "product_managed"
    rows = {
        "copied arrays": {"kernel": transfer_ms("product_with_copies", kernel)},
        "managed, pages on the host": {"kernel": transfer_ms(managed, f"{kernel} TOUCH=first")},
        "managed, moved before the launch": {
            "kernel": transfer_ms(managed, f"{kernel} TOUCH=prefetched")
        },
        "managed, launched again": {"kernel": transfer_ms(managed, f"{kernel} TOUCH=second")},
        "managed, born on the GPU": {
            "kernel that fills": transfer_ms("product_born_on_gpu", "WHAT=fill"),
            "kernel": transfer_ms("product_born_on_gpu", kernel),
        },
    }
    return draw_time_axis(rows, f"Kernels, 2000×600×2000, one {_device()}")


def draw_what_is_left() -> Picture:
    """Draw the recorded time of ten 2000×600×2000 products, a stacked bar per way to copy.

    Each bar has the time of the kernels alone, and the remaining time for copies and memory, or for
    pages of managed memory.
    """
    ten = "ten_products"
    kernels = transfer_ms(ten, "WHAT=kernel")
    ways = {
        "pageable memory, 30 copies": ("MEMORY=pageable COPIES=each", "copies and memory"),
        "managed memory": ("MEMORY=managed", "pages"),
        "pageable memory, 3 copies": ("MEMORY=pageable COPIES=once", "copies and memory"),
        "pinned memory, 3 copies": ("MEMORY=pinned COPIES=once", "copies and memory"),
    }
    rows = {
        name: {"kernel": kernels, rest: transfer_ms(ten, params) - kernels}
        for name, (params, rest) in ways.items()
    }
    return draw_time_axis(rows, f"Ten products, 2000×600×2000, one {_device()}")


def draw_break_even() -> Picture:
    """Draw the recorded time of an n×n product against n, one line per way.

    The ways are the GPU with copies, the kernel alone, NumPy on one thread, and the best CPU step
    on several threads.
    """
    ways = {
        "GPU with copies": ("product_with_copies", "WHAT=wall"),
        "kernel alone": ("product_with_copies", "WHAT=kernel"),
        "NumPy, 1 thread": ("product_numpy", "THREADS=1"),
        f"our best, {cpu_threads()} threads": ("cpu_parallel", ""),
    }
    series = {
        name: [transfer_ms(step, params, str(n)) for n in SIZES]
        for name, (step, params) in ways.items()
    }
    where = f"one {_device()} with the kernel naive, and its CPU"
    figure = plots.times_of_products(SIZES, series, where)
    return Picture(plots.as_html(figure), figure.alt_text)


def first_size_of_gpu(step: str, params: str = "") -> int:
    """Return the smallest recorded n from which the GPU with copies is faster than a CPU step.

    At this n and at every larger recorded n, an n×n product with copies takes less time than the
    CPU step with these params. Raises CourseError if no recorded n is large enough, or if a time is
    not recorded.
    """
    faster = [
        transfer_ms("product_with_copies", "WHAT=wall", str(n)) < transfer_ms(step, params, str(n))
        for n in SIZES
    ]
    for index, n in enumerate(SIZES):
        if all(faster[index:]):
            return n
    raise CourseError(f"At n = {SIZES[-1]} the GPU with copies is not faster than {step}.")


def cpu_threads() -> int:
    """Return the number of threads with which the parallel CPU products were recorded."""
    frame = recorded_transfers()
    (params,) = frame.loc[frame["step"] == "cpu_parallel", "params"].unique()
    return int(params.removeprefix("THREADS="))


def draw_ten_products() -> Picture:
    """Draw the times of ten 2000×600×2000 products as bars on a logarithmic axis.

    There are three ways on the CPU, each ten times the recorded time of one product, and four on
    the GPU: with copies by the launch, three per product, three in all, and the kernels alone.
    """
    threads, ten = cpu_threads(), "ten_products"
    ways = {
        "CPU, naive loops, 1 thread": (10 * transfer_ms("cpu_naive"), GREY),
        f"CPU, naive loops, {threads} threads": (10 * transfer_ms("cpu_naive_parallel"), GREY),
        f"CPU, our best, {threads} threads": (10 * transfer_ms("cpu_parallel"), GREY),
        "GPU, 60 copies by the launches": (transfer_ms(ten, "MEMORY=numpy COPIES=each"), COPY),
        "GPU, 30 copies": (transfer_ms(ten, "MEMORY=pageable COPIES=each"), COPY),
        "GPU, 3 copies": (transfer_ms(ten, "MEMORY=pageable COPIES=once"), COPY),
        "GPU, kernels alone": (transfer_ms(ten, "WHAT=kernel"), KERNEL),
    }
    title = f"Ten products, one {_device()} and its CPU"
    body, said = text(4, 14, title, 13, font_weight="bold"), []
    for row, (name, (ms, colour)) in enumerate(ways.items()):
        y, width = 38 + 40 * row, round(DECADE * math.log10(ms), 1)
        shown = f"{ms:,.0f} ms" if ms >= 100 else f"{ms:.1f} ms"
        body += text(4, y, name, 12) + rect(4, y + 5, width, 16, colour)
        body += text(width + 10, y + 18, shown, 12)
        said.append(f"{name}: {shown}")
    bottom = 30 + 40 * len(ways)
    for tick in range(5):
        x = 4 + DECADE * tick
        body += path(f"M{x} 42V{bottom}", opacity=0.2)
        body += text(x, bottom + 14, f"{10**tick:,}", 12, "middle" if tick else "start")
    body += text(4 + 4.7 * DECADE, bottom + 14, "ms", 12, "end")
    alt = f"{title}, on a logarithmic axis. {'; '.join(said)}."
    return Picture(svg(4 + 5.6 * DECADE, bottom + 20, body, alt, widest=560), alt)


def _device() -> str:
    """Return the name of the device whose transfer records are shown.

    It is the device shown, or the reference device if that has no transfer records.
    """
    recorded = records.recorded_devices("transfers")
    shown = device_shown().name
    return shown if shown in recorded else devices.REFERENCE
