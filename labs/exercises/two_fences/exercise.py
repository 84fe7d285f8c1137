"""Two blocks that hand over their words without a fence, with five places for two fences."""

from labs.families.hand_over import hand_over

EXERCISE = hand_over(
    name="two_fences",
    lesson="20",
    kind="repair",
    title="Two fences, five places",
    text=(
        "Blocks 0 and 1 are a pair, blocks 2 and 3 the next one, and so on. Each block leaves its "
        "element of `x` in `words`, and draws a number from the counter of its pair. The block "
        "that draws 1 comes second, and adds both words. Two calls of `cuda.threadfence` are "
        "missing. Put them at two of the five places.",
        "The launch is given: blocks of one thread, two for each pair. The counters are 0 before "
        "the launch, and `words` holds what an earlier launch has left.",
    ),
    main=("loads without a fence", "fences"),
    plain_goals=("two fences at the right places, and nothing else changed",),
    plain_usual_goals=("right results for any number of pairs",),
    hints=(
        "A fence stands between two accesses of a thread. Look for the two accesses of the block "
        "that comes first whose order matters for the other block.",
        "The block that comes second also makes two accesses whose order matters. One of them "
        "tells it that the other block has been there.",
    ),
    after="One fence for the block that hands over, and one for the block that takes over.",
)
