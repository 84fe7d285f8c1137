"""Wrong answers to `order_saxpy`: what `check` says, and the orders that earn it."""

WRONG = {
    "Line 3 numbers the threads of a block": {
        "the number in the block": "order_saxpy = [3, 2, 4, 1]\n"},
    "Line 6 also lets the thread pass": {"one too far": "order_saxpy = [5, 6, 4, 1]\n"},
    "Line 2 compares `i` before": {"the guard first": "order_saxpy = [2, 4, 1, 5]\n"},
    "No guard is above line 4": {"no guard": "order_saxpy = [5, 4, 1]\n"},
    "Line 1 stores `scaled` before": {"the store first": "order_saxpy = [5, 2, 1, 4]\n"},
    "no thread ever stores into `out`": {"no store": "order_saxpy = [5, 2, 4]\n"},
    "Line 2 opens a block with `:`": {"an empty guard": "order_saxpy = [5, 2]\n"},
    "Line 4 is in your list 2 times": {"a line twice": "order_saxpy = [5, 2, 4, 4, 1]\n"},
    "`7` is no number of a line": {"a line too far": "order_saxpy = [5, 2, 4, 7]\n"},
    "the check needs a list of line numbers": {"a text": "order_saxpy = '5241'\n"},
    "Your list is empty": {"nothing": "order_saxpy = []\n"},
    "Each element is `{a} * {x}[i]`": {
        "nothing added": [("scaled + y[i]", "scaled")]},
}  # fmt: skip
