"""The findings and errors that the virtual GPU reports about a kernel or a launch."""

from __future__ import annotations

import os
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Thread:
    """One CUDA thread, identified by its block and by its position within the block.

    ``block`` and ``thread`` are coordinates ``(x, y, z)``. ``ranks`` holds the number of dimensions
    of the grid and of the block; only these coordinates are printed.
    """

    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    ranks: tuple[int, int] = (3, 3)

    def __str__(self) -> str:
        return f"thread {_shown(self.thread, self.ranks[1])} of {self.its_block}"

    @property
    def its_block(self) -> str:
        """The block as text, such as ``block (0, 1)``."""
        return f"block {_shown(self.block, self.ranks[0])}"


def _shown(coordinates: tuple[int, int, int], rank: int) -> str:
    """Return the first ``rank`` coordinates as text, such as ``(0, 1)``."""
    return "(" + ", ".join(str(c) for c in coordinates[:rank]) + ")"


@dataclass(frozen=True)
class Site:
    """A position in a kernel's source: of an access, a barrier or a finding.

    ``file`` is the path of the file on this machine. ``source`` is the text of the line. ``column``
    distinguishes two operations of one line, but sites of one line compare equal.
    """

    file: str = field(repr=False)  # path on this machine
    line: int
    source: str
    column: int = field(default=0, compare=False, repr=False)

    def __str__(self) -> str:
        return f"line {self.line} `{self.source}`"


WARNINGS = frozenset({
    "wrapped_index", "discarded", "stale_read", "stale_element", "overlap", "overflow", "truncated",
})  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """One flaw of a kernel, with its source line, array element and threads.

    ``kind`` is ``out_of_bounds``, ``race``, ``uninitialised`` or ``barrier``. For a warning it is
    one of ``WARNINGS``:

    - ``wrapped_index``: the computed index is negative, and Numba counts it from the end.
    - ``discarded``: a read of an undefined value on which no result depends.
    - ``stale_read``: the plain read of an element that other threads update, if it only decides
      whether an atomic is tried.
    - ``stale_element``: a read of an element of a shared array that a thread has left from an
      earlier round, while others have filled the array anew; a result depends on it.
    - ``overlap``: a read of dynamic shared memory that was stored through another array of
      the same dtype.
    - ``overflow``: a number does not fit into the integer that it is stored as or cast to.
    - ``truncated``: a number with a fraction is stored in an array of integers.

    ``array`` is the name of the array, or of a variable that is read before it is set, and "" for a
    barrier and a cast. ``index`` holds the indices of the element, the single negative index for
    ``wrapped_index``, or the index that a cast gives; it is empty for a variable and a barrier.

    ``threads`` holds the offending thread and, for a race, the other thread; ``other_line`` is the
    line of a race's other access. For a syncwarp for which lanes do not come, it is the line of the
    branch or loop that they leave, or of the barrier to which they come instead. ``count`` is the
    number of threads that were wrong in the same execution of the line, or for a barrier of a block
    the number of blocks; ``threads_in_all`` is the number of different threads that were wrong at
    this line in the whole launch, as far as it ran. ``index_range`` is the lowest and the highest
    wrong index. It is None unless an index is out of bounds or wrapped, or a number overflows when
    it is cast to an index. For an index out of bounds, ``axis`` is its dimension, and
    ``other_ranges`` holds the axis and the index range of each other dimension that the line
    exceeds. ``site`` is the source line, and ``message`` a sentence on the flaw.
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
        """The number of the source line."""
        return self.site.line

    @property
    def is_warning(self) -> bool:
        """True if this is a warning, so that the kernel may be correct nevertheless."""
        return self.kind in WARNINGS

    def __str__(self) -> str:
        return f"{self.kind} at {self.site}: {self.message}{self._extent()}"

    def _extent(self) -> str:
        """Return a sentence, after a space, on the number of threads and the range of indices.

        The range is left out if the finding has none. Returns "" if the finding concerns a single
        thread.
        """
        if self.threads_in_all < 2:
            return ""
        own = [(self.axis, self.index_range)] if self.index_range else []
        ranges = " or ".join(_indices(*entry) for entry in (*own, *self.other_ranges))
        reach = f", with {ranges}" if ranges else ""
        return f" It concerns {self.threads_in_all:,} threads{reach}."


def _indices(axis: int | None, extent: tuple[int, int]) -> str:
    """Return text such as ``the index 4`` or ``indices from 4 to 7 along dimension 1``.

    ``extent`` is the lowest and the highest index. ``axis`` is their dimension, or None if the
    text names no dimension.
    """
    low, high = extent
    indices = f"the index {low}" if low == high else f"indices from {low} to {high}"
    return indices if axis is None else f"{indices} along dimension {axis}"


class VirtualGpuError(Exception):
    """Base class of all errors of the virtual GPU.

    ``finding`` is the Finding of the check that failed, or None. ``earlier`` holds the flaws that
    a launch with collected findings had before an error that is no finding stopped it.
    """

    earlier: tuple[Finding, ...] = ()

    def __init__(self, message: str, finding: Finding | None = None):
        super().__init__(message)
        self.finding = finding

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows instead of a traceback: just ``Name: message``."""
        return [f"{type(self).__name__}: {self}"]


def without_interpreter(error: BaseException) -> BaseException:
    """Return the same exception after removing its traceback, for the caller to raise.

    The interpreter's frames are thus not shown to the user. With VIRTUAL_GPU_TRACEBACK=1 in the
    environment the traceback is kept.
    """
    return error if all_frames_wanted() else error.with_traceback(None)


def all_frames_wanted() -> bool:
    """Return True if VIRTUAL_GPU_TRACEBACK is in the environment and is not "0"."""
    return os.environ.get("VIRTUAL_GPU_TRACEBACK", "0") != "0"


class OutOfBounds(VirtualGpuError):
    """A thread used an index outside its array."""


class Race(VirtualGpuError):
    """Two threads accessed one element, at least one of them wrote, and nothing ordered them."""


class Uninitialised(VirtualGpuError):
    """A thread read an element that nothing had written, or a variable that was not set."""


class BarrierError(VirtualGpuError):
    """Some threads did not reach a barrier or a warp function at which others wait."""


class KernelRaised(VirtualGpuError):
    """A thread reached a ``raise`` statement or an ``assert`` that fails."""


class Unsupported(VirtualGpuError):
    """The kernel uses a construct that the virtual GPU does not support."""


class LaunchError(VirtualGpuError):
    """A launch, one of its settings or a call on the host is invalid or is not supported.

    A device would refuse most of these launches, too.
    """


class LimitReached(VirtualGpuError):
    """A launch exceeds its limits of time, loop iterations or memory, or waits forever.

    ``waits_for_others`` is True if the launch waits for threads that have not run yet.
    """

    waits_for_others = False


def too_deep(function: str) -> str:
    """Return the message about a function whose expressions or calls are nested too deep.

    ``function`` is its name, with which the message begins.
    """
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
