"""Tells values of Python, NumPy or Numba from others: their content is known by the versions."""

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

HERE = Path(__file__).parents[1]
TESTS = HERE / "tests"
_OURS = f"{__name__.removesuffix('types.installed_code')}compilers."
_PACKAGES = ("numba", "numba_cuda", "llvmlite", "numpy")
_REGISTRIES = ("registry", "typing_registry", "builtin_registry")
_FOREIGN_TO_PYTHON = ("site-packages", "dist-packages")


@functools.cache
def versions() -> tuple[str, ...]:
    """Return strings that change whenever something installed may change the types.

    They hold the versions of Python, numba, numba_cuda, llvmlite and numpy ("None" for one that is
    not loaded), the platform, and a hash of the source text of the virtual GPU itself.
    """
    packages = map(sys.modules.get, _PACKAGES)
    return (
        sys.version,
        *(str(getattr(package, "__version__", None)) for package in packages),
        f"{sys.platform} {types.intp}",
        hashlib.sha256(_our_text()).hexdigest(),
    )


def _our_text() -> bytes:
    """Return the bytes of all Python files of the virtual GPU without its tests, joined."""
    files = sorted(HERE.rglob("*.py"))
    return b"".join(file.read_bytes() for file in files if TESTS not in file.parents)


@functools.cache
def is_installed(module: str) -> bool:
    """Return True if this names a module of Python, NumPy, Numba or llvmlite.

    The module must be loaded or built in.
    """
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        return module in sys.builtin_module_names
    return any(_is_in(os.path.realpath(file), folder) for folder in _installed_folders())


@functools.cache
def _installed_folders() -> tuple[str, ...]:
    """Return the folders of the standard library, Numba, llvmlite and NumPy, as real paths.

    Packages that are not loaded are left out.
    """
    loaded = (cuda, *(sys.modules[name] for name in _PACKAGES if name in sys.modules))
    packages = [Path(package.__file__).parent for package in loaded]
    standard = [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")]
    return tuple(os.path.realpath(folder) for folder in (*packages, *standard))


def _is_in(file: str, folder: str) -> bool:
    """Return True if a file is below a folder, but not below ``site-packages`` inside of it."""
    rest = file.removeprefix(folder + os.sep)
    return rest != file and not any(name in rest for name in _FOREIGN_TO_PYTHON)


def public_name(value) -> tuple[str, str] | None:
    """Return the tuple (module, name) under which an installed value can be found.

    Returns None if the value's own module and name do not lead back to it.
    """
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if module is None and isinstance(value, np.ufunc):
        module, name = "numpy", value.__name__
    if not isinstance(module, str) or not isinstance(name, str):
        return None
    return (module, name) if installed(module, name) is value else None


def installed(module: str, name: str):
    """Return the value that a loaded module of Python, NumPy, Numba or llvmlite has as ``name``.

    The name may contain dots. Returns None if there is no such module or name.
    """
    value = sys.modules.get(module) if is_installed(module) else None
    for part in name.split("."):
        value = getattr(value, part, None)
    return value


# --- what others have taught Numba ----------------------------------------------------------


def only_numba_types() -> bool:
    """Return True if only Numba itself has registered typing rules.

    The text of a kernel does not name the rules of another package, so no key can cover them.
    """
    return all(
        _are_numbas_own(r, len(r.functions), len(r.attributes), len(r.globals))
        for r in _registries()
    )


def _registries() -> Iterator:
    """Yield all registries of typing rules.

    They are those that Numba's modules hold, and those installed in the typing context.
    """
    yield from _loaded_registries(len(sys.modules))
    yield from cuda_target.typing_context._registries


@functools.lru_cache(maxsize=1)
def _loaded_registries(modules: int) -> tuple:
    """Return the registries of typing rules that Numba's loaded modules hold.

    The answer is cached for ``modules``, the number of loaded modules, because a new module may
    bring a registry.
    """
    loaded = [m for name, m in list(sys.modules.items()) if name.startswith("numba") and m]
    registries = {vars(module).get(name) for module in loaded for name in _REGISTRIES}
    return tuple(registry for registry in registries if hasattr(registry, "attributes"))


@functools.cache
def _are_numbas_own(registry, *sizes: int) -> bool:
    """Return True if Numba itself registered all entries of a registry.

    ``sizes`` only make the cached answer invalid when the registry has grown; entries are never
    removed.
    """
    items = (*registry.functions, *registry.attributes)
    templates = [template for _, kind in registry.globals for template in _templates(kind)]
    return all(_is_numbas_own(item) for item in (*items, *templates))


def _templates(kind) -> Iterator[type]:
    """Yield the classes that typing templates of a function's type are derived from.

    A program may have written these classes; Numba derives the templates from them.
    """
    for template in getattr(kind, "templates", ()):
        yield from template.__bases__


def _is_numbas_own(template: type) -> bool:
    """Return True if a typing template is of Python, NumPy, Numba or `compilers`, or an intrinsic.

    A template without a module counts as Numba's, because Numba makes some of its own that way. A
    change of the package `compilers` changes ``versions()``.
    """
    if hasattr(template, "_definition_func"):  # of an intrinsic, which a kernel's text must name
        return True
    module = getattr(template, "_overload_func", template).__module__
    # None: Numba makes some functions by exec(), outside of any module.
    return module in (None, "abc") or module.startswith(_OURS) or is_installed(module)
