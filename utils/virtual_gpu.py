"""Deprecated alias of the package `virtual_gpu`; it will be removed in version 1.0."""

import sys
import warnings
from importlib import import_module

import virtual_gpu
from virtual_gpu import *  # noqa: F403
from virtual_gpu import pictures

warnings.warn(
    "utils.virtual_gpu is called virtual_gpu now, and the old name goes with version 1.0: write "
    "`import virtual_gpu`, or `from virtual_gpu import ...`.",
    DeprecationWarning,
    stacklevel=2,
)

__all__ = [*virtual_gpu.__all__, "pictures"]

sys.modules[f"{__name__}.pictures"] = pictures
for _name in ("accesses", "movie", "svg"):
    sys.modules[f"{__name__}.pictures.{_name}"] = import_module(f"virtual_gpu.pictures.{_name}")
