"""Deprecated alias of the package `gpu_xray`; it will be removed in version 1.0."""

import sys
import warnings
from importlib import import_module
from pathlib import Path

import gpu_xray
from gpu_xray import ARCHITECTURES, XRay, xray

warnings.warn(
    "utils.xray is called gpu_xray now, and the old name goes with version 1.0: write "
    "`from gpu_xray import xray`.",
    DeprecationWarning,
    stacklevel=2,
)

__all__ = ["ARCHITECTURES", "XRay", "xray"]

for _file in sorted(Path(gpu_xray.__file__).parent.glob("[a-z]*.py")):
    _module = import_module(f"gpu_xray.{_file.stem}")
    globals()[_file.stem] = sys.modules[f"{__name__}.{_file.stem}"] = _module
