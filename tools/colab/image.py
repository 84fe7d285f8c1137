"""Build a Python environment with the packages of Colab's list, at its versions."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

# Packages that the course imports or that run its pages; pip adds their dependencies.
# Versions are the list's. PyTorch, TensorFlow, JAX and unrelated packages are left out: they take
# gigabytes, do not import Numba, and are not imported by the course.
WITH_DEPENDENCIES = (
    *("pip", "setuptools", "numpy", "pandas", "scipy", "matplotlib", "packaging", "platformdirs"),
    *("numba", "llvmlite", "numba-cuda", "cuda-python", "cuda-toolkit", "nvidia-ml-py"),
    *("nvidia-cuda-nvcc-cu12", "nvidia-cuda-nvrtc-cu12", "nvidia-cuda-runtime-cu12"),
    *("nvidia-nvjitlink-cu12", "nvidia-cuda-cccl-cu12"),
    *("ipykernel", "ipython", "ipywidgets", "nbclient", "nbconvert", "nbformat"),
    *("babel", "py-cpuinfo", "rich", "threadpoolctl", "tqdm"),
)
# Packages that need Numba or the CUDA bindings, without their own dependencies: RAPIDS' libraries
# take gigabytes. With them, pip compares their pins with what the course installs.
ALONE = (
    *("cudf-cu12", "cuml-cu12", "dask-cuda", "dask-cudf-cu12", "pylibcudf-cu12", "rmm-cu12"),
    *("rapids-dask-dependency", "cupy-cuda12x", "pynndescent", "umap-learn", "stumpy"),
    *("quantecon", "librosa", "shap"),
)
SECONDS = 900  # for one installation


class NoImage(Exception):
    """Colab's environment cannot be made; the message is a sentence with the reason."""


def interpreter(version: str) -> Path:
    """Return the path of a Python of this version, such as "3.13", from PATH or pyenv.

    Raises NoImage if there is none.
    """
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    on_path = shutil.which(f"python{version}")
    candidates = [Path(on_path)] if on_path else []
    for python in (*candidates, *sorted(pyenv.glob(f"{version}.*/bin/python"))):
        program = "import sys; print('.'.join(map(str, sys.version_info[:2])))"
        result = subprocess.run([python, "-c", program], capture_output=True, text=True, timeout=30)
        if result.returncode == 0 and result.stdout.strip() == version:
            return python
    raise NoImage(f"Colab is not replayed: there is no Python {version} on PATH or in pyenv.")


def versions_in(file: Path) -> dict[str, str]:
    """Return a dict from canonical package name to version, read from a file.

    The file has the format of `pip freeze`. Lines that are not NAME==VERSION are ignored. Raises
    NoImage if the file does not exist.
    """
    if not file.is_file():
        raise NoImage(f"There is no list {file}: give LIST the output of pip freeze in Colab.")
    rows = re.findall(r"^([\w.-]+)==(\S+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    return {canonical(name): version for name, version in rows}


def canonical(name: str) -> str:
    """Return a package's name as pip normalises it: lower case, with hyphens."""
    return re.sub(r"[-_.]+", "-", name).lower()


def build_image(file: Path, version: str, folder: Path) -> Path:
    """Return the folder of an environment with a list's packages; build it if it is missing.

    file: the list, in the format of `pip freeze`. version: Python's version, such as "3.13".
    folder: the folder that holds environments. Raises NoImage without the list or such a Python,
    and if pip fails; subprocess.CalledProcessError if no virtual environment can be made.
    """
    packages = versions_in(file)
    chosen = repr((sorted(packages.items()), WITH_DEPENDENCIES, ALONE, version))
    environment = folder / f"image-{hashlib.sha256(chosen.encode()).hexdigest()[:12]}"
    if environment.is_dir():
        return environment
    partial = environment.with_suffix(".new")
    shutil.rmtree(partial, ignore_errors=True)
    python = interpreter(version)
    subprocess.run([python, "-m", "venv", "--copies", partial], check=True, timeout=SECONDS)
    constraints = partial / "constraints.txt"
    constraints.write_text("\n".join(f"{n}=={v}" for n, v in packages.items()), encoding="utf-8")
    for names, flags in ((WITH_DEPENDENCIES, []), (ALONE, ["--no-deps"])):
        wanted = [f"{name}=={packages[name]}" for name in names if name in packages]
        pip(partial, "install", "--constraint", constraints, *flags, *wanted)
    return partial.rename(environment)


def hard_link_copy(original: Path, target: Path) -> Path:
    """Replace `target` by a copy of an environment made of hard links, and return `target`.

    Both share their files until pip replaces them.
    """
    shutil.rmtree(target, ignore_errors=True)
    return Path(shutil.copytree(original, target, copy_function=os.link, symlinks=True))


def python_of(environment: Path) -> Path:
    """Return the path of an environment's Python."""
    return environment / "bin" / "python"


def pip(environment: Path, *arguments) -> str:
    """Run pip with these arguments in an environment and return its stdout.

    Raises NoImage with pip's error if pip fails.
    """
    command = [python_of(environment), "-m", "pip", "--disable-pip-version-check", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    if result.returncode:
        errors = [line for line in result.stderr.splitlines() if line.startswith("ERROR")]
        raise NoImage(f"Colab's packages do not install: {(errors or [result.stderr])[0]}")
    return result.stdout


def packages_of(environment: Path) -> dict[str, str]:
    """Return a dict from canonical name to version of the packages that an environment has."""
    rows = json.loads(pip(environment, "list", "--format", "json"))
    return {canonical(row["name"]): row["version"] for row in rows}
