"""One launch of one kernel, to be profiled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class CountedLaunch:
    """A kernel and its launch. ``arguments()`` returns host arrays and numbers."""

    name: str
    kernel: Callable
    grid: int | tuple[int, ...]
    block: int | tuple[int, ...]
    arguments: Callable[[], tuple]
    shared_bytes: int = 0
