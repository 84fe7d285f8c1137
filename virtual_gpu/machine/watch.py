"""The limits and the progress line of a running launch."""

from __future__ import annotations

import time

from ..common.limits import LaunchLimits
from ..common.progress import ProgressLine


class Watch:
    """Watches the limits of one launch of ``total`` batches, and shows its progress.

    ``name`` is the kernel's, which the progress line shows.

    Its methods are called in each loop iteration and after each batch. It needs no signal, so a
    launch can be stopped in every thread.
    """

    def __init__(self, name: str, limits: LaunchLimits, total: int):
        self.limits = limits
        self._line = ProgressLine(name, total)
        self._total = total
        self._start = time.monotonic()
        self._done = 0
        self._lane_rounds = 0

    @property
    def seconds(self) -> float:
        """Seconds since the launch began."""
        return time.monotonic() - self._start

    def excess(self, lanes: int) -> str:
        """Count a loop iteration of ``lanes`` lanes, and return a message if a limit is exceeded.

        Only the limits ``lane_rounds`` and ``seconds`` are checked. The message is the end of a
        sentence, "" if no limit is exceeded. The progress line is redrawn when it is due.
        """
        self._lane_rounds += lanes
        limit = self.limits.lane_rounds
        if limit is not None and self._lane_rounds > limit:
            return (
                f"the launch has run more than {limit:.0f} rounds of loops, counted for each "
                "thread; make it smaller, or set lane_rounds= of trace() or "
                "VIRTUAL_GPU_LANE_ROUNDS higher."
            )
        return self._late()

    def batch_done(self) -> str:
        """Count one more finished batch, and return a message if the time limit is exceeded.

        The message is "" if the limit is not exceeded.
        """
        self._done += 1
        return self._late()

    def _late(self) -> str:
        """Redraw the progress line if it is due; return a message if the launch is too late.

        The message is "" if the time limit is not exceeded.
        """
        seconds, limit = self.seconds, self.limits.seconds
        if seconds > self._line.due and self._done < self._total:
            self._line.show(self._done, seconds)
        if limit is None or seconds <= limit:
            return ""
        return (
            f"the launch has run for more than {limit:g} s; make it smaller, sample it with "
            "trace(..., blocks=), or set patience= of trace() or VIRTUAL_GPU_SECONDS higher."
        )

    def close(self) -> None:
        """Erase the progress line, because the launch is over or has failed."""
        self._line.erase()
