"""The balance of a kernel's issue slots, which the reader makes: its instructions, and a card."""

from __future__ import annotations

from utils.ladder.step import Step
from utils.lessons.cards import Card, Table, table
from utils.lessons.lesson_15.instruction_counts import parts_of
from utils.lessons.lesson_15.slot_bars import draw_verdicts
from utils.lessons.recorded import recorded_ms
from utils.lessons.tile_iterations import slots_of
from utils.translation import translate

TOLERANCE = 0.6  # slots; a rounded number is right


def instructions(*steps: Step, shape: str = "4096") -> Table:
    """Tabulate the instructions of a warp for one tile, and the recorded time; a column per step.

    The rows are the multiply-adds, the loads and stores, the other instructions, and the recorded
    ms of a product. shape: as on the command line.
    """
    rows = [
        (kind, *(f"{parts_of(step)[number][0]:g}" for step in steps))
        for number, (_, kind) in enumerate(parts_of(steps[0]))
    ]
    rows.append(("recorded time", *(f"{recorded_ms(step, shape):.3f} ms" for step in steps)))
    head = ("", *(step.name for step in steps))
    return table("Instructions of a warp for one tile", head, rows)


def check_balance(
    step: Step,
    multiply_adds: float | None = None,
    loads_and_stores: float | None = None,
    others: float | None = None,
    last_round: float | None = None,
    not_measured: float | None = None,
) -> Card:
    """Return a card that says whether these parts of 100 issue slots are those of a step at 4096.

    A part is a number from 0 to 100, or None if the reader has not given it yet. If none of the
    first four is given, the card says to begin with the multiply-adds. Else it names the first part
    that is missing or wrong. If all are right, the picture of the step's slots is below.
    A part may be off by TOLERANCE, and the part that was not measured by twice as much, because it
    has the errors of the others.
    """
    slots, every = slots_of(step), sum(count for count, _ in parts_of(step))
    parts = {
        "multiply_adds": (multiply_adds, slots.multiply_adds),
        "loads_and_stores": (loads_and_stores, slots.loads_and_stores),
        "others": (others, slots.others),
        "last_round": (last_round, slots.last_round),
    }
    if all(said is None for said, _ in parts.values()):
        words = translate(
            "None yet. Begin with the multiply-adds. Both kernels make the same number of them, "
            "and `{name}` takes longer: do they fill more of its slots, or fewer?",
            name=step.name,
        )
        return Card("ask", (words,))
    for (kind, (said, right)), hint in zip(parts.items(), _hints(step.name), strict=True):
        if said is None or abs(said - 100 * right) > TOLERANCE:
            return _not_yet(kind, said, hint)
    if not_measured is None or abs(not_measured - 100 * slots.rest) > 2 * TOLERANCE:
        hint = translate("The five parts are all slots, so they are 100.")
        return _not_yet("not_measured", not_measured, hint)
    words = translate(
        "Right: the {every:g} instructions fill {filled:.0f} of 100 slots, and {empty:.0f} are "
        "empty.",
        every=every,
        filled=100 * (1 - slots.last_round - slots.rest),
        empty=100 * (slots.last_round + slots.rest),
    )
    return Card("good", (words,), below=draw_verdicts(step))


def _hints(name: str) -> tuple[str, str, str, str]:
    """Return a hint on each part but the last, in the order of `check_balance`."""
    per_instruction = translate(
        "Each instruction takes one slot. 512 multiply-adds per tile fill the slots that you have "
        "found: how many slots does one instruction fill, and how many do these?"
    )
    return (
        translate(
            "`{name}` makes the multiply-adds of `maxwell256` in more time. So they are a smaller "
            "share of its slots, by the ratio of the two times.",
            name=name,
        ),
        per_instruction,
        per_instruction,
        translate(
            "The blocks of both designs leave the same share of the time without work: the verdict "
            "on the tiles has this number."
        ),
    )


def _not_yet(kind: str, said: float | None, sentence: str) -> Card:
    """Return the card on a part that is missing, if `said` is None, or wrong."""
    if said is None:
        return Card("ask", (translate("`{kind}` is missing.", kind=kind), sentence))
    return Card(
        "ask", (translate("{said:g} is not right for `{kind}`.", said=said, kind=kind), sentence)
    )
