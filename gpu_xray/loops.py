"""The loops in machine code, found by the branches that go back."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gpu_xray.sass import Instruction

FFMA = ("FFMA", "FFMA2")
_ENDS = ("EXIT", "RET", "KILL", "BRX", "JMP", "JMX")
_MEMORY = ("LDG", "STG", "LDS", "STS", "LDGSTS", "LDL", "STL", "LD", "ST", "ATOM", "ATOMS", "RED")


@dataclass(frozen=True)
class Loop:
    """One loop, without the loops inside it.

    start, end: the places of its first and last instruction in the listing.
    body: its instructions, in order; those of a loop inside it are not among them.
    inner: whether no other loop is inside.
    """

    start: int
    end: int
    body: tuple[Instruction, ...]
    inner: bool

    @property
    def instructions(self) -> Counter[str]:
        """How often each opcode (without modifiers) stands in the body."""
        return Counter(instruction.name for instruction in self.body)

    @property
    def ffma(self) -> int:
        """Its float32 multiply-adds."""
        return sum(self.instructions[name] for name in FFMA)

    @property
    def ffma_share(self) -> float:
        """The fraction of its instructions that are float32 multiply-adds."""
        return self.ffma / len(self.body)

    @property
    def memory(self) -> int:
        """Its loads, stores and atomic operations."""
        return sum(self.instructions[name] for name in _MEMORY)


def distances_to_use(body: Sequence[Instruction], load: str = "LDS") -> list[int]:
    """For each load of a loop's body: how many instructions later its value is first read.

    The body follows itself, as it does in a loop. A value that is not read in it does not count.
    """
    around = [*body, *body]
    read = [{source[0] for source in one.sources if source} for one in around]
    found = []
    for place, instruction in enumerate(body):
        if instruction.name == load:
            loaded = instruction.loaded
            later = range(place + 1, place + len(body))
            found += [at - place for at in later if loaded & read[at]][:1]
    return found


def find_loops(code: Sequence[Instruction]) -> tuple[Loop, ...]:
    """The loops of the code in the order in which they start."""
    places = _loop_places(code)
    loops = []
    for start, members in sorted(places.items()):
        nested = [other for other in places.values() if other < members]
        own = sorted(members.difference(*nested))
        loops.append(Loop(start, max(members), tuple(code[place] for place in own), not nested))
    return tuple(loops)


def hot_loop(loops: Sequence[Loop]) -> Loop | None:
    """The innermost loop with the most FFMAs, or where there are none, the most memory accesses.

    A loop whose multiply-adds stand around an inner loop that has none counts as innermost.
    """
    return max(loops, key=lambda loop: (loop.ffma, loop.inner, loop.memory), default=None)


def _loop_places(code: Sequence[Instruction]) -> dict[int, set[int]]:
    """For the first place of each loop: all places that lie on a way from there back to it."""
    before = defaultdict(set)
    for place in range(len(code)):
        for after in _successors(code, place):
            before[after].add(place)
    loops: dict[int, set[int]] = {}
    for place, instruction in enumerate(code):
        start = instruction.target
        if _is_branch(instruction) and start <= place:
            members = _leading_to(place, start, before)
            # A jump back from a rare case, written behind the end, is reached from the top as well.
            if start == 0 or 0 not in members:
                loops.setdefault(start, set()).update(members)
    return loops


def _is_branch(instruction: Instruction) -> bool:
    return instruction.name == "BRA" and instruction.target is not None


def _successors(code: Sequence[Instruction], place: int) -> Iterator[int]:
    instruction = code[place]
    if _is_branch(instruction):
        yield instruction.target
    # Any operand besides the target is a condition, such as a uniform predicate.
    always = not instruction.predicate and len(instruction.operands) <= 1
    ends = instruction.name in _ENDS or _is_branch(instruction)
    if not (always and ends) and place + 1 < len(code):
        yield place + 1


def _leading_to(place: int, start: int, before: dict[int, set[int]]) -> set[int]:
    members, waiting = {start, place}, [place]
    while waiting:
        for earlier in before[waiting.pop()] - members:
            members.add(earlier)
            waiting.append(earlier)
    return members
