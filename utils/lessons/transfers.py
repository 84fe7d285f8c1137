"""What the way to the GPU and back costs: counted on the virtual GPU, and as it was recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pandas as pd

from utils.errors import CourseError
from utils.figures import plots
from utils.figures.look import number
from utils.figures.time_axis import draw_time_axis
from utils.lessons.cards import Table, table
from utils.lessons.lesson import device_shown
from utils.lessons.published import published_ms
from utils.machine import devices
from utils.measuring import records
from utils.virtual_gpu import counting_transfers, installed
from utils.virtual_gpu.pictures.svg import Picture

SIZES = (64, 128, 256, 512, 1024, 2048)  # n of the recorded products of n×n
WAYS = {"to_device": "to device", "to_host": "to host"}


def copies(function: Callable, *arguments) -> Table:
    """The copies between host and device that a call of this function makes, on the virtual GPU.

    A row for each size of array and direction: what copied it, how often, and the bytes.
    """
    with installed(), counting_transfers() as log:
        function(*arguments)
    seen = Counter((one.shape, one.direction, one.by, one.nbytes) for one in log)
    rows = [
        ("×".join(map(str, shape)) or "one element", WAYS[way], f"`{by}`", number,
         f"{number * nbytes:,}")
        for (shape, way, by, nbytes), number in seen.items()
    ]  # fmt: skip
    rows.append(("all", "", "", len(log), f"{sum(one.nbytes for one in log):,}"))
    head = ("array", "goes", "copied by", "copies", "bytes")
    return table("Copies between host and device", head, rows)


def transfer_ms(step: str, params: str = "", shape: str = "2000x600x2000") -> float:
    """A recorded time of `transfers.csv` in ms. CourseError where nothing is recorded.

    step: as in the record. params: how its params begin. shape: m×n×k, or one number for all three.
    """
    sizes = (shape.split("x") * 3)[:3] if "x" not in shape else shape.split("x")
    frame = recorded_transfers()
    found = frame[(frame["step"] == step) & frame["params"].str.startswith(params)]
    for column, size in zip("mnk", sizes, strict=True):
        found = found[found[column] == int(size)]
    if len(found) != 1:
        raise CourseError(
            f"{len(found)} times of {step} {params} at {shape} are recorded on {_device()}: "
            "`python -m gemm_kernels transfers --record` makes them."
        )
    return float(found["time_ms"].iloc[0])


def recorded_transfers() -> pd.DataFrame:
    """The records of transfers of the device at hand where it has some, else of the course's."""
    return records.measured(_device(), "transfers")


def draw_one_product() -> Picture:
    """The parts of one product with copies on a time axis: from pageable and from pinned memory."""
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
    """GB/s of these ways to copy, such as "pageable", against the bytes; crosses: published."""
    frame = recorded_transfers()
    chosen = frame[frame["step"].isin(ways)]
    plots.show(plots.bandwidth_of_transfers(chosen, records.published("transfers")))


def wall_times() -> Table:
    """One product from its data to a result on the host, by each kind of memory."""
    ways = {
        "copies, pageable memory": ("product_with_copies", "host"),
        "copies, pinned memory": ("product_with_pinned_copies", "host"),
        "managed memory": ("product_managed", "host"),
        "managed memory, filled by a kernel": ("product_born_on_gpu", "GPU"),
    }
    rows = [
        (name, born, _ms(transfer_ms(step, "WHAT=wall"))) for name, (step, born) in ways.items()
    ]
    head = ("", "data begin on the", "whole time")
    return table(f"One product, 2000×600×2000, one {_device()}", head, rows)


def draw_managed_kernels() -> Picture:
    """The kernel of one product on copied arrays, and on managed ones that begin in two places."""
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
    """Time of a product against n: the CPU, the GPU with copies, and its kernel alone."""
    ways = {
        "GPU with copies": ("product_with_copies", "WHAT=wall"),
        "kernel alone": ("product_with_copies", "WHAT=kernel"),
        "CPU, 1 thread": ("product_numpy", "THREADS=1"),
        f"CPU, {cpu_threads()} threads": ("cpu_parallel", ""),
    }
    series = {
        name: [transfer_ms(step, params, str(n)) for n in SIZES]
        for name, (step, params) in ways.items()
    }
    plots.show(plots.times_of_products(SIZES, series, _device()))


def first_size_of_gpu(step: str, params: str = "") -> int:
    """The least recorded n from which on the GPU with its copies is faster than this way."""
    faster = [
        transfer_ms("product_with_copies", "WHAT=wall", str(n)) < transfer_ms(step, params, str(n))
        for n in SIZES
    ]
    return next(n for place, n in enumerate(SIZES) if all(faster[place:]))


def cpu_threads() -> int:
    """Threads of the host beside the recorded GPU."""
    frame = recorded_transfers()
    (params,) = frame.loc[frame["step"] == "cpu_parallel", "params"].unique()
    return int(params.removeprefix("THREADS="))


def ten_products() -> Table:
    """The source's ten products on the CPU and the GPU: recorded, and as published."""
    threads, old = cpu_threads(), records.published("claims").set_index("claim")["value"]
    kernel = published_ms("naive", 1)
    frame = records.published("transfers")
    copies = frame[frame["bytes"].isin((20800000, 4800000)) & frame["note"].str.contains("naive")]
    with_copies = kernel + float(copies["time_ms"].sum())
    ways = (
        ("CPU, naive loops", 10 * transfer_ms("cpu_naive"),
         1e3 * old["ten sequential products, whole program"]),
        (f"the same, {threads} threads", 10 * transfer_ms("cpu_naive_parallel"),
         1e3 * old["ten parallel products, whole program"]),
        (f"our best on {threads} threads", 10 * transfer_ms("cpu_parallel"), None),
        ("GPU, copies for each", transfer_ms("ten_products", "MEMORY=pageable COPIES=each"),
         10 * with_copies),
        ("GPU, copies once", transfer_ms("ten_products", "MEMORY=pageable COPIES=once"), None),
        ("GPU, kernels alone", transfer_ms("ten_products", "WHAT=kernel"), 10 * kernel),
    )  # fmt: skip
    first = ways[0][1]
    rows = [
        (name, _ms(ms), f"{first / ms:,.0f}×", _ms(theirs) if theirs else "–")
        for name, ms, theirs in ways
    ]
    head = ("ten products", "recorded", "faster", "published")
    note = "Published: another CPU with 8 threads, another GPU, and the naive kernel."
    return table(f"2000×600×2000, ten times, one {_device()} and its host", head, rows, note)


def _ms(ms: float) -> str:
    return f"{number(ms)} ms" if ms < 1000 else f"{number(ms / 1000)} s"


def _device() -> str:
    known = records.recorded_devices("transfers")
    here = device_shown().name
    return here if here in known else devices.REFERENCE
