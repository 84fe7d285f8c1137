"""Wrong answers to `order_rows`: what `check` says, and the orders that earn it."""

LOAD = "        from_b = b[i, col]\n"

WRONG = {
    "Line 2 is in the loop over `j`": {
        "a load for each row": "order_rows = [3, 6, 2, 1, 4]\n",
        "both loads": "order_rows = [3, 5, 6, 2, 1, 4]\n"},
    "Line 7 is above the loop over `i`": {
        "one load for all": "order_rows = [7, 3, 6, 1, 4]\n"},
    "Line 5 uses `i` before": {"the load first": "order_rows = [5, 3, 6, 1, 4]\n"},
    "Line 6 is indented as a line of the loop": {
        "the rows first": "order_rows = [6, 3, 5, 1, 4]\n"},
    "Line 1 uses the `j` of the loop above": {
        "no loop over the rows": "order_rows = [3, 5, 1, 4]\n"},
    "Line 4 adds before": {"no load": "order_rows = [3, 6, 1, 4]\n"},
    "No test is above line 4": {"no test of the rows": "order_rows = [3, 5, 6, 4]\n"},
    "Line 3 ends with a colon": {"an empty loop": "order_rows = [3]\n"},
    "Line 5 is in your list 2 times": {"a line twice": "order_rows = [3, 5, 6, 5, 1, 4]\n"},
    "a multiply-add costs 2 loads": {
        "a load for each row in a kernel": [("* from_b", "* b[i, col]"), (LOAD, "")]},
}  # fmt: skip
