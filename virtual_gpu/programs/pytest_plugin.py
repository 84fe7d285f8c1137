"""A pytest plugin that fails a test if one of its launches has a flaw, even if its asserts pass.

``@pytest.mark.virtual_gpu_allow("race")`` lets a test pass with flaws of these kinds, or with any
flaw if no kind is given. ``--virtual-gpu=on`` runs launches on the virtual GPU even if there is a
device, and ``cuda.is_available()`` returns True. ``off`` disables the plugin.
"""

from __future__ import annotations

import warnings
from collections.abc import Generator
from contextlib import nullcontext

import pytest
from numba import cuda

from ..common.errors import ERROR_OF_KIND, Finding
from ..common.filenames import elsewhere
from ..launching.dispatcher_methods import watching
from ..launching.installation import install
from .launch_log import LaunchLog

MARKER = "virtual_gpu_allow"
SWITCHED_ON = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option ``--virtual-gpu``."""
    parser.getgroup("virtual GPU").addoption(
        "--virtual-gpu",
        choices=("auto", "on", "off"),
        default="auto",
        help="run and check the launches of Numba-CUDA kernels on the virtual GPU: auto (where "
        "there is no device), on, off",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker; install the virtual GPU if the option switches it on.

    With "auto" it is switched on if there is no CUDA device. Only with "on" does
    ``cuda.is_available()`` return True.
    """
    config.addinivalue_line(
        "markers", f"{MARKER}(*kinds): flaws of these kinds (of any, if none is given) are allowed"
    )
    mode = config.getoption("--virtual-gpu")
    config.stash[SWITCHED_ON] = mode == "on" or (mode == "auto" and not cuda.is_available())
    if config.stash[SWITCHED_ON]:
        install(available=mode == "on")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Raise UsageError if a test's marker names an unknown kind of flaw."""
    for item in items:
        for kind in (kind for marker in item.iter_markers(MARKER) for kind in marker.args):
            if kind not in ERROR_OF_KIND:
                raise pytest.UsageError(
                    f"{item.nodeid}: {MARKER} was given {kind!r}, which is no kind of flaw; give "
                    f"one of {', '.join(ERROR_OF_KIND)}."
                )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """Run the fixtures of a test, and fail it if one of their launches has a flaw."""
    return (yield from _watched(item, "setup"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Run a test, and fail it if one of its launches has a flaw."""
    return (yield from _watched(item, "call"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """Run the end of a test's fixtures, and fail it if one of their launches has a flaw."""
    return (yield from _watched(item, "teardown"))


def _watched(item: pytest.Item, phase: str) -> Generator[None]:
    """Run one phase of a test, log its launches, and fail the test if one has a flaw.

    The phase is "setup", "call" or "teardown", because fixtures may launch kernels, too. Flaws that
    the marker allows do not fail the test, and warnings become Python warnings. This is the body of
    a hook wrapper, which yields once.
    """
    log = LaunchLog()
    with watching(log) if item.config.stash[SWITCHED_ON] else nullcontext():
        try:
            result = yield
        except BaseException:
            if log.flaws:
                item.add_report_section(phase, "virtual GPU", _listed(log.flaws, item))
            raise
    for kernel in log.kernels:
        for finding in kernel.warnings:
            warnings.warn(str(finding), stacklevel=1)
    flaws = tuple(flaw for flaw in log.flaws if not _is_allowed(flaw, item))
    if flaws:
        pytest.fail(_listed(flaws, item), pytrace=False)
    return result


def _is_allowed(flaw: Finding, item: pytest.Item) -> bool:
    """Return True if a marker of the test names this kind of flaw, or names no kind at all."""
    return any(not m.args or flaw.kind in m.args for m in item.iter_markers(MARKER))


def _listed(flaws: tuple[Finding, ...], item: pytest.Item) -> str:
    """Return one line of text per flaw, which begins with ``The virtual GPU found:``.

    A line ends with the file's name if that is not the test's file.
    """
    files = (elsewhere(flaw.site.file, str(item.path)) for flaw in flaws)
    return "\n".join(
        f"The virtual GPU found: {flaw}{place}" for flaw, place in zip(flaws, files, strict=True)
    )
