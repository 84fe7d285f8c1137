"""Wrong answers to `rows_apart`: what `check` says, and the changes that earn it."""

LINE = "y, apart, x = t // 8, 8, t % 8 * 8"


def line(y: str, apart: str, x: str = "t % 8 * 8") -> list[tuple[str, str]]:
    return [(LINE, f"y, apart, x = {y}, {apart}, {x}")]


WRONG = {
    "A": {"the starter": line("t // 8 * 8", "1")},
    "B": {"only apart changed": line("t // 8 * 8", "8")},
    "C": {"only y changed": line("t // 8", "1")},
    "D": {"exchanged": line("t % 8", "8")},
    "E": {"exchanged both": line("t % 8", "8", "t // 8 * 8")},
    "F": {"two apart": line("t // 8 * 8", "2")},
    "G": {"rows of pairs": line("t // 8 * 2", "16")},
    "H": {"padding": [("(64, 8)", "(64, 9)"), (LINE, "y, apart, x = t // 8 * 8, 1, t % 8 * 8")]},
    "I": {"stored as before": [("c[row + y + apart * i", "c[row + t // 8 * 8 + i")]},
    "J": {"seven apart": line("t // 8", "7")},
    "K": {"nine apart": line("t // 8", "9")},
    "L": {"lanes down": line("t % 8 * 8", "1", "t // 8 * 8")},
    "M": {"four": line("t // 8", "4")},
    "N": {"no first barrier": [("        cuda.syncthreads()\n        for z", "        for z")]},
    "O": {"no second barrier": [("        cuda.syncthreads()\n    for i", "    for i")]},
}
