"""Load scripts of `site/`, which cannot be a package: Python has a module of that name."""

import importlib.util
from types import ModuleType

from utils.paths import ROOT

FOLDER = ROOT / "site"


def script(name: str) -> ModuleType:
    """Return the file `site/NAME.py` as a module."""
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
