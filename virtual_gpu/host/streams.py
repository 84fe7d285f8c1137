"""Streams and events. A launch is finished when it returns, so streams have nothing to order."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

from ..common.errors import LaunchError, VirtualGpuError
from .transfers import note_event_wait, note_record, note_wait

DEFAULT_STREAMS = (0, 1, 2)  # the default, the legacy default and the per-thread default stream


@dataclass(frozen=True)
class VirtualStream:
    """A stream; ``handle`` is the number of a stream from another library, or 0.

    ``external`` is True for a stream of another library. The handles 1 and 2 are Numba's legacy and
    per-thread default streams.
    """

    handle: int = 0
    external: bool = False

    def __int__(self) -> int:
        return self.handle

    def synchronize(self) -> None:
        """Log that the program waits, and return at once, because no work is pending."""
        note_wait(self)

    @contextlib.contextmanager
    def auto_synchronize(self):
        """Return a context manager that yields the stream and logs a wait at the end.

        If the context raises, no wait is logged.
        """
        yield self
        note_wait(self)

    def add_callback(self, callback: Callable, arg=None) -> None:
        """Call ``callback(stream, 0, arg)`` at once; as in Numba, its errors become warnings."""
        try:
            callback(self, 0, arg)
        except Exception as error:
            warnings.warn(f"Exception in stream callback: {error}", stacklevel=2)

    def async_done(self):
        """Return an asyncio.Future that is already done; its result is this stream."""
        import asyncio

        future = asyncio.get_running_loop().create_future()
        future.set_result(self)
        return future


def check_stream(stream) -> None:
    """Raise LaunchError unless ``stream`` is a VirtualStream or the number of a default stream.

    These numbers are 0, 1 and 2. The usual mistake is to pass the number of bytes of shared memory
    here.
    """
    is_number = isinstance(stream, int) and not isinstance(stream, bool)
    valid = stream in DEFAULT_STREAMS if is_number else isinstance(stream, VirtualStream)
    if not valid:
        raise LaunchError(
            f"The stream of a launch is {stream!r}; the third part of kernel[grid, block, stream, "
            "shared_bytes] must be 0 or a stream of cuda.stream()."
        )


class VirtualEvent:
    """An event that records the time of the host's clock, which says nothing about a GPU.

    ``timing`` has no effect.
    """

    def __init__(self, timing: bool = True):
        self._seconds: float | None = None

    def record(self, stream=0) -> None:
        """Store the present time of the host's clock, and log the event in its stream."""
        self._seconds = time.perf_counter()
        note_record(self, stream)

    def synchronize(self) -> None:
        """Log that the program waits, and return at once, because no work is pending."""
        note_wait(self)

    def wait(self, stream=0) -> None:
        """Log that the stream waits, and return at once, because no work is pending."""
        note_event_wait(self, stream)

    def query(self) -> bool:
        """Return True, because no work is pending."""
        return True

    def elapsed_time(self, end: VirtualEvent) -> float:
        """Return the milliseconds of the host's clock from this event to ``end``.

        Raises VirtualGpuError unless both events were recorded.
        """
        if self._seconds is None or end._seconds is None:
            raise VirtualGpuError("An event was not recorded; call record() on both events first.")
        return 1e3 * (end._seconds - self._seconds)
