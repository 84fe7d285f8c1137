"""Host–device transfers: counted on the virtual GPU, and their recorded times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from importlib import import_module

import pandas as pd

from utils.errors import CourseError
from utils.figures import plots
from utils.ladder.problems import draw
from utils.lessons.cards import Table, table
from utils.lessons.lesson import device_shown
from utils.lessons.lesson_04.time_axis import draw_time_axis
from utils.machine import devices
from utils.measuring import records
from virtual_gpu import counting_transfers, installed
from virtual_gpu.pictures.svg import Picture

SIZES = (64, 128, 256, 512, 1024, 2048)  # n of the recorded n×n products
TIMES = ("time_ms", "time_ms_min", "time_ms_max")
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
        One row per array shape, direction, and what made the copy, with the number of copies and
        their total bytes, followed by a row with the sums of all copies.
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


def copies_of_a_product(function: Callable) -> Table:
    """Return a table of the host–device copies of a reader's function that returns a·b.

    The function takes (kernel, a, b). The table has one row per array shape, direction and what
    made the copy, and a row with the sums. a is 48×20 and b is 20×80, as in the lesson, and the
    kernel is the course's `naive`.
    """
    a, b = draw("integers", (48, 20), 4), draw("integers", (20, 80), 5)
    return copies(function, import_module("gemm_kernels.naive").naive, a, b)


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


def draw_one_product() -> Picture:
    """Draw the recorded times of the parts of one 2000×600×2000 product, one bar per host memory.

    The parts are the allocation, the copies to the device, the kernel, and the copy to the host.
    The bars are for pageable and for pinned host memory.
    """
    rows = {
        f"{memory} memory": {
            "allocate": transfer_ms("part", "PART=allocate"),
            "copy a and b": transfer_ms("part", f"PART=copy_in MEMORY={memory}"),
            "kernel": transfer_ms("part", "PART=kernel"),
            "copy c back": transfer_ms("part", f"PART=copy_out MEMORY={memory}"),
        }
        for memory in ("pageable", "pinned")
    }
    return draw_time_axis(rows, f"One product, 2000×600×2000, one {_device()}")


def draw_bandwidth(*ways: str) -> None:
    """Show a figure of the recorded bandwidth of copies in GB/s against the number of bytes.

    ways: the kinds of copy to draw, such as "pageable" or "pinned".
    """
    frame = recorded_transfers()
    plots.show(plots.bandwidth_of_transfers(frame[frame["step"].isin(ways)]))


def copy_times() -> Table:
    """Return a table of the recorded times in ms of 2000×600×2000 products with copies.

    The rows are: one product copied by the launch, one with three explicit copies, and the kernel
    of the latter alone; ten products copied by the launches, and ten with three explicit copies
    each. The columns are the median and the range.
    """
    ten = "ten_products"
    rows = {
        "one product, copied by the launch": ("product_of_numpy_arrays", ""),
        "one product, three copies": ("product_with_copies", "WHAT=wall"),
        "its kernel": ("product_with_copies", "WHAT=kernel"),
        "ten products, copied by the launch": (ten, "MEMORY=numpy COPIES=each"),
        "ten products, three copies for each": (ten, "MEMORY=pageable COPIES=each"),
    }
    return _with_spread(f"2000×600×2000, one {_device()}", rows)


def wall_times() -> Table:
    """Return a table of the recorded times in ms of one product, one row per kind of memory.

    The time of the 2000×600×2000 product runs from data on the host to the result on the host. The
    columns are the median and the range.
    """
    rows = {
        "copies, pageable memory": ("product_with_copies", "WHAT=wall"),
        "copies, pinned memory": ("product_with_pinned_copies", "WHAT=wall"),
        "managed memory": ("product_managed", "WHAT=wall"),
        "managed memory, filled by a kernel": ("product_born_on_gpu", "WHAT=wall"),
    }
    return _with_spread(f"One product, 2000×600×2000, one {_device()}", rows)


def _with_spread(caption: str, rows: dict[str, tuple[str, str]]) -> Table:
    """Return a table of recorded times in ms, with the median and the range per row.

    rows: name shown -> (step, params) of a record of a 2000×600×2000 product.
    """
    formatted = []
    for name, (step, params) in rows.items():
        median, least, most = map(_milliseconds, transfer_times(step, params))
        formatted.append((name, median, f"{least} – {most}"))
    note = "The middle one of nine repetitions, and the least and the most of them."
    return table(caption, ("", "ms", "least – most"), formatted, note)


def _milliseconds(ms: float) -> str:
    """Return a time in ms as text, with two decimals below 10 ms and one from there on."""
    return f"{ms:.2f}" if ms < 10 else f"{ms:.1f}"


def draw_managed_kernels() -> Picture:
    """Draw the recorded kernel times of a 2000×600×2000 product, one bar per origin of its arrays.

    The arrays are copied, or managed with pages on the host, or managed and already moved by an
    earlier launch, or managed and filled by a kernel, whose time is drawn too.
    """
    kernel, managed = "WHAT=kernel", "product_managed"
    rows = {
        "copied arrays": {"kernel": transfer_ms("product_with_copies", kernel)},
        "managed, pages on the host": {"kernel": transfer_ms(managed, f"{kernel} TOUCH=first")},
        "managed, launched again": {"kernel": transfer_ms(managed, f"{kernel} TOUCH=second")},
        "managed, born on the GPU": {
            "kernel that fills": transfer_ms("product_born_on_gpu", "WHAT=fill"),
            "kernel": transfer_ms("product_born_on_gpu", kernel),
        },
    }
    return draw_time_axis(rows, f"Kernels, 2000×600×2000, one {_device()}")


def draw_break_even() -> None:
    """Show a figure of the recorded time of an n×n product against n, one line per way.

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
    plots.show(plots.times_of_products(SIZES, series, where))


