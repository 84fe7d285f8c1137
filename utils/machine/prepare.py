"""Prepare this Python for a lesson: a lesson's first cell runs this file before any import.

In Colab, this file installs missing packages at versions that suit the driver, and changes no other
packages. Elsewhere it names the missing packages. Therefore it imports only the standard library
and files of the course that do the same.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import os
import re
import runpy
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

COURSE = Path(__file__).resolve().parents[2]
OLDEST_PYTHON = (3, 11)
# Packages of an image that are replaced if they differ from our pins. All others stay as they are,
# because the page runs on IPython, and NumPy is loaded already.
REPLACED = ("numba", "numba-cuda")
# Packages that may change with them.
FOLLOWING = ("llvmlite", "cuda-core", "cuda-bindings", "cuda-pathfinder", "cuda-python")
MODULES = ("numba", "llvmlite", "cuda.core", "cuda.bindings")
FOLLOWING_FILES = r"nvidia-cuda-cccl(-cu12)?"  # headers, at the toolkit's version
NOT_IN_A_LESSON = ("jupyterlab",)
PROGRAMS = {"nvidia-cuda-cuobjdump": "cuobjdump", "nvidia-cuda-nvdisasm": "nvdisasm"}
TOOLKIT = {12: "nvidia-nvjitlink-cu12", 13: "nvidia-nvjitlink"}
# The versions that pip accepts; packages of a Linux distribution can have others.
VERSION = r"\d+(\.\d+)*((a|b|rc|\.post|\.dev)\d+)*(\+[\w.]+)?"
SECONDS = 900  # the time limit of an installation


def _file(name: str) -> SimpleNamespace:
    """Return a namespace with the names that a file of the course defines.

    name: the file's path in the course's folder, such as "gpu_xray/errors.py". The file runs
    without importing its package, because the packages need Numba, which may not be installed yet.
    """
    return SimpleNamespace(**runpy.run_path(str(COURSE / name)))


CourseError = _file("gpu_xray/errors.py").CourseError
setup = _file("utils/machine/setup_environment.py")
system_program = _file("gpu_xray/cuda_programs.py").system_program


@dataclass(frozen=True)
class Missing:
    """The packages to install: requirements for pip, and constraints that keep other packages."""

    requirements: tuple[str, ...]
    constraints: tuple[str, ...]


def installed() -> dict[str, str]:
    """Return normalized name -> version of every package of this Python.

    A normalized name is in lower case with hyphens, such as "numba-cuda".
    """
    packages = importlib.metadata.distributions()
    named = [(package.metadata["Name"], package.version) for package in packages]
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in named if name}


def is_installed(name: str) -> bool:
    """Return True if this Python has a package of this name."""
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _is_there(name: str) -> bool:
    """Return True if a package is installed, or for numba-cuda its successor."""
    return is_installed(name) or (name == "numba-cuda" and is_installed("numba-cuda-mlir"))


def imported() -> list[str]:
    """Return the names in `MODULES` that this session has already imported."""
    return [name for name in MODULES if name in sys.modules]


def in_colab() -> bool:
    """Return True if this Python runs in Colab."""
    return "google.colab" in sys.modules or "COLAB_RELEASE_TAG" in os.environ


def needed(platform: str) -> list[str]:
    """Return the names of the packages that lessons import, from pyproject.toml.

    They are in the order of the file, without `NOT_IN_A_LESSON` and without packages that the file
    excludes on this platform. `platform` is a value of `sys.platform`, such as "linux" or "darwin".
    """
    text = (COURSE / "pyproject.toml").read_text(encoding="utf-8")
    lines = re.search(r"^dependencies = \[\n(.*?)^\]", text, re.MULTILINE | re.DOTALL)[1]
    listed = re.findall(r'^ *"([\w-]+)(.*)"', lines, re.MULTILINE)
    here = [name for name, rest in listed if not ("!= 'darwin'" in rest and platform == "darwin")]
    return [name for name in here if name not in NOT_IN_A_LESSON]


def _constraints() -> str:
    """Return the text of constraints.txt."""
    return (COURSE / "constraints.txt").read_text(encoding="utf-8")


def plan(driver: tuple[int, int]) -> SimpleNamespace:
    """Return the `Plan` of CUDA packages that `make setup` would choose for a driver on Linux.

    `driver` is the CUDA version that the driver understands, such as (12, 4).
    """
    return setup.plan(driver, setup.pinned_toolkit(_constraints()), "linux")


def cuda_major(driver: tuple[int, int] | None, packages: dict[str, str]) -> int:
    """Return 12 or 13, the CUDA version for which packages are to be installed.

    It is 12 if the installed CUDA bindings or the driver are for CUDA 12, else 13. `driver` is the
    CUDA version that the driver understands, None without a driver. `packages` is name -> version.
    """
    installed_major = int(packages.get("cuda-bindings", "13").split(".")[0])
    return 12 if installed_major == 12 or (driver and driver[0] == 12) else 13


def missing(driver: tuple[int, int] | None, packages: dict[str, str]) -> Missing | None:
    """Return the packages to install for the course on a Linux image such as Colab's; None if none.

    They are the absent ones, and those of `REPLACED` that have another version than our pins. The
    constraints keep all other installed packages at their versions. `driver` is the CUDA version
    that the driver understands, None without a driver. `packages` is name -> version of the
    installed packages.
    """
    ours = dict(re.findall(r"^([\w-]+)==(\S+)$", _constraints(), re.MULTILINE))
    replaced = [name for name in REPLACED if packages.get(name) != ours[name]]
    absent = [name for name in needed("linux") if name not in (*REPLACED, *packages)]
    absent += [
        name for name, program in PROGRAMS.items()
        if name not in packages and system_program(program) is None
    ]  # fmt: skip
    if not (replaced or absent):
        return None
    major = cuda_major(driver, packages)
    extra = {"numba-cuda": f"numba-cuda[cu{major}]"}
    wanted = [f"{extra.get(name, name)}=={ours[name]}" for name in (*replaced, *absent)]
    changing = (*REPLACED, *FOLLOWING)
    kept = [
        f"{name}=={version}"
        for name, version in packages.items()
        if name not in changing
        and not re.fullmatch(FOLLOWING_FILES, name)
        and re.fullmatch(VERSION, version)
    ]
    # An installed toolkit stays: the image's other libraries run with it and with this driver.
    if driver and TOOLKIT[major] not in packages:
        kept += plan(driver).limits
    return Missing(tuple(wanted), tuple(kept))


def install(packages: Missing) -> str:
    """Install the packages with pip and return pip's stderr.

    Raises CourseError with pip's first error if pip fails or takes too long.
    """
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "kept.txt"
        kept.write_text("\n".join(packages.constraints), encoding="utf-8")
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        command = [*pip, "--constraint", str(kept), *packages.requirements]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            raise CourseError(f"pip did not finish within {SECONDS} seconds") from None
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR:")]
        raise CourseError(f"pip says: {(errors or ['nothing'])[0].removeprefix('ERROR: ')}")
    return done.stderr


def report(before: dict[str, str], after: dict[str, str], complaints: str) -> str:
    """Return a message on the changed versions, and on packages that do not fit the new versions.

    `before` and `after` are results of `installed`, and `complaints` is pip's stderr.
    """
    changed = [
        f"{name} {f'{before[name]} → ' if name in before else ''}{version}"
        for name, version in sorted(after.items())
        if before.get(name) != version
    ]
    message = f"Installed: {', '.join(changed)}."
    unhappy = sorted(set(re.findall(r"^(\S+) \S+ requires .* incompatible", complaints, re.M)))
    if unhappy:
        message += f" In this session do not use {', '.join(unhappy)}: made for other versions."
    return message


def hide_the_gpu() -> None:
    """Hide the GPU from CUDA, so that all kernels of this process run on the virtual GPU."""
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"


def prepare_colab(driver: tuple[int, int] | None) -> None:
    """Install missing packages in Colab; if that fails, let the course use the virtual GPU.

    It does nothing if no package is missing. `driver` is the CUDA version that the driver
    understands, None without a driver. Prints what was installed, or why the virtual GPU is used.
    Raises CourseError if a package that lessons import stays missing, or if something was installed
    after this session had imported a module of `MODULES`, so that it must be restarted.
    """
    before = installed()
    packages = missing(driver, before)
    if packages is None:
        return
    loaded = imported()
    print("Installing what the course needs. This takes a minute.", flush=True)
    try:
        complaints = install(packages)
    except CourseError as error:
        if any(name not in before for name in needed("linux")):
            raise CourseError(
                f"The course's packages cannot be installed ({error}): connect this session to "
                "the network and run this cell again."
            ) from None
        hide_the_gpu()
        print(
            f"The course's packages cannot be installed ({error}). Kernels run on the virtual GPU, "
            "and what needs the CUDA compiler says so. To repair it, connect this session to the "
            "network, restart it, and run this cell again."
        )
        return
    print(report(before, installed(), complaints))
    if loaded:
        raise CourseError(
            f"This session had imported {loaded[0]} before it was replaced: choose Runtime → "
            "Restart session, and run this cell again."
        )


def require_python(version: tuple) -> None:
    """Raise CourseError if a Python version, as in `sys.version_info`, is too old."""
    if version < OLDEST_PYTHON:
        here, oldest = (".".join(map(str, each[:2])) for each in (version, OLDEST_PYTHON))
        raise CourseError(
            f"This Python is {here}, and the course needs {oldest} or later: choose a newer one."
        )


def main() -> None:
    """Prepare this Python for a lesson, and import `kernels_anywhere`.

    A GPU whose driver is too old is hidden, and a sentence says so. In Colab, missing packages are
    installed; elsewhere they raise CourseError. It is also raised for a Python that is too old.
    """
    require_python(sys.version_info)
    with contextlib.suppress(ValueError):
        sys.path.remove(str(COURSE))
    sys.path.insert(0, str(COURSE))
    driver = setup.driver_cuda()
    if driver and driver < setup.OLDEST_CUDA:
        hide_the_gpu()
        print(f"Kernels run on the virtual GPU: {plan(driver).because}.")
    if in_colab():
        prepare_colab(driver)
    elif lacking := [name for name in needed(sys.platform) if not _is_there(name)]:
        raise CourseError(
            f"This Python lacks {', '.join(lacking)}: run `make lab` in the course's folder "
            f"({COURSE}), or open this notebook in Colab."
        )
    importlib.import_module("kernels_anywhere")  # needs Numba, which is there by now


if __name__ == "__main__":
    main()
