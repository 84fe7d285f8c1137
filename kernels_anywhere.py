"""Import this module to let kernels run on any machine: without a CUDA device, on the virtual GPU.

The packages of kernels and the labs import it before anything else of the course. Therefore it also
raises an error that explains what to do if a file `utils.py` of the reader hides the course's
folder `utils`.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from pathlib import Path

import virtual_gpu
from gpu_xray.errors import CourseError

_UTILS = Path(__file__).resolve().parent / "utils"
# Lessons and checks launch a few blocks, and pass host arrays, on purpose.
_EXPECTED = (".*Grid size .* under-utilization", ".*Host array used in CUDA kernel")


def require_utils() -> None:
    """Raise CourseError if `import utils` finds something other than the course's folder."""
    module = sys.modules.get("utils") or importlib.util.find_spec("utils")
    folders = getattr(module, "__path__", getattr(module, "submodule_search_locations", None))
    if _UTILS in (Path(folder).resolve() for folder in folders or ()):
        return
    other = getattr(module, "__file__", getattr(module, "origin", None))
    raise CourseError(
        f"{other} hides the course's own folder `utils` ({_UTILS}): give that file another name, "
        "or run this program from another folder."
    )


def ready() -> None:
    """Install the virtual GPU, on which kernels are launched then, if there is no CUDA device.

    The chosen compiler says whether there is one. Numba's warnings about small grids and about host
    arrays as arguments are ignored from now on.
    """
    for hint in _EXPECTED:
        warnings.filterwarnings("ignore", message=hint)
    from utils.compilers.choice import chosen  # only now it is known to be the course's `utils`

    if not chosen().cuda.is_available():
        virtual_gpu.install()


require_utils()
ready()
