"""What a lesson shows besides plots and code: where it runs, a device's peaks, the ledger."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from utils.errors import CourseError
from utils.machine import devices
from utils.machine.devices import Device
from utils.measuring import records


def this_device() -> str:
    """One sentence: the GPU that runs the kernels here, or that the virtual GPU does."""
    device = devices.current()
    if device is None:
        return devices.why_no_device()
    capability = ".".join(map(str, device.compute_capability))
    return f"Kernels run on {device.name} (compute capability {capability}, {device.sms} SMs)."


def device_shown(default: str = devices.REFERENCE) -> Device:
    """The device whose records a lesson draws: the one at hand if it has any, else ``default``."""
    device = devices.current()
    recorded = records.recorded_devices("gemm")
    return device if device and device.name in recorded else devices.find(default)


def peaks(device: Device) -> pd.DataFrame:
    """The peaks of a device, three ways, in GFLOP/s and GB/s.

    The data sheet's; SMs × lanes × 2 × the clock seen while the FMA loop ran (the boost clock
    where nothing was recorded); and what the FMA loop and the copy reached in the record.
    """
    ceilings = _ceilings(device)
    clock = ceilings.get("sm_clock_mhz") or device.boost_clock_mhz
    rows = {
        "data sheet": (device.fp32_gflops, device.memory_gb_per_s),
        f"{device.sms} SMs × {device.fp32_lanes_per_sm} lanes × 2 × {clock:.0f} MHz": (
            device.computed_gflops(clock),
            None,
        ),
        "measured: fma_loop, copy": (ceilings.get("fma_loop"), ceilings.get("copy")),
    }
    return pd.DataFrame.from_dict(rows, orient="index", columns=["GFLOP/s", "GB/s"])


def ledger(
    predictions: Mapping[str, tuple[str | None, float | None]], table: pd.DataFrame, flops: int
) -> pd.DataFrame:
    """A student's predictions beside estimate and record; a step stays hidden until it has one.

    predictions: name of a step -> (what limits it, GFLOP/s), with None for what is still open.
    table: as from `roofline.estimates`. flops: of one execution. One row per prediction; off_by is
    a fraction of the recorded rate. CourseError for a step, a limit or a rate that cannot be.
    """
    known = table.set_axis([label.partition(" ")[0] for label in table.index])
    resources = list(table.columns[: table.columns.get_loc("limit")])
    rows = {}
    for step, (limit, gflops) in predictions.items():
        _check_prediction(step, limit, gflops, list(known.index), resources)
        rows[step] = {"your_limit": limit, "your_gflops": gflops}
        if limit is not None and gflops is not None:
            recorded = flops / known["recorded_ms"][step] / 1e6
            rows[step] |= {
                "limit": known["limit"][step],
                "recorded_gflops": recorded,
                "off_by": gflops / recorded - 1,
            }
    columns = ["your_limit", "limit", "your_gflops", "recorded_gflops", "off_by"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def _check_prediction(
    step: str, limit: str | None, gflops: float | None, steps: list[str], resources: list[str]
) -> None:
    if step not in steps:
        raise CourseError(f"There is no step '{step}': choose one of {', '.join(steps)}.")
    if limit is not None and limit not in resources:
        raise CourseError(f"'{limit}' is no resource: choose one of {', '.join(resources)}.")
    if gflops is not None and not gflops > 0:
        raise CourseError(f"At {gflops} GFLOP/s {step} never ends: predict a rate above 0.")


def _ceilings(device: Device) -> dict[str, float]:
    """The best recorded rates of the FMA loop and the copy, and the clock; {} without a record."""
    if device.name not in records.recorded_devices("latency"):
        return {}
    frame = records.measured(device.name, "latency")
    best = frame.groupby("step")[["gflops", "gb_per_s", "sm_clock_mhz"]].max()
    found = {
        "fma_loop": best["gflops"].get("fma_loop"),
        "copy": best["gb_per_s"].get("copy"),
        "sm_clock_mhz": best["sm_clock_mhz"].get("fma_loop"),
    }
    return {name: value for name, value in found.items() if not pd.isna(value)}
