"""Finds the loops in machine code by their backward branches."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gpu_xray.sass import Instruction

FFMA = ("FFMA", "FFMA2")
TENSOR = ("HMMA",)  # products of a warp on tensor cores
# A sum of several products begins with an FMUL, which has nothing to add to.
PRODUCTS = (*FFMA, "FMUL")
# The iterations of the innermost loop per iteration of a loop between it and the loop over tiles.
STEPS = 4
_ENDS = ("EXIT", "RET", "KILL", "BRX", "JMP", "JMX")
_MEMORY = (
    *("LDG", "STG", "LDS", "STS", "LDSM", "LDGSTS", "LDL", "STL", "LD", "ST"),
    *("ATOM", "ATOMS", "RED"),
)


@dataclass(frozen=True)
class Loop:
    """A loop in machine code, without the loops inside it.

    start, end: the indices of its first and last instruction in the listing.
    body: its instructions, in order, without those of inner loops.
    inner: True if it contains no other loop.
    """

    start: int
    end: int
    body: tuple[Instruction, ...]
    inner: bool

    @property
    def instructions(self) -> Counter[str]:
        """The number of instructions in the body by opcode without modifiers."""
        return Counter(instruction.name for instruction in self.body)

    @property
    def ffma(self) -> int:
        """The number of FFMA and FFMA2 instructions in the body; an FFMA2 counts once."""
        return sum(self.instructions[name] for name in FFMA)

    @property
    def products(self) -> int:
        """The number of float32 products in the body: FFMA, FFMA2 and FMUL, each counted once."""
        return sum(self.instructions[name] for name in PRODUCTS)

    @property
    def ffma_share(self) -> float:
        """The fraction of the body's instructions that are FFMA or FFMA2."""
        return self.ffma / len(self.body)

    @property
    def tensor(self) -> int:
        """The number of products on tensor cores (HMMA) in the body."""
        return sum(self.instructions[name] for name in TENSOR)

    @property
    def tensor_share(self) -> float:
        """The fraction of the body's instructions that are products on tensor cores."""
        return self.tensor / len(self.body)

    @property
    def memory(self) -> int:
        """The number of loads, stores and atomic operations in the body."""
        return sum(self.instructions[name] for name in _MEMORY)


def distances_to_use(body: Sequence[Instruction], load: str = "LDS") -> list[int]:
    """Return, for each load in a loop's body, the number of instructions until its first use.

    The number is 1 if the next instruction uses the value. Loads are the instructions whose opcode
    without modifiers is `load`; the list is in their order. The next iteration follows the body. A
    load whose value is not used in the loop is left out.
    """
    two_iterations = [*body, *body]
    read = [{source[0] for source in each.sources if source} for each in two_iterations]
    distances = []
    for index, instruction in enumerate(body):
        if instruction.name == load:
            loaded = instruction.loaded
            later = range(index + 1, index + len(body))
            distances += [use - index for use in later if loaded & read[use]][:1]
    return distances


def around_with_barriers(loops: Sequence[Loop], hot: Loop) -> Loop | None:
    """Return the first of the loops that has barriers and contains the loop `hot`, or None."""
    found = (one for one in loops if one.instructions["BAR"] and _contains(one, hot))
    return next(found, None)


def instructions_around(
    loops: Sequence[Loop], hot: Loop, multiply_adds: float, loads: float
) -> float:
    """Return the instructions per multiply-add of the loop over tiles, without those in `hot`.

    The loop over tiles is the one with barriers around `hot`; the result is 0 without it. Loops in
    it that load the tiles, and a loop around `hot`, are counted with their iterations.

    Parameters
    ----------
    loops : sequence of Loop
        All loops of the kernel.
    hot : Loop
        The loop with the most multiply-adds.
    multiply_adds, loads : float
        The multiply-adds, and the loads from global memory, of a warp in an iteration over tiles.
    """
    tiles = around_with_barriers(loops, hot)
    if tiles is None:
        return 0.0
    outside = len(tiles.body)
    for loop in loops:
        if loop in (hot, tiles) or not _contains(tiles, loop):
            continue
        if loop.instructions["LDG"]:
            outside += len(loop.body) * loads / loop.instructions["LDG"]
        elif _contains(loop, hot):
            outside += len(loop.body) * multiply_adds / hot.products / STEPS
    return outside / multiply_adds


def _contains(outer: Loop, inner: Loop) -> bool:
    """Return True if `inner` is another loop that is inside of `outer`."""
    return outer != inner and outer.start <= inner.start and inner.end <= outer.end


def find_loops(code: Sequence[Instruction]) -> tuple[Loop, ...]:
    """Return the loops of the code in the order of their first instructions.

    The body of a loop has none of the instructions of the loops within it.
    """
    indices = _loop_indices(code)
    loops = []
    for start, members in sorted(indices.items()):
        nested = [other for other in indices.values() if other < members]
        own = sorted(members.difference(*nested))
        loops.append(Loop(start, max(members), tuple(code[index] for index in own), not nested))
    return tuple(loops)


def hot_loop(loops: Sequence[Loop]) -> Loop | None:
    """Return the loop with the most products on tensor cores, or None if there is no loop.

    If several have the most, or none has any, it is the one with the most FFMAs in its own body,
    then an innermost loop, then one with more memory accesses.
    """
    return max(
        loops, key=lambda loop: (loop.tensor, loop.ffma, loop.inner, loop.memory), default=None
    )


def _loop_indices(code: Sequence[Instruction]) -> dict[int, set[int]]:
    """Return a dict from the index of a loop's first instruction to the indices of all in the loop.

    The indices of inner loops are included: they are those on all paths from the first instruction
    back to it.
    """
    before = defaultdict(set)
    for index in range(len(code)):
        for after in _successors(code, index):
            before[after].add(index)
    loops: dict[int, set[int]] = {}
    for index, instruction in enumerate(code):
        start = instruction.target
        if _is_branch(instruction) and start <= index:
            members = _leading_to(index, start, before)
            # A backward jump from code for a rare case behind the end is no loop: that code is
            # reached from the first instruction, too.
            if start == 0 or 0 not in members:
                loops.setdefault(start, set()).update(members)
    return loops


def _is_branch(instruction: Instruction) -> bool:
    """Return True for a BRA instruction with a target in the listing."""
    return instruction.name == "BRA" and instruction.target is not None


def _successors(code: Sequence[Instruction], index: int) -> Iterator[int]:
    """Yield the indices of the instructions that may be executed next after that at ``index``."""
    instruction = code[index]
    if _is_branch(instruction):
        yield instruction.target
    # Any operand other than the target is a condition, such as a uniform predicate.
    always = not instruction.predicate and len(instruction.operands) <= 1
    ends = instruction.name in _ENDS or _is_branch(instruction)
    if not (always and ends) and index + 1 < len(code):
        yield index + 1


def _leading_to(index: int, start: int, before: dict[int, set[int]]) -> set[int]:
    """Return the indices on all paths from ``start`` to ``index``, both included.

    ``before`` maps an index to the indices of the instructions that may be executed just before.
    """
    members, waiting = {start, index}, [index]
    while waiting:
        for earlier in before[waiting.pop()] - members:
            members.add(earlier)
            waiting.append(earlier)
    return members
