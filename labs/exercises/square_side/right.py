"""Other right answers to `square_side`: changes of the solution that `check` accepts."""

from labs.exercises.square_side.wrong import ROOT, SQUARE

DOUBLED = """def square_side(threads):
    side = 1
    while (2 * side) ** 2 <= threads:
        side *= 2
    return side
"""

RIGHT = {
    "doubled": DOUBLED,
    "as a float": [(ROOT, "math.sqrt(square)")],
    "a power": [(ROOT, "square ** 0.5")],
    "as the lab writes it": [
        (SQUARE, "4 ** math.floor(math.log(threads) / math.log(4))"), (ROOT, "int(square ** 0.5)"),
    ],
    "the logarithm of the root": [
        (SQUARE, "math.log2(math.sqrt(threads))"), (ROOT, "2 ** math.floor(square)"),
    ],
}  # fmt: skip
