"""Published measurements of SGEMM steps beside the course's own records."""

from __future__ import annotations

from matplotlib.figure import Figure

from utils.figures import plots
from utils.machine.devices import Device
from utils.measuring import records

# The sources' names of kernels, and our names of the same steps.
STEP_NAMES = {"trivial": "naive", "shared": "tiled"}


def then_and_now(device: Device, *steps: str) -> Figure:
    """Draw bars of the published and the recorded speeds of steps, in percent of each GPU's peak.

    Parameters
    ----------
    device : Device
        A device whose records are drawn.
    *steps : str
        Names of steps of the product ladder, such as "naive".

    Raises
    ------
    CourseError
        If nothing is published or nothing is recorded for these steps.
    """
    published = records.published("gemm_gpu").replace({"kernel": STEP_NAMES})
    recorded = records.measured(device.name, "gemm")
    return plots.published_beside_measured(
        published[published["kernel"].isin(steps)],
        recorded[recorded["step"].isin(steps)],
        "The same ideas, then and now",
    )
