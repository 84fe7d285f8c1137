"""Host–device transfers: counted on the virtual GPU, and their recorded times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pandas as pd

from utils.errors import CourseError
from utils.figures import plots
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
    """Count the host–device copies that a call of `function` makes on the virtual GPU.

    Returns
    -------
    Table
        A row per array shape and direction: what made the copy, the number of copies, and bytes.
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


def transfer_ms(step: str, params: str = "", shape: str = "2000x600x2000") -> float:
    """Return the median time in ms of one recorded transfer or product.

    Parameters
    ----------
    step : str
        The step as `transfers.csv` names it.
    params : str
        The beginning of its `params`.
    shape : str
        m×n×k, or one number for all three.

    Raises
    ------
    CourseError
        Unless exactly one record matches.
    """
    return transfer_times(step, params, shape)[0]


def transfer_times(
    step: str, params: str = "", shape: str = "2000x600x2000"
) -> tuple[float, float, float]:
    """Return the median, shortest and longest time in ms of one record; see `transfer_ms`."""
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
    """Return the transfer records of the device shown, or else those of the reference device."""
    return records.measured(_device(), "transfers")


def draw_one_product() -> Picture:
    """Draw the parts of one product with copies on a time axis, for pageable and pinned memory."""
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
    """Show the bandwidth in GB/s of these kinds of copy, such as "pageable", against the bytes."""
    frame = recorded_transfers()
    plots.show(plots.bandwidth_of_transfers(frame[frame["step"].isin(ways)]))


def copy_times() -> Table:
    """Tabulate one and ten products with automatic and explicit copies, and the kernel alone."""
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
    """Tabulate the time of one product from host data to host result, by kind of memory."""
    rows = {
        "copies, pageable memory": ("product_with_copies", "WHAT=wall"),
        "copies, pinned memory": ("product_with_pinned_copies", "WHAT=wall"),
        "managed memory": ("product_managed", "WHAT=wall"),
        "managed memory, filled by a kernel": ("product_born_on_gpu", "WHAT=wall"),
    }
    return _with_spread(f"One product, 2000×600×2000, one {_device()}", rows)


def _with_spread(caption: str, rows: dict[str, tuple[str, str]]) -> Table:
    """Tabulate records by (step, params): the median in ms, and the shortest and longest time."""
    formatted = []
    for name, (step, params) in rows.items():
        median, least, most = map(_milliseconds, transfer_times(step, params))
        formatted.append((name, median, f"{least} – {most}"))
    note = "The middle one of nine repetitions, and the least and the most of them."
    return table(caption, ("", "ms", "least – most"), formatted, note)


def _milliseconds(ms: float) -> str:
    return f"{ms:.2f}" if ms < 10 else f"{ms:.1f}"


def draw_managed_kernels() -> Picture:
    """Draw kernel times with copied arrays, and with managed arrays from host or device."""
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
    """Show the time of a product against n: CPU, GPU with copies, and the kernel alone."""
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
    """Return the smallest recorded n from which the GPU with copies is faster than a CPU step."""
    faster = [
        transfer_ms("product_with_copies", "WHAT=wall", str(n)) < transfer_ms(step, params, str(n))
        for n in SIZES
    ]
    return next(n for index, n in enumerate(SIZES) if all(faster[index:]))


def cpu_threads() -> int:
    """Return the number of host threads used in the recorded parallel CPU products."""
    frame = recorded_transfers()
    (params,) = frame.loc[frame["step"] == "cpu_parallel", "params"].unique()
    return int(params.removeprefix("THREADS="))


def ten_products() -> Table:
    """Tabulate the times in ms of the ten products of Araujo on the CPU and on the GPU."""
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
    recorded = records.recorded_devices("transfers")
    shown = device_shown().name
    return shown if shown in recorded else devices.REFERENCE