def first_size_of_gpu(step: str, params: str = "") -> int:
    """Return the smallest recorded n from which the GPU with copies is faster than a CPU step.

    At this n and at every larger recorded n, an n×n product with copies takes less time than the
    CPU step with these params. Raises StopIteration if no n is large enough.
    """
    faster = [
        transfer_ms("product_with_copies", "WHAT=wall", str(n)) < transfer_ms(step, params, str(n))
        for n in SIZES
    ]
    return next(n for index, n in enumerate(SIZES) if all(faster[index:]))


def cpu_threads() -> int:
    """Return the number of threads with which the parallel CPU products were recorded."""
    frame = recorded_transfers()
    (params,) = frame.loc[frame["step"] == "cpu_parallel", "params"].unique()
    return int(params.removeprefix("THREADS="))


def ten_products() -> Table:
    """Return a table of the time in ms of ten 2000×600×2000 products, as in Araujo's experiment.

    The rows are three ways on the CPU, each ten times the recorded time of one product, and three
    ways on the GPU: with three copies per product, with three copies in all, and the kernels alone.
    """
    threads, ten = cpu_threads(), "ten_products"
    ways = {
        "CPU, naive loops, 1 thread": 10 * transfer_ms("cpu_naive"),
        f"CPU, naive loops, {threads} threads": 10 * transfer_ms("cpu_naive_parallel"),
        f"CPU, our best, {threads} threads": 10 * transfer_ms("cpu_parallel"),
        "GPU, three copies for each": transfer_ms(ten, "MEMORY=pageable COPIES=each"),
        "GPU, three copies for all ten": transfer_ms(ten, "MEMORY=pageable COPIES=once"),
        "GPU, kernels alone": transfer_ms(ten, "WHAT=kernel"),
    }
    rows = [(name, f"{ms:,.0f}" if ms >= 1000 else f"{ms:.1f}") for name, ms in ways.items()]
    note = "On the CPU: ten times the recorded time of one product."
    return table(f"Ten products, 2000×600×2000, one {_device()} and its CPU",
                 ("", "ms"), rows, note)  # fmt: skip


def _device() -> str:
    """Return the name of the device whose transfer records are shown."""
    recorded = records.recorded_devices("transfers")
    shown = device_shown().name
    return shown if shown in recorded else devices.REFERENCE
