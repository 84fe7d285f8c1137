"""Checks of a release that need only its files."""

from __future__ import annotations

import re
import tomllib
import zipfile
from pathlib import Path

from utils.paths import ROOT

PACKAGES = ("gpu_xray", "virtual_gpu")
PROJECT = ROOT / "virtual_gpu" / "pyproject.toml"
COURSE = ROOT / "pyproject.toml"
# Files of the packages that are only for the repository.
LEFT_OUT = ("hatch_build.py", "pyproject.toml", "LICENSE")


def version(project: Path = PROJECT) -> str:
    """Return the version in a pyproject.toml, such as "0.3.0".

    project: the file's path; by default the wheel's file. `COURSE` is the course's file.
    """
    return tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"]


def changes(release: str, text: str) -> str | None:
    """Return the text below a version's heading in CHANGELOG.md; None if it is missing or empty.

    release: the version. text: the content of CHANGELOG.md.
    """
    match = re.search(rf"^## {re.escape(release)}$(.*?)(?=^## |\Z)", text, re.M | re.S)
    return match and (match[1].strip() or None)


def left_out(wheel: Path, tracked: list[str]) -> list[str]:
    """Return the paths of files that belong into the wheel and are missing there.

    wheel: the path of the wheel. tracked: the paths of all files that git tracks.
    """
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = set(archive.namelist())
    return [name for name in tracked if _belongs(name) and name not in in_wheel]


def too_much(wheel: Path, tracked: list[str]) -> list[str]:
    """Return the paths of files in the wheel that are neither the packages' own nor metadata.

    wheel: the path of the wheel. tracked: the paths of all files that git tracks.
    """
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = [name for name in archive.namelist() if ".dist-info/" not in name]
    expected = set(filter(_belongs, tracked))
    return [name for name in in_wheel if name not in expected]


def _belongs(name: str) -> bool:
    """Return True for the path of a file that belongs into the wheel."""
    package, *inner = name.split("/")
    pages = name.endswith(".md")
    return package in PACKAGES and inner[0] not in ("tests", *LEFT_OUT) and not pages
