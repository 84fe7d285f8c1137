"""Detects ``while`` loops that never end.

The lanes of a batch advance together, and nothing else runs at the same time. So a loop never ends
if an iteration changes no variable, no memory and not the set of lanes that are in the loop. The
variables and arrays that decide when the loop ends suffice.
"""

from __future__ import annotations

import ast

import numpy as np

from ..common.errors import LimitReached, Site
from ..common.lanes import Mask
from ..common.source import Source
from ..memory.memory import ArrayView, LocalArray, LocalPart
from .frame import Frame
from .loop_exits import deciding_names, stored_names

FIRST_DECISION = 16  # iterations before the values that decide are compared; the number doubles
FIRST_SNAPSHOT = 256  # iterations before the first snapshot; the number doubles for the next one
GAP_SECONDS, GAP_ITERATIONS = 3.0, 64  # between two looks at how far the end of a loop is
MOST_DECIDING_BYTES = 1 << 24  # more memory than this is not compared so often
MOST_BYTES = 1 << 28  # more memory than this is not compared


class EndlessLoopCheck:
    """Detects that one execution of a ``while`` loop will never end.

    ``iteration`` must be called at the start of each iteration. In the iterations 256, 512, 1024
    and so on it takes a snapshot of the variables and the memory, which it compares with the state
    one iteration later.
    """

    def __init__(self, source: Source, node: ast.While):
        self._source = source
        self._node = node
        self._iterations = 0
        self._next_snapshot = FIRST_SNAPSHOT
        self._variables: object = None  # of the last snapshot, until they have been compared
        self._memory: list[bytes] | None = None  # of the last snapshot
        self._lanes = 0
        self._since: float | None = None  # when a thread last left the loop, or memory changed
        self._next_decision = FIRST_DECISION
        self._decision: object = None  # the values that decide, in the iteration before
        self._gaps: tuple[float, np.ndarray] | None = None  # seconds, and gaps to the end
        self._gaps_since = 0  # iterations since then
        self._without_progress = 0  # looks at the gaps at which no thread had come nearer

    def iteration(self, frame: Frame, active: Mask, starting: Mask | None) -> None:
        """Count an iteration; raise LimitReached if the loop never ends or exceeds a limit.

        ``active`` holds the lanes that are in the loop. ``starting`` holds those of them for which
        the first copy of the condition decides, or None.
        """
        run = frame.run
        run.check_limits(self._source, self._node, active)
        self._iterations += 1
        self._check_decision(frame, active, starting)
        self._check_gap(frame, active)
        if self._variables is not None:
            self._compare(frame, active, starting)
        elif self._iterations == self._next_snapshot:
            self._take_snapshot(frame, active, starting)
        elif self._since is not None:
            self._check_stalled(frame, active)
        most = run.watch.limits.rounds
        if most is not None and self._iterations > most:
            raise self._error(
                f"more than {most:.0f} rounds of this loop; does the loop end for every thread? If "
                "it does, set VIRTUAL_GPU_MAX_ROUNDS or patience= of trace() higher."
            )

    def _take_snapshot(self, frame: Frame, active: Mask, starting: Mask | None) -> None:
        """Save the variables and the memory, which the next iteration must change.

        If the previous snapshot had other memory contents or another number of lanes, restart the
        time that ``_check_stalled`` measures. If the memory is too large to compare, save nothing.
        """
        self._next_snapshot *= 2
        memory = _memory(frame)
        if memory is None:
            self._since = self._memory = None
            return
        unchanged = self._memory == memory and self._lanes == active.count
        if not unchanged or self._since is None:
            self._since = frame.run.watch.seconds
        self._memory, self._lanes = memory, active.count
        self._variables = _variables(frame, active, starting)

    def _compare(self, frame: Frame, active: Mask, starting: Mask | None) -> None:
        """Raise LimitReached if nothing has changed in the iteration after the snapshot.

        Otherwise drop the saved variables, so that the next call waits for another snapshot.
        """
        before, self._variables = self._variables, None
        if before == _variables(frame, active, starting) and self._memory == _memory(frame):
            error = self._error(self._explanation(frame, active))
            error.waits_for_others = frame.run.live.count > active.count
            raise error

    def _check_decision(self, frame: Frame, active: Mask, starting: Mask | None) -> None:
        """Raise LimitReached if an iteration has changed nothing that decides when the loop ends.

        The names of ``deciding_names`` decide. Their values in two consecutive iterations are
        compared after 16, 32, 64 iterations and so on. A loop that stores to no other name is not
        examined, because ``_compare`` examines it.
        """
        if stored_names(self._node) <= deciding_names(self._node):
            return
        if self._decision is not None:
            before, self._decision = self._decision, None
            if before == self._deciding(frame, active, starting):
                raise self._error(self._unchanged(frame, active))
        elif self._iterations == self._next_decision:
            self._next_decision *= 2
            self._decision = self._deciding(frame, active, starting)

    def _deciding(self, frame: Frame, active: Mask, starting: Mask | None) -> object:
        """Return the values that decide when the loop ends, or an object that equals no other.

        The latter is the case if another block or thread may change one of them, or if they are
        too large to compare.
        """
        run, names = frame.run, deciding_names(self._node)
        values = [v for n in sorted(names) for v, _ in frame.variables.get(n, ())]
        arrays = [v for v in values if isinstance(v, ArrayView)]
        others = [v for n in stored_names(self._node) - names
                  for v, _ in frame.variables.get(n, ()) if isinstance(v, ArrayView)]  # fmt: skip
        data = {id(v.memory): v.memory.data for v in arrays}
        shared = any(id(v.memory) in data for v in others)
        unknown = any(hasattr(self._source.names.get(n), "copy_to_host") for n in names)
        alone = run.live.count == active.count
        if shared or unknown or (arrays and not alone):
            return object()
        if sum(array.nbytes for array in data.values()) > MOST_DECIDING_BYTES:
            return object()
        state = _variables(frame, active, starting, names)
        return state, [array.tobytes() for array in data.values()]

    def _unchanged(self, frame: Frame, active: Mask) -> str:
        """Return an error text with the number of threads that stay in the loop, and the reason.

        The reason is that an iteration changes none of the variables in the condition, which are
        named, or, without such variables, that no thread comes to a ``break`` or ``return``.
        """
        tested = {n.id for n in ast.walk(self._node.test) if isinstance(n, ast.Name)}
        names = " and ".join(sorted(tested & set(frame.variables)))
        stay = "1 thread stays" if active.count == 1 else f"{active.count} threads stay"
        if not names:
            return f"{stay} in this loop for ever, because no thread comes to a break or return."
        return (
            f"{stay} in this loop for ever, because an iteration changes nothing that its "
            f"condition needs: {names}."
        )

    def _check_gap(self, frame: Frame, active: Mask) -> None:
        """Raise LimitReached if no thread has come nearer to the end of the loop for some time.

        How far each thread is from the end is measured by ``_gaps``, at least GAP_SECONDS and
        GAP_ITERATIONS after the last measurement. The error is raised if no gap has become smaller
        in two measurements in a row. A loop whose gaps are unknown is not examined, nor is any loop
        if the run has no limit ``stalled_seconds``.
        """
        seconds, limits = frame.run.watch.seconds, frame.run.watch.limits
        self._gaps_since += 1
        early = self._gaps is not None and (
            seconds - self._gaps[0] < GAP_SECONDS or self._gaps_since < GAP_ITERATIONS
        )
        if limits.stalled_seconds is None or early:
            return
        gaps = _gaps(self._node, frame, active)
        if gaps is None:
            return
        before, self._gaps, self._gaps_since = self._gaps, (seconds, gaps), 0
        if before is None or len(before[1]) != len(gaps) or (gaps < before[1]).any():
            self._without_progress = 0
            return
        self._without_progress += 1
        if self._without_progress == 2:
            raise self._error(
                f"for {2 * GAP_SECONDS:.0f} s no thread has come nearer to the end of this loop; "
                "does the loop end for every thread? If it does, set VIRTUAL_GPU_SECONDS or "
                "patience= of trace() to the seconds that the launch may take."
            )

    def _explanation(self, frame: Frame, active: Mask) -> str:
        """Return an error text: how many threads wait for ever, why, and how to cure it."""
        batch = frame.run.batch
        last = batch.first + batch.blocks == batch.geometry.blocks
        alone = frame.run.live.count == active.count
        if alone and not last:
            return (
                f"{_counted(active.count)} for ever, because an iteration of this loop changes "
                "nothing, earlier threads have ended and later blocks run only after them; is a "
                "lock released, or a flag set, on every path?"
            )
        if alone:
            return (
                f"{_counted(active.count)} for ever, because an iteration of this loop changes "
                "nothing and no other thread is left to end it; does the loop end for every thread?"
            )
        return (
            f"{_counted(active.count)} in this loop, which changes nothing, for threads that the "
            "virtual GPU runs only after it; let threads meet at a barrier, set what they wait for "
            "before the loop, or release a lock in the round that takes it."
        )

    def _check_stalled(self, frame: Frame, active: Mask) -> None:
        """Raise LimitReached if nothing has happened for more seconds than the limit allows.

        That is, no thread has left the loop and no memory has changed. If one has, restart the time
        with the next snapshot. Without a limit do nothing.
        """
        watch = frame.run.watch
        most = watch.limits.stalled_seconds
        if most is None or watch.seconds - self._since <= most:
            return
        if active.count != self._lanes or _memory(frame) != self._memory:
            self._since = None
            return
        raise self._error(
            f"for {most:.0f} s no thread has left this loop and no memory has changed; does the "
            "loop end for every thread? If it does, set VIRTUAL_GPU_SECONDS or patience= of "
            "trace() to the seconds that the launch may take."
        )

    def _error(self, what: str) -> LimitReached:
        """Return a LimitReached error with the function, the loop's line and ``what``."""
        site: Site = self._source.site(self._node)
        return LimitReached(f"{self._source.name}, {site}: {what}")


