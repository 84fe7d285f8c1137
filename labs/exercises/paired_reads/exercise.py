"""A copy by wide reads of shared memory, whose lanes agree in pairs after one change."""

from labs.checking.exercise import KernelExercise
from labs.checking.job import in_steps
from labs.checking.target import Probes, essential
from labs.families import lane_maps
from labs.families.vectors import numbers
from labs.targets.counts import (
    full_requests,
    input_loads_per_element,
    no_float64,
    no_negative_index,
    one_store_per_element,
    sectors_per_request,
)
from labs.targets.sharing import elements_per_thread
from utils.ladder.step import Launch

EXERCISE = KernelExercise(
    name="paired_reads",
    lesson="lane_maps",
    kind="change",
    title="Lanes that agree",
    text=(
        "A warp copies 32 elements by way of `tile`, which has eight quads. Each lane reads the "
        "quad `quad` with `load4` and stores one word of it, `word`. The kernel is right, but its "
        "read takes 4 wavefronts. Change one line, so that it takes 2. The result stays the same.",
        "The launch is given: a block of 32 threads for 32 elements, and no rest.",
    ),
    parameters=("x", "out"),
    sizes=("n",),
    shapes=((256,), (96,), (160,), (32,)),
    vary=in_steps(32),
    launch=lambda shape: Launch(grid=(shape[0] // 32,), block=(32,)),
    inputs=lambda shape, seed: (numbers(shape, seed),),
    reference=lambda x: x.astype("float64"),
    probes=Probes(missing=(lane_maps.same_quad,)),
    targets=(
        no_negative_index(), one_store_per_element(), no_float64(), sectors_per_request(4),
        essential(full_requests()), essential(elements_per_thread(1)),
        essential(lane_maps.read_from("tile")), lane_maps.wavefronts_of("tile"),
        input_loads_per_element(1),
    ),
    main=("wavefronts to read tile",),
    plain_goals=(
        "at most 2 wavefronts to read `tile`",
        "each lane reads its quad from `tile`, and loads and stores one element",
    ),
    hints=(
        "Four lanes read each quad, one for each of its words. Which four?",
        "Lanes 0 and 1 must read the same quad, lanes 2 and 3 as well, and so on.",
        "If four lanes in a row read one quad, the number of the lane divided by 4 is the quad, "
        "and the remainder is the word.",
    ),
    after="Every lane agrees with a partner, so half of the warp is served at a time.",
)  # fmt: skip
