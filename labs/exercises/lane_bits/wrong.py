"""Wrong answers to `lane_bits`: what `check` says, and the changes that earn it."""

MAP = "lane >> 1 & 7, lane >> 3 & 2 | lane & 1"
DOWN = "lane >> 3 & 2 | lane & 1"

WRONG = {
    "Bit 3 of the lane goes across and down, and bit 0 goes nowhere: lanes 0 and 1 have the same "
    "quad.": {"bit 3 twice": [(MAP, "lane >> 1 & 7, lane >> 3")]},
    "not all neighbours agree": {"the starter": [(MAP, "lane & 7, lane >> 3")]},
    "Bit 4 of the lane goes across and down, and bit 1 goes nowhere: lanes 0 and 2 have the same "
    "quad.": {"bit 4 twice": [(MAP, f"lane >> 2 & 7, {DOWN}")]},
    "Bit 3 of the lane goes across and down, and bits 0 and 3 are joined into one: lanes 8 and 9 "
    "have the same quad.": {"bits 0 and 3 joined": [(MAP, "lane >> 1 & 7, lane >> 3 | lane & 1")]},
    "Bit 4 of the lane goes nowhere: lanes 0 and 16 have the same quad.": {
        "bit 4 left out": [(MAP, "lane >> 1 & 7, lane & 1")]},
    "`+` goes before `>>` and `&`, so Python adds first. Join the bits by `|`, which goes last.": {
        "+ for |": [(DOWN, "lane >> 3 & 2 + lane & 1")],
        "+ for |, in the other order": [(DOWN, "lane & 1 + lane >> 3 & 2")]},
    "Bit 0 of the lane goes nowhere: lanes 0 and 1 have the same quad.": {
        "bit 0 left out": [(MAP, "lane >> 1 & 7, lane >> 3 & 2")]},
    "Bit 3 of the lane goes nowhere: lanes 0 and 8 have the same quad.": {
        "two bits across": [(MAP, f"lane >> 1 & 3, {DOWN}")]},
    "`down` is 0 to 3 and `across` 0 to 7: here they are exchanged.": {
        "exchanged": [(MAP, f"{DOWN}, lane >> 1 & 7")]},
    "`across` is larger than 7: bits 0 to 3 of the lane go across, and only three of them may.": {
        "four bits across": [(MAP, "lane & 15, lane >> 3 & 2 | lane & 1")]},
    "no thread reads or writes": {"no body": [("    sa = ", "    return\n    sa = ")]},
}  # fmt: skip
