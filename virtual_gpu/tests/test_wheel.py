"""The wheel of the virtual GPU and the x-ray depends on every package that it imports.

`make release` builds the wheel and tests it in an empty environment.
"""

import ast
import sys
import tomllib
from pathlib import Path

from utils.paths import ROOT

PACKAGES = ("gpu_xray", "virtual_gpu")
FOLDER = ROOT / "virtual_gpu"
# The bindings come with numba-cuda, and llvmlite with Numba. The next compiler is imported only
# where a program has imported it.
WITH_OTHERS = {"cuda", "llvmlite", "numba_cuda_mlir"}


def files():
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            if "tests" not in path.parts and path.name != "hatch_build.py":
                yield path


def test_every_package_that_is_imported_is_a_dependency():
    project = tomllib.loads((FOLDER / "pyproject.toml").read_text())["project"]
    declared = " ".join(project["dependencies"])
    there = sys.stdlib_module_names | {"pytest", *PACKAGES, *WITH_OTHERS}
    for path in files():
        for package in imported_packages(path) - there:
            assert package in declared, f"{path.name} imports {package}"


def imported_packages(path: Path) -> set[str]:
    """Return the top-level names of the absolute imports in a file."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [n.module for n in nodes if isinstance(n, ast.ImportFrom) and not n.level]
    return {name.split(".")[0] for name in names}


def test_the_wheel_carries_the_projects_license():
    assert (FOLDER / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
