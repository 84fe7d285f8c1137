"""A Python environment with the packages of Colab's list, at its versions."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

# What the course imports, and what runs the page; pip adds what these need, at the list's versions.
# Left out: PyTorch, TensorFlow, JAX and all that no package here knows of. They are gigabytes, and
# neither import Numba nor are imported by the course.
WITH_DEPENDENCIES = (
    *("pip", "setuptools", "numpy", "pandas", "scipy", "matplotlib", "packaging", "platformdirs"),
    *("numba", "llvmlite", "numba-cuda", "cuda-python", "cuda-toolkit", "nvidia-ml-py"),
    *("nvidia-cuda-nvcc-cu12", "nvidia-cuda-nvrtc-cu12", "nvidia-cuda-runtime-cu12"),
    *("nvidia-nvjitlink-cu12", "nvidia-cuda-cccl-cu12"),
    *("ipykernel", "ipython", "ipywidgets", "nbclient", "nbconvert", "nbformat"),
    *("py-cpuinfo", "rich", "threadpoolctl", "tqdm"),
)
# Packages that need Numba or the CUDA bindings, without what they need themselves: RAPIDS' own
# libraries are gigabytes. So pip compares their pins with what the course installs.
ALONE = (
    *("cudf-cu12", "cuml-cu12", "dask-cuda", "dask-cudf-cu12", "pylibcudf-cu12", "rmm-cu12"),
    *("rapids-dask-dependency", "cupy-cuda12x", "pynndescent", "umap-learn", "stumpy"),
    *("quantecon", "librosa", "shap"),
)
SECONDS = 900  # that one installation may take


class NoImage(Exception):
    """Why the environment cannot be made, in one sentence."""


def interpreter(version: str) -> Path:
    """A Python of that version, such as "3.13", on PATH or of pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    on_path = shutil.which(f"python{version}")
    found = [Path(on_path)] if on_path else []
    for python in (*found, *sorted(pyenv.glob(f"{version}.*/bin/python"))):
        asked = "import sys; print('.'.join(map(str, sys.version_info[:2])))"
        told = subprocess.run([python, "-c", asked], capture_output=True, text=True, timeout=30)
        if told.returncode == 0 and told.stdout.strip() == version:
            return python
    raise NoImage(f"Colab is not replayed: there is no Python {version} on PATH or in pyenv.")


def listed(file: Path) -> dict[str, str]:
    """The packages of a list in the form of `pip freeze`: name to version."""
    if not file.is_file():
        raise NoImage(f"There is no list {file}: give LIST the output of pip freeze in Colab.")
    rows = re.findall(r"^([\w.-]+)==(\S+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    return {canonical(name): version for name, version in rows}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def image(file: Path, version: str, folder: Path) -> Path:
    """The environment of that list below `folder`, made where it does not stand there yet."""
    packages = listed(file)
    chosen = repr((sorted(packages.items()), WITH_DEPENDENCIES, ALONE, version))
    place = folder / f"image-{hashlib.sha256(chosen.encode()).hexdigest()[:12]}"
    if place.is_dir():
        return place
    making = place.with_suffix(".new")
    shutil.rmtree(making, ignore_errors=True)
    python = interpreter(version)
    subprocess.run([python, "-m", "venv", "--copies", making], check=True, timeout=SECONDS)
    constraints = making / "constraints.txt"
    constraints.write_text("\n".join(f"{n}=={v}" for n, v in packages.items()), encoding="utf-8")
    for names, flags in ((WITH_DEPENDENCIES, []), (ALONE, ["--no-deps"])):
        wanted = [f"{name}=={packages[name]}" for name in names if name in packages]
        pip(making, "install", "--constraint", constraints, *flags, *wanted)
    return making.rename(place)


def copied(original: Path, place: Path) -> Path:
    """A second environment that shares its files with the first until pip replaces them."""
    shutil.rmtree(place, ignore_errors=True)
    return Path(shutil.copytree(original, place, copy_function=os.link, symlinks=True))


def python_of(place: Path) -> Path:
    return place / "bin" / "python"


def pip(place: Path, *arguments) -> str:
    """What pip prints; NoImage with its error where it fails."""
    command = [python_of(place), "-m", "pip", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise NoImage(f"Colab's packages do not install: {(errors or [done.stderr])[0]}")
    return done.stdout


def packages_of(place: Path) -> dict[str, str]:
    """What is installed there: name to version."""
    rows = json.loads(pip(place, "list", "--format", "json"))
    return {canonical(row["name"]): row["version"] for row in rows}
