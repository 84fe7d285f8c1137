"""A law for an SM as one belt, to be repaired for an SM of four schedulers."""

from labs.exercises.law_of_schedulers import formula
from labs.numbers.exercise import NumbersExercise

EXERCISE = NumbersExercise(
    name="law_of_schedulers",
    lesson="09",
    kind="repair",
    title="Little's law for four schedulers",
    text=(
        "`law_of_schedulers(threads, chains)` is the share of an SM's peak, in percent, that "
        "`threads` threads with `chains` chains each reach. The given function takes the SM for "
        "one belt: it allows 100 percent even if a scheduler has nothing to do. Repair this "
        "limit, with plain Python and `math`. About 3 lines.",
        "`threads` is a multiple of 32. The warps are distributed evenly to four schedulers, so "
        "their numbers differ by 1 at most. All warps have the same amount of work, and the SM has "
        "finished when the scheduler with the most warps has.",
    ),
    parameters=("threads", "chains"),
    unit="",
    whole=False,
    promises=("right for warps that are no multiple of four", "right with too little under way"),
    cases=formula.cases,
    right=formula.right,
    draw=formula.draw,
    branch=formula.branch,
    hints=(
        "How many warps does the fullest scheduler have? Divide by four, and round up.",
        "While the fullest scheduler does its warps, the SM could do four times as many. How many "
        "does it do?",
        "That share takes the place of the 100. The other limit is right.",
    ),
    after="What is under way must be spread over the schedulers, too: a multiple of four warps is "
    "best.",
)
