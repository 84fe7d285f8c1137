"""Limits on the time, the loop iterations and the memory of a launch."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass

from .errors import LaunchError

ROUNDS = 1 << 18
STALLED_SECONDS = 45.0


@dataclass(frozen=True)
class LaunchLimits:
    """The limits of one launch; None means no limit.

    ``seconds`` limits the whole launch on the host's clock. ``rounds`` limits the iterations of one
    ``while`` loop; a ``for`` loop over a range ends by itself. ``lane_rounds`` limits the
    iterations of all loops, each counted once per participating thread. ``bytes`` limits the memory
    that is kept for arrays and threads. ``stalled_seconds`` limits a ``while`` loop that no thread
    leaves and that changes no memory.
    """

    seconds: float | None = None
    rounds: int | None = ROUNDS
    lane_rounds: int | None = None
    bytes: int | None = None
    stalled_seconds: float | None = STALLED_SECONDS


def limits_of(patience: float | None = None, lane_rounds: float | None = None) -> LaunchLimits:
    """Return the LaunchLimits from the arguments or, for an argument of None, the environment.

    The variables are VIRTUAL_GPU_SECONDS (for ``patience``, in seconds), VIRTUAL_GPU_MAX_ROUNDS,
    VIRTUAL_GPU_LANE_ROUNDS and VIRTUAL_GPU_BYTES. If a time is set, ``while`` loops have no limit
    on their iterations unless that is set as well, and ``stalled_seconds`` is None. Without
    VIRTUAL_GPU_BYTES the limit is this machine's memory, or None if its size is unknown. Raises
    LaunchError if ``patience`` or a variable is not a positive number.
    """
    seconds = _environment("VIRTUAL_GPU_SECONDS") if patience is None else patience
    if isinstance(seconds, bool) or not isinstance(seconds, int | float | None) or (
        seconds is not None and not seconds > 0
    ):
        raise LaunchError(f"patience={patience!r}; it must be a number of seconds above 0.")
    rounds = _environment("VIRTUAL_GPU_MAX_ROUNDS")
    timed = seconds is not None
    return LaunchLimits(
        seconds,
        rounds or (None if timed else ROUNDS),
        lane_rounds or _environment("VIRTUAL_GPU_LANE_ROUNDS"),
        _environment("VIRTUAL_GPU_BYTES") or physical_memory(),
        None if timed else STALLED_SECONDS,
    )


def in_bytes(amount: float) -> str:
    """Return an amount of memory as text, such as ``1.5 MiB`` or ``100 bytes``.

    ``amount`` is in bytes. The unit is the largest of GiB, MiB, KiB and bytes that fits.
    """
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if amount >= size:
            return f"{amount / size:.1f} {unit}"
    return f"{amount:.0f} bytes"


@functools.cache
def physical_memory() -> int | None:
    """Return this machine's memory in bytes, or None if the system does not tell its size."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _environment(name: str) -> float | None:
    """Return the number in an environment variable, or None if it is unset or empty.

    Raises LaunchError unless it is a number above 0.
    """
    text = os.environ.get(name, "")
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not value > 0:
        raise LaunchError(f"{name} is {text!r}; it must be a number above 0.")
    return value
