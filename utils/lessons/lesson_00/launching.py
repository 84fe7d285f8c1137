"""Examine the reader's launch of `scale`: its grid, its blocks and its result."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from utils.division import cdiv
from utils.lessons.cards import Card
from utils.translated_findings import translate_message
from utils.translation import translate
from virtual_gpu import LaunchError, VirtualGpuError, installed
from virtual_gpu.launching.dispatcher_methods import VirtualLaunch, current_watcher, watching

LENGTHS = 1, 256, 257, 5000
THREADS = 256  # per block, as the task says
FACTOR = 2


def check_launch(launch: Callable) -> Card:
    """Call the reader's function for each of `LENGTHS`, and return a card with the first mistake.

    Without a mistake, the card says that the launch is right.

    launch: takes the float32 arrays x and out of one length, and should launch one kernel that
    stores `FACTOR` · x in out, with as few blocks of `THREADS` threads as possible. The launches
    run on the virtual GPU. An error that the function raises is a mistake, too.
    """
    for length in LENGTHS:
        if mistake := _mistake(launch, length):
            return Card("bad", (translate("The launch: not yet."), mistake))
    blocks = ", ".join(f"{cdiv(length, THREADS)}" for length in LENGTHS)
    lengths = ", ".join(f"{length:,}" for length in LENGTHS)
    right = translate(
        "The launch: right. The lengths {lengths} got {blocks} blocks of {threads} threads, and "
        "`out` is {factor} · `x`.", lengths=lengths, blocks=blocks, threads=THREADS, factor=FACTOR,
    )  # fmt: skip
    return Card("good", (right,))


def _mistake(launch: Callable, length: int) -> str | None:
    """Return a sentence on what is wrong with the launch for arrays of one length, else None."""
    x = np.arange(1, length + 1, dtype=np.float32)
    given, out = x.copy(), np.full_like(x, np.nan)
    try:
        launches = _launches(launch, given, out)
    except Exception as error:  # whatever the reader's function does
        return _raised(error, length)
    right = np.array_equal(out, FACTOR * x)
    if not launches:
        return _without_kernel(right)
    if len(launches) > 1:
        return translate(
            "At length {length:,} there are {number} launches, and one is enough.",
            length=length, number=len(launches),
        )  # fmt: skip
    launched, arguments = launches[0]
    if wrong := _wrong_numbers(launched, length):
        return wrong
    return _float64(arguments) if right else _wrong_values(launched, x, given, out)


def _raised(error: Exception, length: int) -> str:
    """Return sentences on an error of the reader's function or of its launch."""
    if "launch configuration was not specified" in str(error):  # Numba's own, of several lines
        return translate(
            "The launch has no square brackets. The blocks and the threads per block are between "
            "the kernel and its arguments: `scale[blocks, threads](…)`."
        )
    why = f"{str(error).rstrip('.')}."
    if isinstance(error, VirtualGpuError):
        finding = error.finding
        told = (
            f"Line {finding.line}, `{finding.site.source}`: {finding.message}" if finding else why
        )
        why = translate_message(told)
    if isinstance(error, LaunchError):
        return translate("At length {length:,}: {why}", length=length, why=why)
    if isinstance(error, VirtualGpuError):
        return translate(
            "The launch starts, but the kernel fails at length {length:,}: {why} Has `check` found "
            "your `scale` right?", length=length, why=why,
        )  # fmt: skip
    return translate(
        "At length {length:,} your function raises {error}: {why}",
        length=length, error=type(error).__name__, why=why,
    )  # fmt: skip


def _launches(
    launch: Callable, x: np.ndarray, out: np.ndarray
) -> list[tuple[VirtualLaunch, tuple]]:
    """Call the reader's function on the virtual GPU; return its launches and their arguments."""
    launches = []
    with installed():
        earlier = current_watcher()

        def run(one: VirtualLaunch, arguments: tuple) -> None:
            launches.append((one, arguments))
            earlier(one, arguments)

        with watching(run):
            launch(x, out)
    return launches


def _without_kernel(right: bool) -> str:
    """Return a sentence on a function that launches nothing. right: `out` has the right values."""
    if right:
        return translate("`out` is right, but NumPy computed it: no kernel was launched.")
    return translate("No kernel was launched. Is the body of `launch` still to be written?")


def _wrong_numbers(launched: VirtualLaunch, length: int) -> str | None:
    """Return a sentence if the grid or the block is not the right one for a length, else None."""
    grid, block = launched.geometry.grid, launched.geometry.block
    enough = cdiv(length, THREADS)
    if (grid, block) == ((enough, 1, 1), (THREADS, 1, 1)):
        return None
    blocks, threads = launched.geometry.blocks, launched.geometry.threads
    shown = {"length": length, "blocks": blocks, "threads": threads, "enough": enough}
    if (grid, block) == ((THREADS, 1, 1), (enough, 1, 1)):
        return translate(
            "At length {length:,} you launched `[{blocks}, {threads}]`, and the two numbers are "
            "swapped: the blocks come first, then the threads per block.", **shown,
        )  # fmt: skip
    if block != (THREADS, 1, 1):
        return translate(
            "At length {length:,} you launched `[{blocks}, {threads}]`. The second number is the "
            "number of threads per block, and it should be {wanted}.", wanted=THREADS, **shown,
        )  # fmt: skip
    if grid[1:] != (1, 1):
        return translate("The grid should have one dimension, because `scale` counts in one.")
    if blocks == length > 1:
        return translate(
            "At length {length:,} you launched `[{blocks}, {threads}]`, one block per element. A "
            "block has {threads} threads, so the smallest number of blocks is {enough}.", **shown,
        )  # fmt: skip
    if blocks == enough + 1 and length % THREADS == 0:
        return translate(
            "At length {length:,} you launched `[{blocks}, {threads}]`. That is one block too "
            "many, because the length is a multiple of {threads}.", **shown,
        )  # fmt: skip
    return translate(
        "At length {length:,} you launched `[{blocks}, {threads}]`, and the smallest number of "
        "blocks is {enough}.", **shown,
    )  # fmt: skip


def _float64(arguments: tuple) -> str | None:
    """Return a sentence if a number among the arguments makes the products float64, else None."""
    for given in arguments:
        if np.result_type(np.asarray(given).dtype, np.float32) != np.float32:
            return translate(
                "The result is right, but a plain `{given}` makes each product a float64. Write "
                "`np.float32({given})`.", given=given,
            )  # fmt: skip
    return None


def _wrong_values(
    launched: VirtualLaunch, x: np.ndarray, given: np.ndarray, out: np.ndarray
) -> str:
    """Return a sentence on wrong values after a launch with the right grid and block.

    x: what the function got. given: the same array after the launch. out: the result.
    """
    name = launched.kernel.py_func.__name__
    if not np.array_equal(x, given):
        return translate("The kernel changed `x`. Are `x` and `out` swapped in the launch?")
    if name != "scale":
        return translate(
            "You launched `{name}`, and the kernel of this task is `scale`.", name=name
        )
    factor = out[0] / x[0]
    if np.array_equal(out, factor * x):
        return translate(
            "Grid and block are right, but `out` is {factor:g} · `x`. The factor should be "
            "{wanted}.", factor=float(factor), wanted=FACTOR,
        )  # fmt: skip
    return translate(
        "Grid and block are right, but at length {length:,} `out` is not {factor} · `x`. Is your "
        "`scale` right already?", length=len(x), factor=FACTOR,
    )  # fmt: skip
