"""A GPU made of NumPy: runs unmodified ``@cuda.jit`` kernels without a device, and explains them.

``install()`` lets ``kernel[grid, block](...)`` run here; ``trace(kernel, grid, block, *args)``
returns findings and counts by source line. See README.md in this folder.
"""

from .errors import (
    BarrierError,
    Finding,
    KernelRaised,
    LaunchError,
    OutOfBounds,
    Race,
    Site,
    Thread,
    Uninitialised,
    Unsupported,
    VirtualGpuError,
)
from .extension import Machine, register
from .hostarrays import DeviceArray
from .seam import active, install
from .trace import Trace, trace

__all__ = [
    "BarrierError",
    "DeviceArray",
    "Finding",
    "KernelRaised",
    "LaunchError",
    "Machine",
    "OutOfBounds",
    "Race",
    "Site",
    "Thread",
    "Trace",
    "Uninitialised",
    "Unsupported",
    "VirtualGpuError",
    "active",
    "install",
    "register",
    "trace",
]
