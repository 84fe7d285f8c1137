"""Values that come with Python, NumPy or Numba, so that a version stands for their content."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numba import cuda
from numba.core import types
from numba.cuda.descriptor import cuda_target

_PACKAGES = ("numba", "numba_cuda", "llvmlite", "numpy")
_REGISTRIES = ("registry", "typing_registry", "builtin_registry")
_FOREIGN_TO_PYTHON = ("site-packages", "dist-packages")


@functools.cache
def versions() -> tuple[str, ...]:
    """Everything installed that has a part in the types: versions, the machine, and the text of the
    virtual GPU itself."""
    ours = b"".join(file.read_bytes() for file in sorted(Path(__file__).parent.glob("*.py")))
    packages = map(sys.modules.get, _PACKAGES)
    return (
        sys.version,
        *(str(getattr(package, "__version__", None)) for package in packages),
        f"{sys.platform} {types.intp}",
        hashlib.sha256(ours).hexdigest(),
    )


@functools.cache
def is_installed(module: str) -> bool:
    """Return True for a loaded module of Python, NumPy, Numba or llvmlite, also one that is not
    loaded from a file."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        return module in sys.builtin_module_names
    return any(_is_in(os.path.realpath(file), place) for place in _places())


@functools.cache
def _places() -> tuple[str, ...]:
    loaded = (cuda, *(sys.modules[name] for name in _PACKAGES if name in sys.modules))
    packages = [Path(package.__file__).parent for package in loaded]
    standard = [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")]
    return tuple(os.path.realpath(place) for place in (*packages, *standard))


def _is_in(file: str, place: str) -> bool:
    rest = file.removeprefix(place + os.sep)
    return rest != file and not any(name in rest for name in _FOREIGN_TO_PYTHON)


def public_name(value) -> tuple[str, str] | None:
    """Return the module and the name of an installed value; None where these do not lead back."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if module is None and isinstance(value, np.ufunc):
        module, name = "numpy", value.__name__
    if not isinstance(module, str) or not isinstance(name, str):
        return None
    return (module, name) if installed(module, name) is value else None


def installed(module: str, name: str):
    """Return the installed value of this name; None where no loaded module has it."""
    value = sys.modules.get(module) if is_installed(module) else None
    for part in name.split("."):
        value = getattr(value, part, None)
    return value


# --- what others have taught Numba ----------------------------------------------------------


def only_numba_types() -> bool:
    """Return False where a package or a program has registered typing rules of its own, which no
    kernel's text names."""
    return all(
        _are_numbas_own(one, len(one.functions), len(one.attributes), len(one.globals))
        for one in _registries()
    )


def _registries() -> Iterator:
    """The registries that Numba's modules hold, and those that were installed."""
    yield from _loaded_registries(len(sys.modules))
    yield from cuda_target.typing_context._registries


@functools.lru_cache(maxsize=1)
def _loaded_registries(modules: int) -> tuple:
    """``modules``: how many are loaded, because a new one may bring a registry."""
    loaded = [m for name, m in list(sys.modules.items()) if name.startswith("numba") and m]
    found = {vars(module).get(name) for module in loaded for name in _REGISTRIES}
    return tuple(one for one in found if hasattr(one, "attributes"))


@functools.cache
def _are_numbas_own(registry, *sizes: int) -> bool:
    """``sizes``: what is registered is only ever added to, so that they say whether it changed."""
    items = (*registry.functions, *registry.attributes)
    templates = [template for _, kind in registry.globals for template in _templates(kind)]
    return all(_is_numbas_own(item) for item in (*items, *templates))


def _templates(kind) -> Iterator[type]:
    """Return the classes that a program may have written for a function; Numba derives from them.
    """
    for template in getattr(kind, "templates", ()):
        yield from template.__bases__


def _is_numbas_own(template: type) -> bool:
    if hasattr(template, "_definition_func"):  # of an intrinsic, which a kernel must name
        return True
    module = getattr(template, "_overload_func", template).__module__
    # None: Numba makes some functions by exec(), outside of any module.
    return module in (None, "abc") or is_installed(module)
