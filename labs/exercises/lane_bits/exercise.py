"""A lane map that uses one bit of the lane twice, with four lines to choose from."""

from labs.checking.target import essential
from labs.families import lane_maps as quads
from labs.families.outer_quads import outer_quads
from labs.targets.counts import no_float64, no_negative_index
from labs.targets.sharing import elements_per_thread

EXERCISE = outer_quads(
    name="lane_bits",
    lesson="15",
    kind="repair",
    title="The bits of a lane",
    text=(
        "A warp computes a tile of 16×32 of `c`, one quad per lane. The line of `across` and "
        "`down` uses one bit of the lane twice and another bit never. Replace it by one of the "
        "four lines below it: the one that gives each lane its own quad and lets each read take "
        "two wavefronts.",
    ),
    targets=(
        no_negative_index(), quads.one_store_per_element(), no_float64(),
        essential(elements_per_thread(quads.QUAD**2)),
        essential(quads.read_from("sa")), essential(quads.read_from("sb")),
        quads.wavefronts_of("sa"), quads.wavefronts_of("sb"),
    ),
    hints=(
        "Write down which bits of the lane each line keeps for `across`, and which for `down`. "
        "Each of the bits 0 to 4 must occur once.",
        "`lane >> 3 & 2` first moves bit 4 to the place of bit 1, and then keeps it alone.",
        "Neighbouring lanes differ in bit 0, and lanes two apart in bit 1. If bit 0 goes down, "
        "neighbours read the same words of `sb`. Which lanes read the same words of `sa`?",
    ),
    after="Each bit goes one way, so the quads of 32 lanes are 32 different ones.",
)  # fmt: skip
