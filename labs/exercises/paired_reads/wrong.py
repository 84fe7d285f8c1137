"""Wrong answers to `paired_reads`: what `check` says, and the changes that earn it."""

MAP = "quad, word = lane // 4, lane % 4"
READ = "    four = load4(tile, 4 * quad)\n"
STORE = "out[first + 4 * quad + word] = four[word]"


def mapped(quad: str, word: str) -> list[tuple[str, str]]:
    return [(MAP, f"quad, word = {quad}, {word}")]


WRONG = {
    "a warp takes 4 wavefronts to read `tile`": {
        "the starter": mapped("lane % 8", "lane // 8"),
        "backwards": mapped("7 - lane % 8", "lane // 8"),
        "halves of four": mapped("lane % 4 + lane // 16 * 4", "lane // 4 % 4"),
        "odd lanes apart": mapped("(lane + lane // 8) % 8", "lane // 8")},
    "Some words have no lane: the 32 pairs of a quad and a word must all differ.": {
        "quad and word exchanged": mapped("lane % 4", "lane // 8"),
        "pairs, and words that are left out": mapped("lane // 2 % 8", "lane // 16"),
        "one quad for all": mapped("0", "lane % 4")},
    "The tile has eight quads, with the numbers 0 to 7.": {
        "four words per pair": mapped("lane // 2", "lane % 2")},
    "Four elements at once begin at a multiple of 4: quad q begins at element 4·q.": {
        "the number of a quad for its place": [("load4(tile, 4 * quad)", "load4(tile, quad)")]},
    "A quad has four words, with the numbers 0 to 3.": {
        "eight words": mapped("lane // 4", "lane % 8")},
    "words of its quad in `tile`": {
        "word by word": [(READ, ""), ("four[word]", "tile[4 * quad + word]")],
        "straight from x": [(READ, ""), ("four[word]", "x[first + 4 * quad + word]")]},
    "All lanes store the first word of their quad.": {
        "the first word": [("four[word]", "four[0]")]},
}
