"""Run a kernel to explain it: every finding, and what each source line cost."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

import pandas as pd

from .annotate import Listing, annotated_html, annotated_text
from .counters import Counters, LineCount, WarpAccess
from .errors import Finding, LaunchError, Site, VirtualGpuError
from .hostarrays import DeviceArray
from .launch import Observer, launch, make_geometry
from .report import Report
from .source import read_source


@dataclass(frozen=True)
class Trace:
    """What the virtual GPU saw of one launch. In a notebook it shows the annotated source."""

    kernel: str
    blocks: tuple[int, int]  # how many blocks were run, and how many the grid has
    source: tuple[tuple[int, str], ...]  # the kernel's lines with their numbers in the file
    findings: tuple[Finding, ...]
    counts: dict[Site, LineCount]
    samples: tuple[tuple[Site, WarpAccess], ...]
    footprint_bytes: int  # of global memory, however often they were loaded or stored

    @property
    def title(self) -> str:
        """The kernel's name, and whether all blocks were run."""
        run, grid = self.blocks
        sampled = "" if run == grid else f": a sample of {run} of {grid} blocks"
        return f"{self.kernel} on the virtual GPU{sampled}"

    @property
    def lines(self) -> pd.DataFrame:
        """One row per source line that touched memory, computed or synchronised.

        Columns: ``line``, ``source``, the counts of counters.LineCount, and ``lanes_per_warp``
        (active lanes per memory instruction, at most 32).
        """
        rows = [
            {"line": site.line, "source": site.source, **asdict(count)}
            for site, count in sorted(self.counts.items(), key=lambda item: item[0].line)
        ]
        frame = pd.DataFrame(rows, columns=["line", "source", *asdict(LineCount())])
        frame["lanes_per_warp"] = frame["lanes"] / frame["warps"].where(frame["warps"] > 0)
        return frame

    @property
    def totals(self) -> pd.Series:
        """The counts summed over all lines."""
        return self.lines.drop(columns=["line", "source", "lanes_per_warp"]).sum()

    def warp_access(self, array: str, kind: str = "load") -> WarpAccess:
        """The first load or store of this array by a warp, to be drawn.

        Raises VirtualGpuError with the accesses that there are.
        """
        for _, access in self.samples:
            if (access.array, access.kind) == (array, kind):
                return access
        known = ", ".join(sorted({f"{a.kind} of {a.array}" for _, a in self.samples})) or "none"
        raise VirtualGpuError(f"{self.kernel} made no {kind} of {array}; it made: {known}.")

    def _listing(self) -> Listing:
        return Listing(self.title, self.source, self.counts, self.findings)

    def _repr_html_(self) -> str:
        return annotated_html(self._listing())

    def __str__(self) -> str:
        return annotated_text(self._listing())


@contextlib.contextmanager
def _copied_to_the_host(arguments: tuple) -> Iterator[tuple]:
    """The arguments with host arrays for those on a real device, to which they are copied back."""
    real = {at: array for at, array in enumerate(arguments) if _on_a_real_device(array)}
    here = [real[at].copy_to_host() if at in real else a for at, a in enumerate(arguments)]
    yield tuple(here)
    for at, array in real.items():
        array.copy_to_device(here[at])


def _on_a_real_device(argument) -> bool:
    return hasattr(argument, "copy_to_host") and not isinstance(argument, DeviceArray)


def trace(
    kernel: Callable, grid, block, *arguments, shared_bytes: int = 0, blocks: int | None = None
) -> Trace:
    """Run ``kernel`` (a ``@cuda.jit`` function or a plain one) on the virtual GPU and explain it.

    ``grid`` and ``block`` are ints or tuples; arguments are numbers and arrays: host arrays, the
    virtual GPU's, and Numba's on a real device. Arrays are written as by a launch. ``blocks``: run
    only so many blocks, spread over the grid; counts are theirs alone, and a race with another
    block stays unseen.
    Findings are collected, not raised; Unsupported and LaunchError are raised.
    """
    function, geometry = getattr(kernel, "py_func", kernel), make_geometry(grid, block)
    if blocks is not None and blocks < 1:
        raise LaunchError(f"blocks={blocks}; a sample needs at least 1 block.")
    report, counters = Report(collect=True), Counters()
    with _copied_to_the_host(arguments) as here:
        launch(function, geometry, here, shared_bytes, Observer(report, counters, blocks))
    return Trace(
        function.__name__,
        (min(blocks or geometry.blocks, geometry.blocks), geometry.blocks),
        read_source(function).lines,
        report.findings,
        dict(counters.lines),
        tuple((site, access) for (site, _, _), access in counters.samples.items()),
        counters.footprint_bytes,
    )
