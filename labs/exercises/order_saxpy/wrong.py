"""Wrong answers to `order_saxpy`: what `check` says, and the orders that earn it."""

WRONG = {
    "Line 3 numbers the threads of a block": {
        "the number in the block": "order_saxpy = [3, 2, 5, 4, 1]\n"},
    "Line 7 lets the thread go on": {"one too far": "order_saxpy = [6, 7, 5, 4, 1]\n"},
    "Line 2 compares `i` before": {"the guard first": "order_saxpy = [2, 5, 6, 4, 1]\n"},
    "No guard is above line 4": {
        "no guard": "order_saxpy = [6, 4, 1]\n",
        "the guard last": "order_saxpy = [6, 4, 1, 2, 5]\n"},
    "Line 1 stores `scaled` before": {"the store first": "order_saxpy = [6, 2, 5, 1, 4]\n"},
    "no thread ever stores into `out`": {"no store": "order_saxpy = [6, 2, 5, 4]\n"},
    "The result is right, but line 3 does nothing for it": {
        "a number that is replaced": "order_saxpy = [3, 6, 2, 5, 4, 1]\n",
        "a number that is not used": "order_saxpy = [6, 2, 5, 4, 1, 3]\n"},
    "Line 2 ends with a colon": {"an empty guard": "order_saxpy = [6, 2]\n"},
    "Line 5 ends a thread without an element, and no guard is above it": {
        "a return without a test": "order_saxpy = [6, 5, 4, 1]\n"},
    "Line 4 is in your list 2 times": {"a line twice": "order_saxpy = [6, 2, 5, 4, 4, 1]\n"},
    "`8` is no number of a line": {"a line too far": "order_saxpy = [6, 2, 5, 8]\n"},
    "the check needs a list of line numbers": {"a text": "order_saxpy = '62541'\n"},
    "Your list is empty": {"nothing": "order_saxpy = []\n"},
    "Each element is `{a} * {x}[i]`": {
        "nothing added": [("scaled + y[i]", "scaled")]},
}  # fmt: skip
