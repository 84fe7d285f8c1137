"""Runs a loop or a device function for few lanes, one lane after another, in plain Python code.

lane_code.py generates the code. It is an attempt: if a lane meets what may be a flaw, or what
needs the order of all lanes, all that the lanes have stored is undone, and the closures of
statements.py, which work on vectors of lanes, do the same work again. So findings, counts and
results are those of the closures.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..common.lanes import Mask, union
from ..machine.lane_accesses import LaneLog
from ..numbers.plain_numbers import GiveUp, NoText, Text
from .frame import Frame, LoopLanes
from .lane_code import LaneCode, function_code
from .lane_inputs import Inputs, by_type, is_unset, joined, write_back
from .lane_program import accessors, compiled, late_of
from .lane_values import Output, parts_of

MOST_LANES = 96  # for more, vectors of lanes are faster
MOST_LANES_OF_A_SHORT_CALL = 16  # of a function without a loop
MOST_CODES = 8  # of one loop or function, for arguments of other types
FEW_ITERATIONS = 16  # a loop without another loop in it must run as often to be worth its code
CHUNK_SECONDS = 0.05
STRICT = False  # True in tests: an unexpected error of the generated code is raised


@dataclass(frozen=True)
class _Run:
    """An object with ``run``, which closures of coordinates take instead of a Frame."""

    run: object


@dataclass
class _Code:
    """The generated code of a loop or function for inputs of certain kinds.

    ``make`` is the function that ``compiled`` returns. ``results`` maps a name to the value of the
    code that it returns for it. ``inputs`` are the closures of the code's inputs.
    """

    make: Callable
    output: Output
    results: dict[str, object]  # the text of each value that it returns
    inputs: list[Callable]


class FewLanes:
    """A loop or a device function that few lanes may execute one after another.

    ``node`` is the loop, or None for a call of a device function. ``stores_by_data`` are the stores
    of the function whose lanes the content of an array decides.
    """

    def __init__(self, expressions, stores_by_data: frozenset, node: ast.AST | None = None):
        self._expressions = expressions
        self._stores_by_data = stores_by_data
        self._node = node
        self._codes: dict[tuple, _Code | None] = {}
        self._alive: list = []  # objects whose ids are in the keys
        self._iterations = 0
        self._stores = False  # True if the code stores to memory that other threads can see
        if node is not None:
            self._names()

    def _names(self) -> None:
        """Set the attributes with the names of the variables that the loop reads and sets.

        They are ``_read``, ``_set`` and ``_read_elsewhere``, for those read outside of the loop.
        ``_is_nest`` is True if there is a loop or a call in the loop.
        """
        inside = list(ast.walk(self._node))
        own = set(map(id, inside))
        outside = [n for n in ast.walk(self._expressions.source.tree) if id(n) not in own]
        self._read = sorted(_names_read(inside))
        self._read_elsewhere = _names_read(outside)
        names = [n for n in inside if isinstance(n, ast.Name)]
        self._set = sorted({n.id for n in names if not isinstance(n.ctx, ast.Load)})
        body = [n for statement in self._node.body for n in ast.walk(statement)]
        self._is_nest = any(isinstance(n, ast.For | ast.While | ast.Call) for n in body)

    def may_run(self, run, types, mask: Mask) -> bool:
        """Return True if the lanes of ``mask`` may run one by one, as far as is known before.

        Returns False for more than MOST_LANES lanes; for more than one lane if the code stores or
        the run has counters; after MOST_CODES codes or two attempts that failed in this run; if
        lanes wait at a ``syncwarp`` or copies are in flight; if the run has a recorder, a Change or
        a limit ``lane_rounds``; and if ``types`` holds a refusal.
        """
        counters = run.counters
        if mask.count > MOST_LANES or len(self._codes) > MOST_CODES:
            return False
        if mask.count > 1 and self._stores:
            return False
        if counters is not None and (mask.count > 1 or counters.recorder is not None):
            return False
        if run.syncwarps.waiting or run.copies.in_flight or run.change is not None:
            return False
        if run.watch.limits.lane_rounds is not None or types.refusal:
            return False
        return run.abandoned.get(self, 0) < 2

    # --- loops -------------------------------------------------------------------------------

    def run_range(
        self, frame: Frame, mask: Mask, loop: LoopLanes, bounds: tuple
    ) -> tuple[int, Mask | None]:
        """Execute the first iterations of a ``for`` loop over a range for few lanes.

        Returns (number of executed iterations, lanes that go on), or (0, ``mask``) if nothing was
        executed. The lanes are None if the loop has ended for all. ``bounds`` are start, stop and
        step.
        """
        if not self.may_run(frame.run, frame.types, mask):
            return 0, mask
        columns = [mask.entries(b).tolist() for b in bounds]
        if not all(columns[2]):
            return 0, mask
        ranges = [range(*one) for one in zip(*columns, strict=True)]
        longest = max(map(len, ranges))
        self._iterations += longest
        if not self._is_nest and self._iterations < FEW_ITERATIONS:
            return 0, mask
        done, size, active = 0, 1024, mask
        lanes = dict(zip(mask.index.tolist(), ranges, strict=True))
        while active is not None and done < longest:
            if frame.run.watch.excess(0):
                return done, active
            parts = [lanes[lane][done : done + size] for lane in active.index.tolist()]
            start = time.perf_counter()
            heads = [[getattr(p, end) for p in parts] for end in ("start", "stop", "step")]
            states = self._run_loop(frame, active, heads, bounds)
            if states is None:
                return done, active
            if time.perf_counter() - start < CHUNK_SECONDS:
                size *= 4
            done += len(max(parts, key=len))
            active = self._left(active, loop, states, [done >= len(lanes[lane])
                                for lane in active.index.tolist()])  # fmt: skip
        return done, active

    def run_while(self, frame: Frame, mask: Mask, loop: LoopLanes) -> bool:
        """Execute a ``while`` loop to its end for few lanes.

        Returns True, or False if nothing was executed.
        """
        if self._node in frame.types.split or not self.may_run(frame.run, frame.types, mask):
            return False
        if frame.run.watch.excess(0):
            return False
        states = self._run_loop(frame, mask, [], ())
        if states is None:
            return False
        self._left(mask, loop, states, [True] * mask.count)
        return True

    @staticmethod
    def _left(active: Mask, loop: LoopLanes, states: list, ended: list[bool]) -> Mask | None:
        """Record in ``loop`` the lanes that have left it; return the lanes that are still in it.

        Both are lanes of ``active``. ``states`` is 1 per lane that has executed ``break``.
        ``ended`` is True per lane without a further iteration. Returns None if no lane is left.
        """
        broken = np.array(states) == 1
        if broken.any():
            loop.broken = union(loop.broken, active.keep(broken) if not broken.all() else active)
        finished = np.array(ended) & ~broken
        if finished.any():
            loop.finish(active.keep(finished) if not finished.all() else active)
        rest = ~(broken | finished)
        if rest.all():
            return active
        return active.keep(rest) if rest.any() else None

    def _run_loop(self, frame: Frame, mask: Mask, heads: list, bounds: tuple) -> list[int] | None:
        """Execute a loop for each lane; return each lane's state, or None if nothing was executed.

        The state is 1 if the lane has left the loop by ``break``, else 0. ``heads`` has the start,
        stop and step of each lane's range, which have the types of ``bounds``.
        """
        run = frame.run
        inputs = Inputs(run, mask, mask.index.tolist())
        variables = {}
        for name in self._read:
            value = _value_in(frame, name, mask)
            if value is not None:
                variables[name] = inputs.add(name, value)
        key = (
            id(frame.types), tuple(inputs.kinds), tuple(inputs.slots), _geometry(run),
            tuple((b.dtype, isinstance(b, np.ndarray)) for b in bounds), run.counters is not None,
        )  # fmt: skip
        if key not in self._codes:
            present = lambda closure: closure(frame, mask)  # noqa: E731
            self._codes[key] = self._generated(
                inputs, lambda output: self._loop_code(output, frame.types, variables, bounds),
                present, ["first", "stop", "step"] if heads else [],
            )  # fmt: skip
            self._alive.append(frame.types)
        code = self._codes[key]
        if code is None:
            return None
        outcome = self._attempt(code, inputs, heads, lambda closure: closure(frame, mask))
        if outcome is None:
            return None
        for position, (name, text) in enumerate(code.results.items()):
            self._assign(frame, mask, name, text, [o[position + 1] for o in outcome])
        return [o[0] for o in outcome]

    def _loop_code(self, output: Output, types, variables: dict, bounds: tuple) -> tuple:
        """Generate the code of the loop; return its lines and a dict of the variables it returns.

        The dict maps the name of a variable to its value in the code, a Text or a tuple of Texts.
        """
        node = self._node
        code = LaneCode(output, self._expressions, types, self._stores_by_data)
        code.loop_only()
        for name, text in variables.items():
            if text is not None:
                code.set_variable(name, text)
        known = set(code.variables)
        results = [n for n in self._set if n in self._read_elsewhere or n in known]
        bare = type(node)(**{**dict(ast.iter_fields(node)), "orelse": []})
        if isinstance(node, ast.For):
            texts = [
                Text(name, b.dtype, isinstance(b, np.ndarray), atom=True)
                for name, b in zip(("first", "stop", "step"), bounds, strict=True)
            ]
            head = lambda: code.for_head(node, "range(first, stop, step)", texts)  # noqa: E731
        else:
            code.line("rounds = 0")
            head = lambda: code.while_head(node, "rounds", "return <0>")  # noqa: E731
        code.repeat(bare, head)
        if isinstance(node, ast.For):
            code.line("else: return <0>")
        code.line("return <1>")
        texts = {name: code.variables[name].value for name in results}
        lines = [
            f"    {part} = UNSET" for name in results if name not in known
            for part in _number_parts(texts[name])
        ]  # fmt: skip
        packed = "".join(f", {_packed(text)}" for text in texts.values())
        lines += [
            line.replace("return <0>", f"return (0{packed},)").replace(
                "return <1>", f"return (1{packed},)"
            )
            for line in code.lines
        ]
        return lines, texts

    def _assign(self, frame: Frame, mask: Mask, name: str, text, values: list) -> None:
        """Set a variable of the frame in the lanes of ``mask`` that have set it.

        ``values`` has its value per lane, or UNSET. ``text`` is its value in the code.
        """
        chosen = [not is_unset(value) for value in values]
        if not any(chosen):
            return
        if not all(chosen):
            mask = mask.keep(np.array(chosen))
            values = [v for v, c in zip(values, chosen, strict=True) if c]
        for part, value in by_type(mask, text, values):
            frame.assign(name, value, part)

    # --- functions ---------------------------------------------------------------------------

    def call(self, program, run, mask: Mask, values: tuple, literals: tuple) -> tuple | None:
        """Call a device function for each lane; return (value of the call,) as a tuple of one.

        The value is None for a function that returns nothing. Returns None instead of the tuple if
        nothing was done, so that the caller must call the function in another way.
        """
        if mask.count > (MOST_LANES if program.has_loop else MOST_LANES_OF_A_SHORT_CALL):
            return None
        types = program.inference.of_values(values, literals)
        if not self.may_run(run, types, mask):
            return None
        inputs = Inputs(run, mask, mask.index.tolist())
        texts = [
            inputs.add(name, value)
            for name, value in zip(program.source.parameters, values, strict=True)
        ]
        if any(text is None for text in texts):
            return None
        key = id(program), literals, tuple(inputs.kinds), tuple(inputs.slots), _geometry(run)
        key = (*key, run.counters is not None)
        if key not in self._codes:
            padded = (*literals, *(None for _ in values[len(literals) :]))
            self._codes[key] = self._generated(
                inputs, lambda output: _call_code(output, program, texts, padded),
                lambda closure: closure(_Run(run), mask), [],
            )  # fmt: skip
            self._alive.append(program)
        code = self._codes[key]
        outcome = (
            None
            if code is None
            else self._attempt(code, inputs, [], lambda closure: closure(_Run(run), mask))
        )
        if outcome is None:
            return None
        text = code.results.get("result")
        if text is None:
            return (None,)
        return (joined(mask, text, outcome),)

    # --- both --------------------------------------------------------------------------------

    def _generated(
        self, inputs: Inputs, generate: Callable, present: Callable, heads: list[str]
    ) -> _Code | None:
        """Return the _Code of the loop or function for such inputs, or None if it has no code.

        ``generate`` takes an Output and returns the code's lines and results. ``present`` takes the
        closure of an input and returns its value for all lanes. ``heads`` are the names of the
        first parameters.
        """
        output = Output(inputs.slots, inputs.run.counters is not None, present)
        try:
            lines, results = generate(output)
            make = compiled(output, lines, [*heads, *inputs.parameters])
        except NoText:
            return None
        except Exception:  # the closures can do what the code cannot
            if STRICT:
                raise
            return None
        return _Code(make, output, results, list(output.inputs.values()))

    def _attempt(self, code: _Code, inputs: Inputs, heads: list, present: Callable) -> list | None:
        """Run the code for each lane; return the list of what it returns, per lane.

        Returns None if the run had no effect. That is so if the code may not store here, and if a
        lane gave up or raised an error or the log of the accesses did not settle, because all
        stores are then undone.
        """
        run, mask = inputs.run, inputs.mask
        self._stores = bool(code.output.stores)
        if self._stores and (mask.count > 1 or self._fills_tile(code, inputs)):
            return None
        at, what, undo, starts = [], [], [], []
        tally = [0] * len(code.output.tallies)
        given = [part for memory in inputs.memories for part in accessors(memory)]
        enter = run.counters.enter if run.counters else None
        lane = code.make(
            *given, at.append, what.append, undo.append, late_of(run.watch), tally, enter
        )
        columns = [*heads, *inputs.columns_given]
        columns += [inputs.column(present(closure)) for closure in code.inputs]
        rows = zip(*columns, strict=True) if columns else [()] * len(inputs.lanes)
        results, settled = [], False
        before = {k: [list(e) for e in lists] for k, (_, lists) in inputs.locals.items()}
        try:
            for row in rows:
                starts.append(len(what))
                results.append(lane(*row))
            log = LaneLog(run, mask, code.output.events, inputs.memories, what, at, starts)
            settled = log.settle()
        except GiveUp:
            pass
        except (TypeError, ValueError, ArithmeticError, LookupError, NameError, RecursionError):
            if STRICT:
                raise
        if not settled:
            for data, address, old in reversed(undo):
                data[address] = old
            run.abandoned[self] = run.abandoned.get(self, 0) + 1
            return None
        for key, (array, lists) in inputs.locals.items():
            write_back(array, mask, before[key], lists)
        self._note_tallies(run, code, tally)
        return results

    def _fills_tile(self, code: _Code, inputs: Inputs) -> bool:
        """Return True if the code fills a shared array, whose stores stale.py must know."""
        run = inputs.run
        for event in code.output.events:
            memory = inputs.memories[event.slot]
            is_fill = event.kind == "store" and memory.space == "shared" and not event.by_data
            if is_fill and run.fills.of(memory.name, event.site) is not None:
                return True
        return False

    @staticmethod
    def _note_tallies(run, code: _Code, tally: list[int]) -> None:
        """Add the iterations and operations that lanes have counted to the launch's counters."""
        for (kind, site, dtype), number in zip(code.output.tallies, tally, strict=True):
            if number and kind == "iteration":
                run.counters.iterations_of(site, number)
            elif number:
                run.counters.operations(site, dtype, number)


