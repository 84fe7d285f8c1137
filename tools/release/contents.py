"""What a release must hold, as far as files say it."""

from __future__ import annotations

import re
import tomllib
import zipfile
from pathlib import Path

from utils.paths import ROOT

PACKAGES = ("gemm_kernels", "reduce_kernels", "latency_kernels", "labs", "utils")
INSIDE = {"data": "utils/data", "notebooks": "utils/notebooks"}  # their places in the wheel


def version() -> str:
    """The one place where the version stands."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["project"]["version"]


def changes(wanted: str, text: str) -> str | None:
    """What CHANGELOG.md says of a version; None where it says nothing."""
    found = re.search(rf"^## {re.escape(wanted)}$(.*?)(?=^## |\Z)", text, re.M | re.S)
    return found and (found[1].strip() or None)


def left_out(wheel: Path, tracked: list[str]) -> list[str]:
    """Files of the packages, data and notebooks that the wheel does not hold."""
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    return [name for name in tracked if (place := _place(name)) and place not in held]


def _place(name: str) -> str | None:
    folder, _, rest = name.partition("/")
    if folder in INSIDE:
        return f"{INSIDE[folder]}/{rest}"
    return name if folder in PACKAGES else None
