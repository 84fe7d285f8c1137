"""Wrong answers to `order_by_two`: what `check` says, and the orders that earn it."""

WRONG = {
    "thread (0, 0) of block (0, 0) goes to `a[0, 21]`": {
        "an iteration begins at the last term": "order_by_two = [6, 4, 8, 3, 1, 2, 5]\n",
        "no rest, and an iteration too many": "order_by_two = [6, 4, 8, 3, 1]\n"},
    "At k = 24 every sum lacks the term i = 22": {
        "the loop ends too early": "order_by_two = [6, 9, 8, 3, 1, 2, 5]\n"},
    "At k = 21 every sum lacks the term i = 20": {
        "no rest": "order_by_two = [6, 7, 8, 3, 1]\n"},
    "threads stay in this loop for ever, because an iteration changes nothing that its condition "
    "needs: i and k.": {
        "no step": "order_by_two = [6, 7, 8, 3, 2, 5]\n",
        "the step behind the rest": "order_by_two = [6, 7, 8, 3, 2, 5, 1]\n"},
    "Line 5 adds the last term of the sum. It may run at most once": {
        "the last term always": "order_by_two = [6, 7, 8, 3, 1, 5]\n",
        "a loop for the rest": "order_by_two = [6, 7, 8, 3, 1, 4, 5]\n",
        "the last term in the loop": "order_by_two = [6, 7, 5, 3, 1, 2, 8]\n"},
    "before the second term of this iteration has been added": {
        "the step between the terms": "order_by_two = [6, 7, 8, 1, 3, 2, 5]\n",
        "the second term in the rest": "order_by_two = [6, 7, 8, 1, 2, 3]\n"},
    "before the first term of this iteration has been added": {
        "the step first": "order_by_two = [6, 7, 1, 8, 3, 2, 5]\n"},
    "Line 7 tests `i` before any line has set it": {
        "no beginning": "order_by_two = [7, 8, 3, 1, 2, 5]\n"},
    "Line 2 asks whether a term is left over, and no loop is above it": {
        "the rest first": "order_by_two = [6, 2, 5, 7, 8, 3, 1]\n"},
    "Line 8 is indented as a line of a block": {
        "a term above the loop": "order_by_two = [6, 8, 7, 3, 1, 2, 5]\n"},
    "Line 2 ends with a colon": {
        "an empty rest": "order_by_two = [6, 7, 8, 3, 1, 2]\n"},
    "Line 3 is in your list 2 times": {
        "a line twice": "order_by_two = [6, 7, 8, 3, 1, 2, 3]\n"},
}  # fmt: skip