def _counted(threads: int) -> str:
    """Return text such as ``1 thread waits`` or ``3 threads wait``."""
    return "1 thread waits" if threads == 1 else f"{threads} threads wait"


def _memory(frame: Frame) -> list[bytes] | None:
    """Return a list of the bytes of each memory of the run, in their order.

    Returns None if they are more than MOST_BYTES together, too many to compare.
    """
    memories = frame.run.memories
    if sum(memory.data.nbytes for memory in memories) > MOST_BYTES:
        return None
    return [memory.data.tobytes() for memory in memories]


def _gaps(loop: ast.While, frame: Frame, active: Mask) -> np.ndarray | None:
    """Return how far each active lane is from the end of a loop, or None if that is not known.

    The gap is the difference between the two numbers that the condition compares, as float64. It is
    known if the condition compares a variable that the loop changes with a literal number or with a
    variable that the loop does not change, by ``<``, ``<=``, ``>``, ``>=`` or ``!=``. A lane leaves
    the loop when its gap falls to 0 or, for ``<=`` and ``>=``, below 0.
    """
    test = loop.test
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    nodes = test.left, test.comparators[0]
    changed = [n for n in nodes if isinstance(n, ast.Name) and n.id in stored_names(loop)]
    sides = [_number(node, frame, active) for node in nodes]
    if len(changed) != 1 or any(side is None for side in sides):
        return None
    gap = sides[1].astype(np.float64) - sides[0]
    if isinstance(test.ops[0], ast.Gt | ast.GtE):
        return -gap
    if isinstance(test.ops[0], ast.NotEq):
        return np.abs(gap)
    return gap if isinstance(test.ops[0], ast.Lt | ast.LtE) else None


