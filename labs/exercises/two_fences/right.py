"""Other right answers to `two_fences`: changes of the solution that `check` accepts."""

from labs.exercises.two_fences.wrong import DRAW, FENCE, LEAVE, SECOND

RIGHT = {
    "the number in a variable": [
        (DRAW, f"    number = {DRAW[7:-7]}\n    if number == 1:\n")],
    "the second fence in both blocks": [
        (DRAW + SECOND, f"    number = {DRAW[7:-7]}\n{FENCE}    if number == 1:\n")],
    "whoever is first leaves": [
        (DRAW, f"{DRAW.replace('==', '!=')}        return\n    if True:\n")],
    "x in a variable": [(LEAVE, "    own = x[block]\n    words[block] = own\n")],
    "inc": [("atomic.add(drawn, pair, 1)", "atomic.inc(drawn, pair, 1)")],
}  # fmt: skip
