"""The device that a lesson runs on, the device whose records it shows, and their peaks."""

from __future__ import annotations

import pandas as pd

from utils.machine import devices
from utils.machine.devices import Device
from utils.measuring import records
from utils.translation import translate


def this_device() -> str:
    """Return a sentence that names the GPU that runs kernels here, or the reason why none can.

    The sentence on a GPU also has the compute capability and the number of SMs.
    """
    device = devices.current()
    if device is None:
        return devices.why_no_device()
    capability = ".".join(map(str, device.compute_capability))
    return translate(
        "Kernels run on {device} (compute capability {capability}, {sms} SMs).",
        device=device.name,
        capability=capability,
        sms=device.sms,
    )


def device_shown(default: str = devices.REFERENCE) -> Device:
    """Return the device whose records a lesson shows.

    It is the current GPU if the product ladder has records of it, otherwise the device named
    ``default``.
    """
    device = devices.current()
    recorded = records.recorded_devices("gemm")
    return device if device and device.name in recorded else devices.find(default)


def course_device() -> Device:
    """Return the course's reference device, which is the only one that has every kind of record."""
    return devices.find(devices.REFERENCE)


def peaks(device: Device) -> pd.DataFrame:
    """Return a table of the peaks of a device, one row per source.

    The columns are "GFLOP/s" and "GB/s". The rows are the data sheet's peaks, the product of SMs,
    lanes, 2 and the clock, which has no GB/s, and the best recorded rates of the FMA loop and the
    copy. The clock is the one measured while the FMA loop ran, or the boost clock if nothing was
    recorded. A rate that is not recorded is NaN.
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
    """Return the best recorded rates of a device, and the SM clock.

    The keys are "fma_loop" in GFLOP/s, "copy" in GB/s, and "sm_clock_mhz", the highest clock
    recorded with the FMA loop. Values that are not recorded are left out, so the dict may be empty.
    """
    if device.name not in records.recorded_devices("latency"):
        return {}
    frame = records.measured(device.name, "latency")
    best = frame.groupby("step")[["gflops", "gb_per_s", "sm_clock_mhz"]].max()
    ceilings = {
        "fma_loop": best["gflops"].get("fma_loop"),
        "copy": best["gb_per_s"].get("copy"),
        "sm_clock_mhz": best["sm_clock_mhz"].get("fma_loop"),
    }
    return {name: value for name, value in ceilings.items() if not pd.isna(value)}
