"""Wrong answers to `rows_apart`: what `check` says, and the changes that earn it."""

LINE = "y, apart, x = t // 8, 8, t % 8 * 8"


def line(y: str, apart: str, x: str = "t % 8 * 8") -> list[tuple[str, str]]:
    return [(LINE, f"y, apart, x = {y}, {apart}, {x}")]


WRONG = {
    "in each step of k a warp takes 48 wavefronts to read both tiles, and the target is 24. Line "
    "24, `from_a[i] = sa[y + apart * i, z]`: a read of `sa` takes 4. Lanes 0 and 15 go to words "
    "that lie 64 apart": {"the starter": line("t // 8 * 8", "1")},
    "a read of `sa` takes 8.": {"lanes down": line("t % 8 * 8", "1", "t // 8 * 8")},
    "The threads begin one row apart and each of them takes eight neighbouring rows. So their rows "
    "overlap, and the other rows have no thread.": {"only y changed": line("t // 8", "1")},
    "uses sa[64, 0]; dimension 0 of sa has 64 elements": {
        "only apart changed": line("t // 8 * 8", "8"), "two apart": line("t // 8 * 8", "2"),
        "rows of pairs": line("t // 8 * 2", "16"), "nine apart": line("t // 8", "9")},
    "Which threads have no element, or leave too early?": {
        "lanes of one column below each other": line("t % 8", "8"),
        "seven apart": line("t // 8", "7"), "four apart": line("t // 8", "4")},
    "a store into `sa` takes 2 wavefronts, because lanes meet in the same banks; the target is 1.":
        {"a word behind each row": [("(64, 8)", "(64, 9)"), *line("t // 8 * 8", "1")]},
    "The sums are stored in eight neighbouring rows, and the thread has computed others.": {
        "stored as before": [("c[row + y + apart * i", "c[row + t // 8 * 8 + i")]},
    "which thread (0) of block (0) has written at line 19 with no": {
        "no barrier after the loads": [
            ("        cuda.syncthreads()\n        for z", "        for z")]},
    "writes sa[0, 0], which thread (7) of block (0) has read at line 24 with no": {
        "no barrier after the sums": [("        cuda.syncthreads()\n    for i", "    for i")]},
}  # fmt: skip
