"""The scripts of `site/`, which is no package: its name is that of a module of Python."""

import importlib.util
from types import ModuleType

from utils.paths import ROOT

FOLDER = ROOT / "site"


def script(name: str) -> ModuleType:
    """The file `site/NAME.py` as a module."""
    found = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    loaded = importlib.util.module_from_spec(found)
    found.loader.exec_module(loaded)
    return loaded
