"""How long and how large a launch may be."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass

from .errors import LaunchError

ROUNDS = 1 << 18
STALLED_SECONDS = 45.0


@dataclass(frozen=True)
class Limits:
    """What a launch is held to; None: not at all.

    ``seconds``: of the whole launch, on the host's clock. ``rounds``: of one ``while`` loop; a
    ``for`` loop over a range has an end of its own. ``lane_rounds``: rounds of all loops, each
    times the threads that take part. ``bytes``: of what is kept about arrays and threads.
    ``stalled_seconds``: of a ``while`` loop that no thread leaves and that changes no memory.
    """

    seconds: float | None = None
    rounds: int | None = ROUNDS
    lane_rounds: int | None = None
    bytes: int | None = None
    stalled_seconds: float | None = STALLED_SECONDS


def limits_of(patience: float | None = None, lane_rounds: float | None = None) -> Limits:
    """The limits that the environment sets, with ``patience`` (seconds) and ``lane_rounds`` first.

    VIRTUAL_GPU_SECONDS, VIRTUAL_GPU_MAX_ROUNDS, VIRTUAL_GPU_LANE_ROUNDS, VIRTUAL_GPU_BYTES. Who
    sets a time is waited for that long: then loops are not held to a number of rounds, unless
    that is set as well. Without VIRTUAL_GPU_BYTES the machine's memory is the limit.
    Raises LaunchError for what is no positive number.
    """
    seconds = _environment("VIRTUAL_GPU_SECONDS") if patience is None else patience
    if isinstance(seconds, bool) or not isinstance(seconds, int | float | None) or (
        seconds is not None and not seconds > 0
    ):
        raise LaunchError(f"patience={patience!r}; it must be a number of seconds above 0.")
    rounds = _environment("VIRTUAL_GPU_MAX_ROUNDS")
    timed = seconds is not None
    return Limits(
        seconds,
        rounds or (None if timed else ROUNDS),
        lane_rounds or _environment("VIRTUAL_GPU_LANE_ROUNDS"),
        _environment("VIRTUAL_GPU_BYTES") or physical_memory(),
        None if timed else STALLED_SECONDS,
    )


def in_bytes(amount: float) -> str:
    """An amount of memory as text, in the largest unit of which there is one."""
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if amount >= size:
            return f"{amount / size:.1f} {unit}"
    return f"{amount:.0f} bytes"


@functools.cache
def physical_memory() -> int | None:
    """Bytes of this machine; None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _environment(name: str) -> float | None:
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
