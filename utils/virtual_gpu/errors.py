"""What the virtual GPU says when a kernel is wrong, or is more than it knows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Thread:
    """One CUDA thread: its block's coordinates and its own, each as ``(x, y, z)``.

    ``ranks``: how many dimensions the grid and the block have; so many are shown.
    """

    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    ranks: tuple[int, int] = (3, 3)

    def __str__(self) -> str:
        of_block, of_thread = self.ranks
        return f"thread {_shown(self.thread, of_thread)} of block {_shown(self.block, of_block)}"


def _shown(coordinates: tuple[int, int, int], rank: int) -> str:
    return "(" + ", ".join(str(c) for c in coordinates[:rank]) + ")"


@dataclass(frozen=True)
class Site:
    """A line of a kernel's source: where an access, a barrier or a finding happens."""

    file: str
    line: int
    source: str

    def __str__(self) -> str:
        return f"line {self.line} `{self.source}`"


@dataclass(frozen=True)
class Finding:
    """One flaw of a kernel, named by source line, array element and threads.

    ``kind`` is ``out_of_bounds``, ``race``, ``uninitialised``, ``barrier`` or ``wrapped_index``
    (the last is a warning: Numba defines it). ``threads`` holds the thread that was caught and,
    for a race, the other one; ``other_line`` is the other access of a race. ``count`` is the
    number of threads that did the same at this line.
    """

    kind: str
    site: Site
    array: str
    index: tuple[int, ...]
    threads: tuple[Thread, ...]
    count: int
    message: str
    other_line: int | None = None

    @property
    def line(self) -> int:
        return self.site.line

    def __str__(self) -> str:
        return f"{self.kind} at {self.site}: {self.message}"


class VirtualGpuError(Exception):
    """Base of all errors of the virtual GPU; ``finding`` is set where a check made it."""

    def __init__(self, message: str, finding: Finding | None = None):
        super().__init__(message)
        self.finding = finding

    def _render_traceback_(self) -> list[str]:
        """IPython shows this instead of a traceback through the interpreter."""
        return [f"{type(self).__name__}: {self}"]


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


ERROR_OF_KIND = {
    "out_of_bounds": OutOfBounds,
    "race": Race,
    "uninitialised": Uninitialised,
    "barrier": BarrierError,
}
