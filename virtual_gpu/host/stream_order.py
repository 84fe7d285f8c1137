"""The order of copies and launches in the streams of a host program."""

from __future__ import annotations

from dataclasses import dataclass, field

DEFAULT = 0  # the key of the legacy default stream, which waits for all others, as they do for it


@dataclass(frozen=True, eq=False)
class Operation:
    """A copy or a launch, with its ``number`` in the order of the calls, counted from 0.

    ``before`` holds the numbers of the operations that end before this one begins.
    """

    number: int
    before: frozenset[int]


@dataclass(eq=False)
class StreamOrder:
    """Records which copies and launches of a program have to end before which others begin.

    copies: pairs of a Transfer and its Operation. ended: the numbers of the operations that have
    surely ended at this point of the program, because the host has waited for them. A stream is one
    of ``cuda.stream()``, which waits for the default stream, or the number of a default stream.
    """

    copies: list[tuple[object, Operation]] = field(default_factory=list)
    ended: frozenset[int] = frozenset()
    _count: int = 0
    _default: frozenset[int] = frozenset()
    _streams: dict[int, frozenset[int]] = field(default_factory=dict)
    _events: dict[object, frozenset[int]] = field(default_factory=dict)
    _alive: list = field(default_factory=list)  # the streams, so that no id is used twice

    def add(self, stream, host_waits: bool) -> Operation:
        """Add an operation to a stream and return it.

        ``host_waits`` is True if the call returns only when the operation has ended.
        """
        operation = Operation(self._count, self._before(stream))
        self._count += 1
        self._put(stream, operation.before | {operation.number})
        if host_waits:
            self.ended |= operation.before | {operation.number}
        return operation

    def record(self, event, stream) -> None:
        """Note the operations so far in a stream, for which a later wait for ``event`` waits."""
        self._events[event] = self._before(stream)

    def wait_for_event(self, event, stream) -> None:
        """Let later operations in a stream wait for the operations before the record of ``event``.

        An event that was never recorded has no effect.
        """
        self._put(stream, self._before(stream) | self._events.get(event, frozenset()))

    def wait_on_host(self, target) -> None:
        """Add the operations for which the host waits to ``ended``.

        ``target`` is a stream, an event, or None for all operations so far. A stream without an
        operation has nothing to wait for, not even for the default stream.
        """
        if target is None:
            self.ended = frozenset(range(self._count))
        elif target in self._events:
            self.ended |= self._events[target]
        elif hasattr(target, "handle"):
            self.ended |= self._in(target)

    def _before(self, stream) -> frozenset[int]:
        """Return the numbers of the operations that end before the next one in a stream begins."""
        key = self._key(stream)
        if key == DEFAULT:
            return frozenset(range(self._count))
        return self._streams.get(key, frozenset()) | self._default | self.ended

    def _in(self, stream) -> frozenset[int]:
        """Return the numbers of the operations that have ended if a stream's last one has."""
        key = self._key(stream)
        return self._before(stream) if key == DEFAULT else self._streams.get(key, frozenset())

    def _put(self, stream, numbers: frozenset[int]) -> None:
        """Set the numbers of the operations that end before the next one in a stream begins."""
        key = self._key(stream)
        if key == DEFAULT:
            self._default = numbers
        else:
            self._streams[key] = numbers

    def _key(self, stream) -> int:
        """Return the number under which a stream is kept.

        It is DEFAULT for the stream 0 and the handle 1, the handle for another stream with one, and
        otherwise the ``id`` of the stream.
        """
        handle = stream if isinstance(stream, int) else stream.handle
        if stream == DEFAULT or handle == 1:
            return DEFAULT
        if handle:
            return handle
        self._alive.append(stream)
        return id(stream)
