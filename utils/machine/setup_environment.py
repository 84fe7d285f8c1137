"""Make `.venv` and install the pinned packages, with CUDA packages that suit the driver.

Every `make` target runs this file before anything else, so it imports only the standard library and
returns at once if nothing has changed. Without make, run `python
utils/machine/setup_environment.py`.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import importlib.util
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "installed.txt"
NO_ENSUREPIP = (
    "This Python cannot make virtual environments (it has no ensurepip): install your system's"
    " python3-venv package, or choose another Python with 'make setup PYTHON=...'."
)
OLDEST_CUDA = (12, 0)
OLDEST_NVJITLINK_MINOR = 3  # of CUDA 12, for numba-cuda 0.30


@dataclass(frozen=True)
class Plan:
    """The CUDA packages to install.

    extra: an extra of pyproject.toml, or None. limits: requirements for pip, such as
    "cuda-toolkit<12.5", that replace pins. because: the reason for the choice, in words.
    """

    extra: str | None
    limits: tuple[str, ...]
    because: str


def driver_cuda() -> tuple[int, int] | None:
    """Return the newest CUDA version that the installed driver understands, such as (12, 4).

    Returns None if there is no driver, or if it fails to answer.
    """
    name = "nvcuda.dll" if os.name == "nt" else "libcuda.so.1"
    version = ctypes.c_int()
    try:
        failed = ctypes.CDLL(name).cuDriverGetVersion(ctypes.byref(version))
    except (OSError, AttributeError):
        return None
    return None if failed else (version.value // 1000, version.value % 1000 // 10)


def plan(driver: tuple[int, int] | None, toolkit: tuple[int, int], platform: str) -> Plan:
    """Return the CUDA packages that suit a driver.

    `driver` is the CUDA version that the driver understands, None without a driver. `toolkit` is
    the CUDA version of the pins. `platform` is a value of `sys.platform`.
    """
    if platform == "darwin":
        return Plan(None, (), "macOS has no CUDA: kernels run on the virtual GPU, uncompiled")
    if driver is None:
        return Plan("compiler", (), "no CUDA driver: kernels compile, and run on the virtual GPU")
    known = f"the driver understands CUDA {_dotted(driver)}"
    if driver < OLDEST_CUDA:
        needed = f"which is older than {_dotted(OLDEST_CUDA)}: update it to use this GPU"
        return Plan("compiler", (), f"{known}, {needed}")
    if driver >= toolkit:
        return Plan("gpu-cu13", (), known)
    major, minor = driver
    if major == 12:
        # nvJitLink makes machine code, which unlike PTX also runs on an older driver of its CUDA.
        too_new = f"12.{max(minor, OLDEST_NVJITLINK_MINOR) + 1}"
        limits = (f"cuda-toolkit<{too_new}", f"nvidia-nvjitlink-cu12<{too_new}", "cuda-bindings<13")
        return Plan("gpu-cu12", limits, known)
    too_new = f"{major}.{minor + 1}"
    return Plan("gpu-cu13", (f"cuda-toolkit<{too_new}", f"nvidia-nvjitlink<{too_new}"), known)


def limited(pins: str, limits: tuple[str, ...]) -> str:
    """Return the text of a constraints file in which `limits` replace the pins of the CUDA toolkit.

    `pins` is the text of constraints.txt, which is returned unchanged if there are no limits.
    `limits` are requirements such as "cuda-toolkit<12.5".
    """
    if not limits:
        return pins
    # The tools that only read machine code stay pinned, because they do not use the driver.
    tied = r"cuda-toolkit|nvidia-(?!ml-py|cuda-cuobjdump|cuda-nvdisasm)|" + "|".join(
        re.escape(limit.split("<")[0]) + "==" for limit in limits
    )
    kept = [line for line in pins.splitlines() if not re.match(tied, line)]
    return "\n".join([*kept, *limits, ""])


def pinned_toolkit(pins: str) -> tuple[int, int]:
    """Return the CUDA version that constraints pin, as (major, minor), such as (13, 0).

    pins: the text of a constraints file; it must have a line such as "cuda-toolkit==13.0".
    """
    major, minor = re.search(r"^cuda-toolkit==(\d+)\.(\d+)", pins, re.MULTILINE).groups()
    return int(major), int(minor)


def _dotted(version: tuple[int, int]) -> str:
    """Return a version as text, such as "12.4"."""
    return ".".join(map(str, version))


def _venv_python() -> Path:
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _base_python() -> str:
    """Return the path of this Python outside of any virtual environment.

    The Python of `.venv` cannot make `.venv` anew, because its own files are deleted first.
    """
    return getattr(sys, "_base_executable", None) or sys.executable


def _stamp(chosen: Plan, pins: str) -> str:
    """Return two lines that say from what the environment was made.

    If the first line changes, the environment must be made anew; if only the second changes, pip
    must run again.
    """
    texts = (ROOT / "pyproject.toml").read_text(encoding="utf-8"), pins, str(ROOT)
    digest = hashlib.sha256("\0".join(texts).encode()).hexdigest()
    return f"{chosen.extra} on Python {_dotted(sys.version_info[:2])}\n{digest}\n"


def _install(chosen: Plan, pins: str, stamp: str) -> int:
    """Make `.venv` if it must be made anew, and install the packages; return pip's exit code.

    chosen: says which extra of the course is installed. pins: the text of the constraints file.
    stamp: the text that is stored in STAMP after a success; if its first line has changed, `.venv`
    is made anew. Raises CalledProcessError if `.venv` cannot be made.
    """
    old_stamp = STAMP.read_text(encoding="utf-8") if STAMP.exists() else ""
    if old_stamp.splitlines()[:1] != stamp.splitlines()[:1]:
        subprocess.run([_base_python(), "-m", "venv", "--clear", str(VENV)], check=True)
    STAMP.unlink(missing_ok=True)
    constraints = VENV / "constraints.txt"
    constraints.write_text(pins, encoding="utf-8")
    extras = ",".join(filter(None, (chosen.extra, "test")))
    command = [str(_venv_python()), "-m", "pip", "install", "--disable-pip-version-check"]
    quiet = [] if sys.stdout.isatty() else ["--quiet"]
    packages = ["--constraint", str(constraints), "--editable", f".[{extras}]"]
    code = subprocess.run([*command, *quiet, *packages], cwd=ROOT, check=False).returncode
    if code == 0:
        STAMP.write_text(stamp, encoding="utf-8")
    return code


def cuda_version(text: str) -> tuple[int, int] | None:
    """Return the CUDA version that the option --cuda names, such as (12, 4), or None.

    `text` is "auto" for the driver's version, which is None without a driver, "none" for None, or a
    version such as "12.4". Raises ValueError for another text.
    """
    if text == "auto":
        return driver_cuda()
    if text == "none":
        return None
    major, minor = text.split(".")
    return int(major), int(minor)


def main(arguments: list[str] | None = None) -> int:
    """Make or update `.venv` if anything has changed, and return an exit code.

    It is 0 if the environment is ready, 2 if this Python cannot make one, or else pip's. Prints
    that it installs, and how that ended. arguments: the words of the command line; by default,
    those of this process.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--cuda",
        type=cuda_version,
        default="auto",
        help="auto: ask the driver; none: no GPU packages; 12.4, 13.0, ...: as for such a driver",
    )
    driver = parser.parse_args(arguments).cuda
    if importlib.util.find_spec("ensurepip") is None:
        print(NO_ENSUREPIP, file=sys.stderr)
        return 2
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    chosen = plan(driver, pinned_toolkit(pins), sys.platform)
    pins = limited(pins, chosen.limits)
    stamp = _stamp(chosen, pins)
    if STAMP.exists() and STAMP.read_text(encoding="utf-8") == stamp:
        return 0
    print(f"Installing into .venv ({chosen.because}). This takes a few minutes.", flush=True)
    code = _install(chosen, pins, stamp)
    print("Ready." if code == 0 else "pip could not install the packages: see above.", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