def _names_read(nodes: list[ast.AST]) -> set[str]:
    """Return the names of variables that these nodes read, also by ``x += value``."""
    targets = [n.target for n in nodes if isinstance(n, ast.AugAssign)]
    names = [n for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
    return {n.id for n in (*names, *targets) if isinstance(n, ast.Name)}


def _geometry(run) -> tuple:
    """Return (tuple of a bool per dimension of grid and block, bool), as a part of a key.

    A dimension has True if its extent is 1, so that its coordinate is the same for all lanes. The
    last bool is True if only one block runs at once.
    """
    geometry = run.batch.geometry
    return tuple(e == 1 for e in (*geometry.grid, *geometry.block)), run.batch.blocks == 1


def _value_in(frame: Frame, name: str, mask: Mask):
    """Return the value of a variable that all lanes of ``mask`` have set in one part, else None."""
    parts = frame.variables.get(name, ())
    if len(parts) != 1:
        return None
    value, owners = parts[0]
    if owners is mask or owners.count == frame.everyone.count:
        return value
    return None if (mask.lanes & ~owners.lanes).any() else value


def _call_code(output: Output, program, texts: list, literals: tuple) -> tuple:
    """Return the lines that call a device function, and {"result": its value in the code}."""
    name, result = function_code(output, program, texts, literals)
    parts = [part for text in texts for part in parts_of(text)]
    return [f"    return {name}({', '.join(parts)})"], {"result": result}


def _number_parts(text) -> list[str]:
    """Return the codes of a number, or of a tuple's numbers; raise NoText for other values."""
    if isinstance(text, Text | tuple):
        parts = [text] if isinstance(text, Text) else text
        if all(isinstance(part, Text) for part in parts):
            return [part.code for part in parts]
    raise NoText("a variable that holds an array")


def _packed(text) -> str:
    """Return the code of a number, or of a tuple of numbers as a Python tuple."""
    parts = _number_parts(text)
    return parts[0] if isinstance(text, Text) else f"({', '.join(parts)},)"
