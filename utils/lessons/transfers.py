"""What the way to the GPU and back costs: counted on the virtual GPU, and as it was recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pandas as pd

from utils.errors import CourseError
from utils.figures.time_axis import draw_time_axis
from utils.lessons.cards import Table, table
from utils.lessons.lesson import device_shown
from utils.machine import devices
from utils.measuring import records
from utils.virtual_gpu import counting_transfers, installed
from utils.virtual_gpu.pictures.svg import Picture

WAYS = {"to_device": "to the device", "to_host": "to the host"}


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


def _device() -> str:
    known = records.recorded_devices("transfers")
    here = device_shown().name
    return here if here in known else devices.REFERENCE
