"""A simulation of blocks that wait for all others on a GPU with few slots, and a picture of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from virtual_gpu.pictures.svg import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    Picture,
    frames,
    legend,
    rect,
    svg,
    text,
)

BLOCKS, SLOTS = 4, 2
KERNELS = {  # what the picture compares, with the blocks that wait
    "tickets: no block waits": (),
    "block 0 waits for all others": (0,),
    "every block waits for all others": (0, 1, 2, 3),
}
CAPTIONS = (  # what happens in each step of these kernels
    "blocks 0 and 1 have the slots, and work",
    "both have drawn a number, and those that wait keep their slots",
    "with tickets, block 3 has drawn the last number and adds the sums",
    "with tickets, all is done. In the second kernel block 0 adds the sums",
    "two kernels are done, and in the third two blocks wait forever",
)
_WIDTH, _ROW, _BOX = 410, 92, 30


@dataclass(frozen=True)
class Moment:
    """The state of a GPU between two steps of the simulation.

    slots: the block in each slot, or None if it is free. queue: the blocks that have not started.
    drawn: the blocks that have taken a number from the counter. ended: the blocks that have ended.
    """

    slots: tuple[int | None, ...]
    queue: tuple[int, ...]
    drawn: frozenset[int] = frozenset()
    ended: frozenset[int] = frozenset()

    @property
    def is_over(self) -> bool:
        """True if no block is in a slot or in the queue."""
        return not self.queue and all(block is None for block in self.slots)


def moments(blocks: int, slots: int, waiting: Collection[int]) -> Iterator[Moment]:
    """Yield the state of the GPU at the start and after each step, until nothing changes any more.

    Each block that runs takes a number from a counter in its first step. It ends and frees its
    slot, unless it is one of those in `waiting`, which end when all blocks have taken a number. If
    no block waits, the last block takes the last number and has one step more, in which it adds the
    sums. Free slots take blocks from the queue. The last state is over, or its blocks wait forever.
    blocks, slots: how many there are.
    """
    staying = waiting or (blocks - 1,)
    now = _filled(Moment((None,) * slots, tuple(range(blocks))))
    yield now
    while (later := _after_a_step(now, blocks, staying)) != now:
        yield (now := later)


def ends(blocks: int, slots: int, waiting: Collection[int]) -> bool:
    """Return True if every block ends in the simulation of `moments`, False if blocks wait forever.

    blocks, slots: how many there are. waiting: the blocks that end only when all have taken a
    number.
    """
    *_, last = moments(blocks, slots, waiting)
    return last.is_over


def _after_a_step(now: Moment, blocks: int, staying: Collection[int]) -> Moment:
    """Return the state after one step; it equals `now` if nothing changes.

    staying: the blocks that keep their slots until all blocks have taken a number.
    """
    resident = frozenset(block for block in now.slots if block is not None)
    drawn = now.drawn | resident
    everyone = len(now.drawn) == blocks  # a block that stays looks at the counter first
    ended = frozenset(block for block in resident if everyone or block not in staying)
    kept = tuple(None if block in ended else block for block in now.slots)
    return _filled(replace(now, slots=kept, drawn=drawn, ended=now.ended | ended))


def _filled(now: Moment) -> Moment:
    """Return the state after free slots have taken the first blocks of the queue."""
    slots, queue = list(now.slots), list(now.queue)
    for number, block in enumerate(slots):
        if block is None and queue:
            slots[number] = queue.pop(0)
    return replace(now, slots=tuple(slots), queue=tuple(queue))


def draw_waiting() -> Picture:
    """Draw a GPU with two slots and a grid of four blocks, for three kernels, step by step."""
    runs = {name: list(moments(BLOCKS, SLOTS, waiting)) for name, waiting in KERNELS.items()}
    steps = max(map(len, runs.values()))
    pictures = [_frame(runs, step) for step in range(steps)]
    captions = [f"Step {step} of {steps - 1}: {words}" for step, words in enumerate(CAPTIONS)]
    colours = legend(a_block_works=BLUE, waits=PURPLE, adds_the_sums=GREEN, drawn=ORANGE)
    told = " ".join(_words(name, run) for name, run in runs.items())
    alt = f"A GPU with {SLOTS} slots and a grid of {BLOCKS} blocks. {told}"
    return Picture(colours + frames(pictures, captions, "step"), alt)


def _frame(runs: dict[str, list[Moment]], step: int) -> str:
    """Return the SVG of all runs in a step, one below the other.

    runs: kernel's name -> its states, from the start on. step: the index of the state; a run that
    has fewer states shows its last one.
    """
    body = "".join(
        f'<g transform="translate(0 {number * _ROW})">{_gpu(name, run, step)}</g>'
        for number, (name, run) in enumerate(runs.items())
    )
    alt = f"Step {step}. " + " ".join(_told(name, run, step) for name, run in runs.items())
    return svg(_WIDTH, len(runs) * _ROW - 8, body, alt, widest=600)


def _gpu(name: str, run: list[Moment], step: int) -> str:
    """Return the SVG of one GPU in a step: its slots, queue, numbers taken, and its verdict.

    name: the heading. run: the states from the start on. step: the index of the state; beyond the
    end it is the last one.
    """
    now = run[min(step, len(run) - 1)]
    body = text(0, 16, name, 14, font_weight="bold")
    for slot, block in enumerate(now.slots):
        x = slot * 92
        body += rect(x + 1, 24, 84, _BOX, "none", rx=3, stroke="currentColor")
        if block is not None:
            body += rect(x + 4, 27, 78, _BOX - 6, _colour(now, block), rx=2)
            words = f"block {block}"
            body += text(x + 43, 44, words, 13, "middle", style="fill:#fff")
        body += text(x + 43, 69, f"slot {slot}", 12, "middle")
    for place, block in enumerate(now.queue):
        x = 200 + place * 34
        body += rect(x, 24, _BOX, _BOX, "none", rx=3, stroke=GREY, stroke_dasharray="4 3")
        body += text(x + _BOX / 2, 44, block, 13, "middle")
    body += text(200, 69, "not started" if now.queue else "all have started", 12)
    for block in range(len(now.drawn)):
        body += rect(310 + block * 14, 33, 11, 11, ORANGE, rx=2)
    body += text(310, 69, f"drawn: {len(now.drawn)} of {BLOCKS}", 12)
    return body + text(_WIDTH - 4, 16, _verdict(run, step), 13, "end", font_weight="bold")


def _colour(now: Moment, block: int) -> str:
    """Return the colour of a block in a slot.

    It is BLUE before the block has taken a number, then PURPLE while it waits, and GREEN as soon as
    all blocks have taken a number.
    """
    if block not in now.drawn:
        return BLUE
    return GREEN if len(now.drawn) == BLOCKS else PURPLE


def _verdict(run: list[Moment], step: int) -> str:
    """Return "done" or "waits forever" if a run has ended before or in a step, else "".

    A run that waits forever gets its verdict one step after its last state.
    """
    if step < len(run) - 1 + (not run[-1].is_over):
        return ""
    return "done" if run[-1].is_over else "waits forever"


def _told(name: str, run: list[Moment], step: int) -> str:
    """Return words on a run in a step for the alt text.

    They are its name, the blocks in slots, how many blocks have taken a number, and the verdict.
    """
    now = run[min(step, len(run) - 1)]
    inside = [str(block) for block in now.slots if block is not None]
    where = f"blocks {' and '.join(inside)} have slots" if inside else "all slots are free"
    return f"{name}: {where}, {len(now.drawn)} of {BLOCKS} have drawn. {_verdict(run, step)}"


def _words(name: str, run: list[Moment]) -> str:
    """Return a sentence on the end of a run for the alt text: its steps, or the blocks that wait.

    name: that of the run. run: all its moments, in order.
    """
    last = run[-1]
    if last.is_over:
        return f"{name.capitalize()}: it is done after {len(run) - 1} steps."
    kept = " and ".join(str(block) for block in last.slots)
    left = " and ".join(map(str, last.queue))
    return (
        f"{name.capitalize()}: blocks {kept} keep both slots and wait forever, and blocks {left} "
        "never start."
    )
