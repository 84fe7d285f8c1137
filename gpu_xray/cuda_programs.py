"""Finds programs of the CUDA toolkit in folders that some versions of cuda.pathfinder miss."""

from __future__ import annotations

import os
import shutil
import sys

# Where NVIDIA's installers put the toolkit, as in Colab; not every system has it on its PATH.
FOLDERS = ("/usr/local/cuda/bin",)
IN_PACKAGES = os.path.join("nvidia", "cu13", "bin")  # of NVIDIA's wheels, below site-packages


def system_program(name: str) -> str | None:
    """Return the path of a program such as nvdisasm, or None if it is not found.

    It is searched for on the PATH, in the toolkit's folder, and in NVIDIA's wheels.
    """
    wheels = [os.path.join(folder, IN_PACKAGES) for folder in sys.path]
    return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), *FOLDERS, *wheels]))
