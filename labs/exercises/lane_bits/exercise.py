"""The lane map of the zig-zag, written by the bits of the lane."""

from labs.checking.target import essential
from labs.families import lane_maps as quads
from labs.families.outer_quads import outer_quads
from labs.targets.counts import no_float64, no_negative_index
from labs.targets.sharing import elements_per_thread

EXERCISE = outer_quads(
    name="lane_bits",
    lesson="15",
    kind="change",
    title="The bits of a lane",
    text=(
        "A warp computes a tile of 16×32 of `c`, one quad per lane: 4 quads down and 8 across. The "
        "given line orders the lanes row by row, and then a read of `sb` takes four wavefronts.",
        "Write the line of the zig-zag instead, so that both reads take two: lanes 0 and 1 are "
        "below each other, lanes 0 and 2 side by side, and lanes 16 to 31 fill the lower two rows "
        "of quads as lanes 0 to 15 fill the upper two.",
    ),
    targets=(
        no_negative_index(), quads.one_store_per_element(), no_float64(),
        essential(elements_per_thread(quads.QUAD**2)),
        essential(quads.read_from("sa")), essential(quads.read_from("sb")),
        quads.wavefronts_of("sa"), quads.wavefronts_of("sb"),
    ),
    remarks=(quads.other_than_the_zig_zag,),
    hints=(
        "In the zig-zag bit 0 of the lane is one quad down. Which three bits are 1, 2 and 4 quads "
        "to the right, and which bit is 2 quads down? Each of the bits 0 to 4 occurs once.",
        "`lane >> 1` moves every bit one place to the right, so bit 1 becomes bit 0. `& 3` would "
        "keep two bits of that; here `across` needs three.",
        "For `down`, move bit 4 to the place of bit 1 and keep it alone with `& 2`. Then join it "
        "with `lane & 1` by `|`.",
    ),
    after="Each bit goes one way, so the quads of 32 lanes are 32 different ones.",
)  # fmt: skip
