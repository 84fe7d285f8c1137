"""What a release must hold, as far as files say it."""

from __future__ import annotations

import re
import tomllib
import zipfile
from pathlib import Path

from utils.paths import ROOT

PACKAGES = ("gpu_xray", "virtual_gpu")
PROJECT = ROOT / "virtual_gpu" / "pyproject.toml"
COURSE = ROOT / "pyproject.toml"
# Of the files of the packages these are for the repository alone.
LEFT_OUT = ("hatch_build.py", "pyproject.toml", "LICENSE")


def version(project: Path = PROJECT) -> str:
    """The version of the wheel; with COURSE, of the course."""
    return tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"]


def changes(wanted: str, text: str) -> str | None:
    """What CHANGELOG.md says of a version; None where it says nothing."""
    found = re.search(rf"^## {re.escape(wanted)}$(.*?)(?=^## |\Z)", text, re.M | re.S)
    return found and (found[1].strip() or None)


def left_out(wheel: Path, tracked: list[str]) -> list[str]:
    """Files of the two packages that the wheel does not hold."""
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    return [name for name in tracked if _belongs(name) and name not in held]


def too_much(wheel: Path, tracked: list[str]) -> list[str]:
    """What the wheel holds besides those files and its own metadata."""
    with zipfile.ZipFile(wheel) as archive:
        held = [name for name in archive.namelist() if ".dist-info/" not in name]
    wanted = set(filter(_belongs, tracked))
    return [name for name in held if name not in wanted]


def _belongs(name: str) -> bool:
    package, *inner = name.split("/")
    pages = name.endswith(".md")
    return package in PACKAGES and inner[0] not in ("tests", *LEFT_OUT) and not pages
