"""The syncwarps whose mask names lanes that have not come yet.

Such a lane may still return from the kernel. It is a flaw if the lane first comes to another
barrier or warp function, or comes out of the branch or loop that the syncwarp is in. In compiled
code it waits behind the branch for the callers, while the callers wait for it.

Numba's own kernels are left out: its reduction has a syncwarp in a branch, with the mask of all
lanes. Devices run it, and who calls it cannot change it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numba import cuda

from ..checks.report import Flaw, Report
from ..common.errors import Finding, Site
from ..common.lanes import WARP, Batch, Mask, bits_of, by_warp, lanes_of, listed

NUMBA = str(Path(cuda.__file__).parent)
CURE = (
    "Put the call outside of the `if`, or of the loop that these lanes leave earlier, or let the "
    "mask name only the lanes that come."
)


@dataclass(frozen=True, eq=False)
class _Syncwarp:
    """One execution of a syncwarp; each array has the shape (warps, 32).

    ``named`` holds the mask of each lane (int64), ``callers`` is True for the lanes that came, and
    ``awaited`` for the lanes that they wait for.
    """

    site: Site
    named: np.ndarray
    callers: np.ndarray
    awaited: np.ndarray


class OpenSyncwarps:
    """The syncwarps of one batch that wait for lanes; a lane that will not come is reported."""

    def __init__(self, batch: Batch, report: Report):
        self.batch = batch
        self.report = report
        self.waiting: list[_Syncwarp] = []

    def add(self, site: Site, named: np.ndarray, callers: np.ndarray, awaited: np.ndarray) -> None:
        """Add a syncwarp; ``awaited`` are live lanes that callers of their warp name.

        The three arrays have the shape (warps, 32). ``named`` holds int64 masks, the others bools.
        A syncwarp in Numba's own code is ignored.
        """
        if site.file.startswith(NUMBA):
            return
        self.waiting.append(_Syncwarp(site, named, callers, awaited))

    def leave(self, mask: Mask) -> None:
        """Wait no longer for the lanes of ``mask``, which have returned from the kernel."""
        for syncwarp in tuple(self.waiting):
            self._drop(syncwarp, by_warp(mask.lanes))

    def meet(self, mask: Mask, site: Site) -> None:
        """Report the awaited lanes that come to the barrier or warp function at ``site``."""
        for syncwarp in tuple(self.waiting):
            missed = syncwarp.awaited & by_warp(mask.lanes)
            self._miss(syncwarp, missed, site, f"come to {site} instead")

    def go_on(self, before: Mask, after: Mask, site: Site) -> None:
        """Report the awaited lanes that completed the statement at ``site`` without the syncwarp.

        ``before`` holds the lanes that began the statement, and ``after`` those that go on to the
        next one. Only warps whose callers began the statement, too, count: in other warps the
        awaited lanes are still in a branch of their own, and may return in it.
        """
        for syncwarp in tuple(self.waiting):
            together = (syncwarp.callers & by_warp(before.lanes)).any(axis=1, keepdims=True)
            missed = syncwarp.awaited & by_warp(after.lanes) & together
            self._miss(syncwarp, missed, site, f"go past {site} without it")

    def _drop(self, syncwarp: _Syncwarp, lanes: np.ndarray) -> None:
        """Wait no longer for ``lanes``, bools of the shape (warps, 32), at one syncwarp."""
        self.waiting.remove(syncwarp)
        awaited = syncwarp.awaited & ~lanes
        if awaited.any():
            self.waiting.append(replace(syncwarp, awaited=awaited))

    def _miss(self, syncwarp: _Syncwarp, missed: np.ndarray, other: Site, instead: str) -> None:
        """Report the callers that wait for a lane of ``missed``, and wait no longer for these.

        ``instead`` says, as the end of a clause, what these lanes do, and ``other`` is the line of
        which it speaks. Nothing is reported if ``missed`` is False everywhere.
        """
        if not missed.any():
            return
        self._drop(syncwarp, missed)
        bits = bits_of(missed)[:, None].astype(np.int64)
        lanes = np.flatnonzero(syncwarp.callers & ((syncwarp.named & bits) != 0))

        def describe() -> Finding:
            lane = int(lanes[0])
            thread, named = self.batch.thread(lane), int(syncwarp.named.ravel()[lane])
            absent = missed[lane // WARP] & lanes_of(named)
            return Finding(
                "barrier", syncwarp.site, "", (), (thread,), len(lanes),
                f"{thread} waits for the lanes of the mask {named:#010x}, but {listed(absent)} of "
                f"its warp {instead}. {CURE}",
                other_line=other.line,
            )  # fmt: skip

        self.report.add(Flaw("barrier", syncwarp.site, "", self.batch.numbers[lanes]), describe)
