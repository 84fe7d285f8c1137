"""What a lesson shows besides plots and code: where it runs, and a device's peaks."""

from __future__ import annotations

import pandas as pd

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


def course_device() -> Device:
    """The course's own device, for what is recorded or compiled for this one alone."""
    return devices.find(devices.REFERENCE)


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
