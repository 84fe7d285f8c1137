"""Wrong answers to `order_outer_product`: what `check` says, and the orders that earn it."""


def order(*lines: int) -> str:
    return f"order_outer_product = {list(lines)}\n"


WRONG = {
    "A": {"no registers": order(6, 8, 5, 7, 3)},
    "B": {"a barrier in each step": order(6, 11, 4, 2, 9, 8, 5, 1, 10)},
    "C": {"no barrier": order(6, 11, 4, 2, 9, 8, 5, 1)},
    "D": {"no loop over z": order(11, 4, 2, 9, 8, 5, 1, 3)},
    "E": {"no words of a": order(6, 2, 9, 8, 5, 1, 3)},
    "F": {"no words of b": order(6, 11, 4, 8, 5, 1, 3)},
    "G": {"multiplied first": order(6, 8, 5, 1, 11, 4, 2, 9, 3)},
    "H": {"loop over q first": order(6, 11, 4, 2, 9, 5, 8, 1, 3)},
    "I": {"barrier first": order(3, 6, 11, 4, 2, 9, 8, 5, 1)},
    "J": {"both": order(6, 11, 4, 2, 9, 8, 5, 1, 10, 3)},
    "K": {"both sums": order(6, 11, 4, 2, 9, 8, 5, 1, 7, 3)},
    "L": {"twice": order(6, 11, 4, 2, 9, 8, 5, 1, 3, 3)},
    "M": {"column inside row": order(6, 11, 2, 4, 9, 8, 5, 1, 3)},
    "N": {"no barrier in a kernel": [("        cuda.syncthreads()\n    for e", "    for e")]},
}
