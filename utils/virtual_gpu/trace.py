"""Run a kernel to explain it: every finding, and what each source line cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

import pandas as pd

from .counters import Counters, LineCount
from .errors import Finding, Site
from .launch import launch, make_geometry
from .report import Report


@dataclass(frozen=True)
class Trace:
    """What the virtual GPU saw of one launch."""

    kernel: str
    findings: tuple[Finding, ...]
    counts: dict[Site, LineCount]

    @property
    def lines(self) -> pd.DataFrame:
        """One row per source line that touched memory, computed or synchronised.

        Columns: ``line``, ``source``, the counts of counters.LineCount, and ``lanes_per_warp``
        (active lanes per instruction, at most 32).
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


def trace(kernel: Callable, grid, block, *arguments, shared_bytes: int = 0) -> Trace:
    """Run ``kernel`` (a ``@cuda.jit`` function or a plain one) on the virtual GPU and explain it.

    ``grid`` and ``block`` are ints or tuples; arguments are host arrays, the virtual GPU's device
    arrays and numbers. Arrays are written as by a launch. Findings are collected, not raised;
    Unsupported and LaunchError are raised.
    """
    function = getattr(kernel, "py_func", kernel)
    report, counters = Report(collect=True), Counters()
    launch(function, make_geometry(grid, block), arguments, shared_bytes, report, counters)
    return Trace(function.__name__, report.findings, dict(counters.lines))
