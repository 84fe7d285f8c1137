"""The clock of a launch: its limits, and its progress line."""

from __future__ import annotations

import time

from ..common.limits import Limits
from ..common.progress import ProgressLine


class Watch:
    """Watches one launch of ``total`` batches. It is asked at each round of a loop and after each
    batch, so that no signal is needed, and a launch can be stopped in every thread."""

    def __init__(self, name: str, limits: Limits, total: int):
        self.limits = limits
        self._line = ProgressLine(name, total)
        self._total = total
        self._start = time.monotonic()
        self._done = 0
        self._lane_rounds = 0

    @property
    def seconds(self) -> float:
        """Since the launch began."""
        return time.monotonic() - self._start

    def excess(self, lanes: int) -> str:
        """So many lanes begin a round: what limit is passed, as the end of a sentence; "" if none.
        """
        self._lane_rounds += lanes
        most = self.limits.lane_rounds
        if most is not None and self._lane_rounds > most:
            return (
                f"the launch has run more than {most:.0f} rounds of loops, counted for each "
                "thread; make it smaller, or set lane_rounds= of trace() or "
                "VIRTUAL_GPU_LANE_ROUNDS higher."
            )
        return self._late()

    def batch_done(self) -> str:
        """One batch more is over; what limit is passed, as in ``excess``."""
        self._done += 1
        return self._late()

    def _late(self) -> str:
        seconds, most = self.seconds, self.limits.seconds
        if seconds > self._line.due and self._done < self._total:
            self._line.show(self._done, seconds)
        if most is None or seconds <= most:
            return ""
        return (
            f"the launch has run for more than {most:g} s; make it smaller, sample it with "
            "trace(..., blocks=), or set patience= of trace() or VIRTUAL_GPU_SECONDS higher."
        )

    def close(self) -> None:
        """The launch is over, or has failed."""
        self._line.erase()
