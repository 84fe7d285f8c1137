"""The wavefronts of a shared-memory request, computed from the strides of its lanes."""

from labs.checking.phrasing import counted
from labs.exercises.wavefronts import formula
from labs.numbers.exercise import Case, NumbersExercise


def busiest_bank(case: Case, answer: float) -> str:
    """Return a sentence on the words that are accessed in the bank with the most of them.

    answer: not used.
    """
    bank, meeting = case.facts["bank"], case.facts["words"]
    few = ", ".join(map(str, meeting[:4])) + (" …" if len(meeting) > 4 else "")
    return f"Bank {bank} is asked for {counted(len(meeting), 'word')}: {few}."


EXERCISE = NumbersExercise(
    name="wavefronts",
    lesson="07",
    title="The stride of the lanes, and the banks they meet in",
    text=(
        "A block has `side` × `side` threads, and lane number `lane` of its first warp is thread "
        "`tx = lane % side`, `ty = lane // side`. All 32 lanes ask shared memory for one word "
        "each: word `tx * stride_x + ty * stride_y`. Write `wavefronts(side, stride_x, stride_y)`: "
        "how many wavefronts this request takes. About 8 lines.",
        "Word `w` lies in bank `w % 32`. In one wavefront each bank hands out one word, to all "
        "lanes that want this word. When it is right, ask it about your own kernel: in "
        "`tile_a[ty, i]` a step in `tx` goes 0 words further, and a step in `ty` a whole row.",
    ),
    parameters=("side", "stride_x", "stride_y"),
    unit="wavefront",
    promises=("right for blocks of 8×8, 16×16 and 32×32", "lanes that want one word share it"),
    cases=formula.cases,
    enough=12,
    right=formula.right,
    draw=formula.draw,
    beside=busiest_bank,
    hints=(
        "By hand for `side = 16`, strides 0 and 32: which word does lane 0 want, which lane 16? "
        "And in which bank is either?",
        "Make a list of the words of all lanes. A word that stands there already is not added "
        "again: `not in` asks for that.",
        "Then count for each bank how many of the words lie in it. `max` keeps the most.",
    ),
    after="Ask it about every access to `tile_a` and `tile_b`: that is why they have no conflict.",
)  # fmt: skip
