"""Asynchronous copies to shared memory: their groups, their ends, and who touches their targets."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..checks.clock import Access
from ..checks.report import Flaw
from ..common.errors import Finding, Site
from ..common.lanes import Batch, Mask
from ..memory.memory import Memory


@dataclass
class _Copy:
    """The copy of one element per lane, which is in flight for the lanes in ``pending``.

    ``memory`` is the memory that is written, and ``access`` the start of the copy. These vectors
    have one entry per active lane of the access: ``values`` holds what is written, ``changed`` is
    True if that changes the stored value, ``groups`` is the number of groups that the lane had
    closed before, and ``pending`` is True until the copy has ended. ``wait`` is (source line of the
    last wait that left the copy in flight, number of groups that it left), or None.
    """

    memory: Memory
    access: Access
    values: np.ndarray
    changed: np.ndarray
    groups: np.ndarray
    pending: np.ndarray
    wait: tuple[Site, int] | None = None


class AsyncCopies:
    """The asynchronous copies of one batch that have started and not ended.

    The copies that a thread has started since its previous ``commit`` are a group. A wait ends the
    groups of the threads that wait, except the most recent ones.
    """

    def __init__(self, batch: Batch):
        self._closed = np.zeros(batch.size, np.int64)  # groups that each lane has closed
        self._in_flight: dict[int, _Copy] = {}  # by number, in the order of their starts
        self._started = 0
        self._targets: dict[Memory, np.ndarray] = {}  # the number of the copy to each element

    @property
    def in_flight(self) -> bool:
        """True if a copy has not ended."""
        return bool(self._in_flight)

    @property
    def state(self) -> tuple:
        """A tuple that is the same as before if no copy has started, ended or been committed."""
        return self._started, len(self._in_flight), self._closed.tobytes()

    def start(self, memory: Memory, access: Access, values: np.ndarray) -> None:
        """Start the copy of one value per active lane; the store of ``access`` is checked now."""
        changed = memory.announce(access, values)
        groups = self._closed[access.mask.index]
        self._started += 1
        pending = np.ones(len(groups), bool)
        self._in_flight[self._started] = _Copy(memory, access, values, changed, groups, pending)
        if memory not in self._targets:
            self._targets[memory] = np.zeros(memory.data.size, np.int64)
        self._targets[memory][access.addresses] = self._started

    def commit(self, mask: Mask) -> None:
        """Close the present group of each lane in ``mask``."""
        self._closed[mask.index] += 1

    def wait(self, mask: Mask, most: int, site: Site) -> None:
        """End the copies of the lanes in ``mask``, except those in their ``most`` latest groups.

        A copy that is not committed does not end.
        """
        for number, copy in list(self._in_flight.items()):
            lanes = copy.access.mask.index
            waiting = copy.pending & mask.lanes[lanes]
            ended = waiting & (copy.groups < self._closed[lanes] - most)
            if ended.any():
                copy.pending &= ~ended
                self._end(number, copy, ended, site)
            if copy.pending.any():
                copy.wait = (site, most) if waiting.any() else copy.wait
            else:
                del self._in_flight[number]

    def _end(self, number: int, copy: _Copy, ended: np.ndarray, wait: Site) -> None:
        """Write the values of a copy for the lanes in ``ended``, as a store that happens now.

        ``number`` is the copy's number, and ``ended`` holds one bool per active lane of the copy.
        ``wait`` is the source line of the wait that ends them.
        """
        access, values, changed = copy.access, copy.values, copy.changed
        if not ended.all():
            kept = np.flatnonzero(ended)
            access = _narrowed(access, kept)
            values, changed = values[kept], changed[kept]
        access = replace(access, time=access.clock.tick(access.site))
        access.clock.waits[access.time] = wait
        copy.memory.restamp(access)
        copy.memory.move(access, values, changed)
        targets = self._targets[copy.memory]
        mine = targets[access.addresses] == number
        targets[access.addresses[mine]] = 0

    def check(self, memory: Memory, access: Access) -> None:
        """Report, as races, the active lanes that touch the target of a copy in flight."""
        targets = self._targets.get(memory)
        if targets is None:
            return
        numbers = targets.take(access.addresses)
        touched = numbers != 0
        if touched.any():
            flaw = Flaw(
                "race", access.site, memory.name, access.numbers(touched), of_several_warps=True
            )
            access.clock.report.add(flaw, lambda: self._race(memory, access, numbers))

    def _race(self, memory: Memory, access: Access, numbers: np.ndarray) -> Finding:
        """Return the Finding of the first lane that touches the target of a copy in flight.

        ``numbers`` holds the number of the copy, or 0, per active lane.
        """
        position = int(np.flatnonzero(numbers)[0])
        copy = self._in_flight[int(numbers[position])]
        start, address = copy.access, access.addresses[position]
        source = int(np.flatnonzero(copy.pending & (start.addresses == address))[0])
        thread, other = access.thread(position), start.thread(source)
        element = access.locate(position)
        who = "into which it" if other == thread else f"into which {other}"
        return Finding(
            "race", access.site, memory.name, element, (thread, other),
            int(np.count_nonzero(numbers)),
            f"{thread} {access.verb} {memory.name}{list(element)}, {who} copies since line "
            f"{start.site.line}: {self._missing(copy, source)}.",
            other_line=start.site.line,
        )  # fmt: skip

    def _missing(self, copy: _Copy, position: int) -> str:
        """Return a clause for an error message: why the copy of the lane at ``position`` goes on.

        The reason is a missing commit, a missing wait, or a wait that leaves its group in flight.
        """
        if self._closed[copy.access.mask.index[position]] <= copy.groups[position]:
            return "the copy is not committed, so no wait_copies() waits for it"
        if copy.wait is None:
            return "the copy is committed, and no wait_copies() has waited for it"
        site, most = copy.wait
        groups = f"{most} group{'s' if most != 1 else ''}"
        return f"the wait at line {site.line} leaves {groups} in flight, and the copy is in one"


def _narrowed(access: Access, kept: np.ndarray) -> Access:
    """Return an Access of only the active lanes at the positions ``kept``."""
    lanes = np.zeros(access.mask.lanes.size, bool)
    lanes[access.mask.index[kept]] = True
    return replace(
        access, mask=Mask(lanes), addresses=access.addresses[kept],
        locate=lambda position: access.locate(int(kept[position])),
    )  # fmt: skip
