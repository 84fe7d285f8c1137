"""Steps of SGEMM as our sources published them, beside our records."""

from __future__ import annotations

from matplotlib.figure import Figure

from utils.figures import plots
from utils.machine.devices import Device
from utils.measuring import records

# What the sources call steps of ours.
THEIR_NAMES = {"trivial": "naive", "shared": "tiled"}


def then_and_now(device: Device, *steps: str) -> Figure:
    """Bars in percent of each GPU's own peak: what was published of these steps, and our records.

    device: one with records. CourseError where nothing is published or recorded of them.
    """
    published = records.published("gemm_gpu").replace({"kernel": THEIR_NAMES})
    recorded = records.measured(device.name, "gemm")
    return plots.published_beside_measured(
        published[published["kernel"].isin(steps)],
        recorded[recorded["step"].isin(steps)],
        "The same ideas, then and now",
    )
