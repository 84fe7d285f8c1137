"""Wrong answers to `tall_map`: what `check` says, and the changes that earn it."""

MAP = "down, across = lane >> 1 & 7, (lane >> 3 & 2) | (lane & 1)"
READS = "of_a, of_b = load4(sa, down * 4), load4(sb, across * 4)"


def mapped(down: str, across: str) -> list[tuple[str, str]]:
    return [(MAP, f"down, across = {down}, {across}")]


WRONG = {
    "Two lanes have the same patch, so another patch has no lane.": {
        "the starter": mapped("lane >> 1 & 7", "lane & 3"),
        "without bit 1": mapped("lane >> 2 & 7", "lane >> 3 & 2 | lane & 1"),
        "one patch for all": mapped("0", "0"),
        "the highest bit left out": mapped("lane >> 1 & 7", "lane & 1")},
    "4 wavefronts to read `sb`": {"row by row": mapped("lane // 4", "lane % 4")},
    "4 wavefronts to read `sa`": {"column by column": mapped("lane % 8", "lane // 8")},
    "The tile has eight patches down and four across: `down` goes to 7, and `across` to 3.": {
        "down and across exchanged": mapped("lane >> 3 & 2 | lane & 1", "lane >> 1 & 7"),
        "the map of a wide tile": mapped("lane // 8", "lane % 8"),
        "exchanged in the reads": [(READS, "of_a, of_b = load4(sa, across * 4), "
                                    "load4(sb, down * 4)")]},
    "Four elements at once begin at a multiple of 4: quad q begins at element 4·q.": {
        "the number of a quad for its place": [("load4(sa, down * 4)", "load4(sa, down)")]},
}  # fmt: skip
