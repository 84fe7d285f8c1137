"""Wrong answers to `order_outer_product`: what `check` says, and the orders that earn it."""


def order(*lines: int) -> str:
    return f"order_outer_product = {list(lines)}\n"


WRONG = {
    "Line 7 reads two words for each multiply-add": {
        "no registers": order(6, 8, 5, 7, 3),
        "both sums": order(6, 11, 4, 2, 9, 8, 5, 1, 7, 3)},
    "line 10 does nothing for it": {
        "a barrier in each step": order(6, 11, 4, 2, 9, 8, 5, 1, 10),
        "both barriers": order(6, 11, 4, 2, 9, 8, 5, 1, 10, 3)},
    "has read at line 4 with no syncthreads() between": {
        "no barrier": order(6, 11, 4, 2, 9, 8, 5, 1)},
    "has read at line 23 with no syncthreads() between": {
        "no barrier in a kernel": [("        cuda.syncthreads()\n    for e", "    for e")]},
    "Line 11 begins a loop of one step of k": {"no steps": order(11, 4, 2, 9, 8, 5, 1, 3)},
    "Line 1 multiplies the words of `a` before": {
        "no words of a": order(6, 2, 9, 8, 5, 1, 3),
        "multiplied first": order(6, 8, 5, 1, 11, 4, 2, 9, 3)},
    "Line 1 multiplies the words of `b` before": {"no words of b": order(6, 11, 4, 8, 5, 1, 3)},
    "Line 5 is above the loop over `p`": {
        "columns before rows": order(6, 11, 4, 2, 9, 5, 8, 1, 3)},
    "Line 3 ends the loop over `z`": {"the barrier first": order(3, 6, 11, 4, 2, 9, 8, 5, 1)},
    "Line 3 is in your list 2 times": {"a line twice": order(6, 11, 4, 2, 9, 8, 5, 1, 3, 3)},
    "Line 11 ends with a colon": {
        "a loop in a loop": order(6, 11, 2, 4, 9, 8, 5, 1, 3)},
}  # fmt: skip
