"""A micro-kernel whose neighbouring steps are to have sums of their own."""

from dataclasses import replace

from labs.checking.job import in_steps
from labs.exercises.micro_kernel.exercise import EXERCISE as MICRO_KERNEL
from labs.families.vector_chains import added_with_a_sign, steps_in_a_chain

STEPS = 24  # at the first shape
_CHAINS = steps_in_a_chain(STEPS)
EXERCISE = replace(
    MICRO_KERNEL,
    name="four_sums",
    lesson="03",
    title="Four sums for the same tile",
    kind="change",
    lines_to_change=5,
    text=(
        "This is a micro-kernel of 2×8, which takes two steps per iteration. Both steps add to the "
        "same two sums, so each multiply-add waits for the one before it. Give every second step "
        "two sums of its own, and add the sums at the end. Change about 5 lines, and keep the "
        "loads as they are.",
        "`one` is a vector of ones: `fmadd(one, x, y)` is x + y. The number of steps is even.",
    ),
    shapes=((STEPS,), (6,), (18,), (2,)),
    vary=in_steps(2),
    targets=(*MICRO_KERNEL.targets, _CHAINS),
    probes=replace(
        MICRO_KERNEL.probes, refused=(*MICRO_KERNEL.probes.refused, added_with_a_sign)
    ),
    main=(_CHAINS.what, "vector loads per multiply-add"),
    plain_goals=(_CHAINS.words, "no more loads than before"),
    plain_usual_goals=(
        "right with any even number of steps", "one store per element", "no spills",
        "no index below 0, no float64",
    ),
    hints=(
        "Which sums must begin at zero? There are four of them now.",
        "The second pair of `fmadd` may add to the new sums only. What does each of them get as "
        "its last argument?",
        "Behind the loop each row has two sums. Add them before they are stored.",
    ),
    after="The steps wait half as long for each other, and not one load was saved.",
)  # fmt: skip
