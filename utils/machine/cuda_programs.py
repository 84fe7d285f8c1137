"""Programs of the CUDA toolkit that the system brings, as Colab's image does."""

from __future__ import annotations

import os
import shutil

# Where NVIDIA's installers put the toolkit; not every system has it on its PATH.
FOLDERS = ("/usr/local/cuda/bin",)


def system_program(name: str) -> str | None:
    """The path of a program such as nvdisasm, on PATH or in the toolkit's folder; None without."""
    return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), *FOLDERS]))