def _number(node: ast.expr, frame: Frame, active: Mask) -> np.ndarray | None:
    """Return the real number that a name or a constant has in each active lane.

    Returns None for any other expression, and for a variable without one real number per lane.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return np.full(active.count, node.value)
    parts = frame.variables.get(node.id, ()) if isinstance(node, ast.Name) else ()
    if len(parts) != 1 or not isinstance(parts[0][0], np.ndarray | np.generic):
        return None
    value = active.entries(parts[0][0])
    return value if value.dtype.kind in "iuf" else None


def _variables(
    frame: Frame, active: Mask, starting: Mask | None, names: frozenset[str] | None = None
) -> tuple:
    """Return all state except memory that decides how a loop continues, as a tuple.

    With ``names``, only variables with these names are included.

    Two such tuples are equal if neither the variables, nor the sets of active, starting and live
    lanes, nor the asynchronous copies in flight have changed.
    """
    run = frame.run
    values = {
        name: [(_frozen(value), owners.lanes.tobytes()) for value, owners in parts]
        for name, parts in frame.variables.items()
        if names is None or name in names
    }
    first = None if starting is None else starting.lanes.tobytes()
    return values, active.lanes.tobytes(), first, run.live.lanes.tobytes(), run.copies.state


def _frozen(value) -> object:
    """Return an object that is equal for values with the same content.

    A value of an unknown kind gives an object that is equal to nothing else.
    """
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, tuple):
        return tuple(map(_frozen, value))
    if isinstance(value, ArrayView):
        return id(value.memory), value.shape, value.strides, _frozen(np.asarray(value.offset))
    if isinstance(value, LocalPart):
        value = value.base
    if isinstance(value, LocalArray):
        return [None if row is None else row.tobytes() for row in value.rows]
    if value is None or isinstance(value, int | str) or callable(value):
        return value
    return object()
