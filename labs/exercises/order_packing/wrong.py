"""Wrong answers to `order_packing`: what `check` says, and the orders that earn it."""

WRONG = {
    "Line 1 is one of the two that are too many. As the outermost loop it copies the whole": {
        "steps outside": "order_packing = [7, 1, 6, 2, 5, 3]\n",
        "line 1 last": "order_packing = [7, 4, 8, 2, 5, 3, 1]\n"},
    "Line 6 goes to the next panel after one step only": {
        "panels twice": "order_packing = [7, 4, 6, 2, 5, 3]\n"},
    "Line 8 is indented as a line of the loop over the panels": {
        "steps above the panels": "order_packing = [7, 8, 4, 2, 5, 3]\n"},
    "Line 2 uses `first` before": {"columns first": "order_packing = [7, 2, 4, 8, 5, 3]\n"},
    "Line 5 uses `at` before": {
        "no beginning": "order_packing = [4, 8, 2, 5, 3]\n",
        "the beginning last": "order_packing = [4, 8, 2, 5, 3, 7]\n"},
    "Line 3 goes on by one before": {"one too far": "order_packing = [7, 4, 8, 2, 3, 5]\n"},
    "Every element is stored at place 0, because `at` never changes.": {
        "the place does not grow": "order_packing = [7, 4, 8, 2, 5]\n",
        "a function whose place does not grow": [("                at += 1\n", "")]},
    "Line 2 ends with a colon": {"no store": "order_packing = [7, 4, 8, 2]\n"},
    "Line 4 is in your list 2 times": {
        "a line twice": "order_packing = [7, 4, 8, 2, 5, 3, 4]\n"},
    "`9` is no number of a line": {"a line too far": "order_packing = [7, 4, 8, 2, 9]\n"},
    "the check needs a list of line numbers": {"a text": "order_packing = '748253'\n"},
    "Your list is empty": {"nothing": "order_packing = []\n"},
}  # fmt: skip
