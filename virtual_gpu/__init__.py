"""A virtual GPU in NumPy: runs unmodified ``@cuda.jit`` kernels without a device and checks them.

It takes the kernels of ``numba.cuda`` and of its successor, ``numba_cuda_mlir.cuda``. After
``install()``, ``kernel[grid, block](...)`` runs on the virtual GPU.
``trace(kernel, grid, block, *args)`` returns findings and counts by source line. See README.md in
this folder.
"""

from importlib import import_module

try:
    from numba.core import config
except ModuleNotFoundError as missing:
    raise ImportError(
        "The virtual GPU asks Numba for the types in a kernel, also in one of numba-cuda-mlir, and "
        f"{missing.name.split('.')[0]} is not installed: python -m pip install numba. In a clone "
        "of the course, `make setup` installs it into .venv, and `source .venv/bin/activate` "
        "activates that environment."
    ) from missing

if config.ENABLE_CUDASIM:  # before the imports that fail with Numba's simulator
    raise ImportError(
        "NUMBA_ENABLE_CUDASIM puts Numba's simulator in the place of numba.cuda, which the virtual "
        "GPU needs; unset that variable, or give pytest the option -p no:virtual_gpu."
    )

from .common.errors import (
    BarrierError,
    Finding,
    KernelRaised,
    LaunchError,
    LimitReached,
    OutOfBounds,
    Race,
    Site,
    Thread,
    Uninitialised,
    Unsupported,
    VirtualGpuError,
)
from .host.hostarrays import DeviceArray
from .host.transfers import Transfer, counting_transfers, counting_waits
from .launching.installation import active, install, installed

# The interpreter doubles the time of the import, so it is imported only on demand.
_ON_DEMAND = {
    "Hint": ".counts.hints",
    "Machine": ".language.extension",
    "Recording": ".counts.recorder",
    "Trace": ".launching.tracing",
    "register": ".language.extension",
    "trace": ".launching.tracing",
}


def __getattr__(name: str):
    """Return a name of ``_ON_DEMAND``, imported now; raise AttributeError for any other name."""
    if name not in _ON_DEMAND:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_ON_DEMAND[name], __name__), name)
    return value


__all__ = [
    "BarrierError",
    "DeviceArray",
    "Finding",
    "Hint",
    "KernelRaised",
    "LaunchError",
    "LimitReached",
    "Machine",
    "OutOfBounds",
    "Race",
    "Recording",
    "Site",
    "Thread",
    "Trace",
    "Transfer",
    "Uninitialised",
    "Unsupported",
    "VirtualGpuError",
    "active",
    "counting_transfers",
    "counting_waits",
    "install",
    "installed",
    "register",
    "trace",
]
