"""What the virtual GPU says when a kernel is wrong, or is more than it knows."""

from __future__ import annotations

import os
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Thread:
    """One CUDA thread: its block's coordinates and its own, each as ``(x, y, z)``.

    ``ranks``: how many dimensions the grid and the block have; so many are shown.
    """

    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    ranks: tuple[int, int] = (3, 3)

    def __str__(self) -> str:
        return f"thread {_shown(self.thread, self.ranks[1])} of {self.its_block}"

    @property
    def its_block(self) -> str:
        """The block, as it is shown."""
        return f"block {_shown(self.block, self.ranks[0])}"


def _shown(coordinates: tuple[int, int, int], rank: int) -> str:
    return "(" + ", ".join(str(c) for c in coordinates[:rank]) + ")"


@dataclass(frozen=True)
class Site:
    """A line of a kernel's source: where an access, a barrier or a finding happens.

    ``column`` tells two places of one line apart; sites of one line are equal all the same.
    """

    file: str = field(repr=False)  # a path of this machine
    line: int
    source: str
    column: int = field(default=0, compare=False, repr=False)

    def __str__(self) -> str:
        return f"line {self.line} `{self.source}`"


WARNINGS = frozenset({"wrapped_index", "discarded", "stale_read"})


@dataclass(frozen=True)
class Finding:
    """One flaw of a kernel, named by source line, array element and threads.

    ``kind`` is ``out_of_bounds``, ``race``, ``uninitialised`` or ``barrier``; or, for a warning,
    ``wrapped_index`` (Numba defines it), ``discarded`` (a read of what nobody has set, on which no
    result depends) or ``stale_read`` (a plain read of what other threads update, which only
    decides whether an atomic is tried). ``threads`` holds the thread that was caught and, for a
    race, the other one; ``other_line`` is the other access of a race. ``count`` is the
    number of threads that did the same at once; ``threads_in_all`` is that of different threads
    that did it at this line in the whole launch, as far as it ran. ``index_range`` is the lowest
    and the highest wrong index; where it left the array, ``axis`` is the dimension, and
    ``other_ranges`` holds the same for each other dimension that the line leaves.
    """

    kind: str
    site: Site
    array: str
    index: tuple[int, ...]
    threads: tuple[Thread, ...]
    count: int
    message: str
    other_line: int | None = None
    axis: int | None = None
    index_range: tuple[int, int] | None = None
    threads_in_all: int = 1
    other_ranges: tuple[tuple[int, tuple[int, int]], ...] = ()

    @property
    def line(self) -> int:
        return self.site.line

    @property
    def is_warning(self) -> bool:
        """Whether the kernel may be right nevertheless."""
        return self.kind in WARNINGS

    def __str__(self) -> str:
        return f"{self.kind} at {self.site}: {self.message}{self._extent()}"

    def _extent(self) -> str:
        if self.threads_in_all < 2:
            return ""
        own = [(self.axis, self.index_range)] if self.index_range else []
        ranges = " or ".join(_indices(*entry) for entry in (*own, *self.other_ranges))
        reach = f", with {ranges}" if ranges else ""
        return f" It concerns {self.threads_in_all:,} threads{reach}."


def _indices(axis: int | None, extent: tuple[int, int]) -> str:
    low, high = extent
    indices = f"the index {low}" if low == high else f"indices from {low} to {high}"
    return indices if axis is None else f"{indices} along dimension {axis}"


class VirtualGpuError(Exception):
    """Base of all errors of the virtual GPU; ``finding`` is set where a check made it."""

    def __init__(self, message: str, finding: Finding | None = None):
        super().__init__(message)
        self.finding = finding

    def _render_traceback_(self) -> list[str]:
        """IPython shows this instead of a traceback through the interpreter."""
        return [f"{type(self).__name__}: {self}"]


def without_interpreter(error: BaseException) -> BaseException:
    """The error, or an interrupt, without the interpreter's frames, for what the user has called.

    With VIRTUAL_GPU_TRACEBACK=1 in the environment all frames stay.
    """
    return error if all_frames_wanted() else error.with_traceback(None)


def all_frames_wanted() -> bool:
    """Whether VIRTUAL_GPU_TRACEBACK=1 is in the environment."""
    return os.environ.get("VIRTUAL_GPU_TRACEBACK", "0") != "0"


class OutOfBounds(VirtualGpuError):
    """An index left its array."""


class Race(VirtualGpuError):
    """Two threads touched one element, one of them wrote, and nothing ordered them."""


class Uninitialised(VirtualGpuError):
    """Shared or local memory was read before anything was written there."""


class BarrierError(VirtualGpuError):
    """Some live threads of a block did not reach a barrier that others wait at."""


class KernelRaised(VirtualGpuError):
    """A thread reached a ``raise`` statement, or an ``assert`` that does not hold."""


class Unsupported(VirtualGpuError):
    """The kernel holds a construct that the virtual GPU does not know."""


class LaunchError(VirtualGpuError):
    """A launch that a device would refuse, too."""


class LimitReached(VirtualGpuError):
    """A launch takes more time, rounds or memory than its limits allow, or waits for ever.

    ``waits_for_others``: for threads that have not run yet.
    """

    waits_for_others = False


def too_deep(function: str) -> str:
    """What is said of a function that exhausts Python's own stack."""
    return (
        f"{function}: its expressions or branches are nested, or its calls of itself go, deeper "
        "than the virtual GPU can follow; give parts of it names of their own, or write a loop."
    )


ERROR_OF_KIND = {
    "out_of_bounds": OutOfBounds,
    "race": Race,
    "uninitialised": Uninitialised,
    "barrier": BarrierError,
}
