"""Wrong answers to `order_tree`: what `check` says, and the orders that earn it."""

WRONG = {
    "Line 1 reads a word that another thread has stored in line d": {
        "no barrier before the loop": "order_tree = [7, 3, 6, 1, 8, 2]\n"},
    "Nothing makes the threads wait from one iteration of line {line} to the next: this word may "
    "be read before the other thread has finished it.": {
        "no barrier in the loop": "order_tree = [5, 7, 3, 6, 1, 2]\n",
        "no barrier in the loop of a kernel": [("        cuda.syncthreads()\n        stride",
                                                "        stride")]},
    "Line 4 is a barrier in the branch of an `if`": {
        "a barrier for threads that add": "order_tree = [5, 7, 3, 6, 1, 4, 2]\n"},
    "Line 9 lets too many threads add": {
        "threads with a partner": "order_tree = [5, 7, 3, 9, 1, 8, 2]\n"},
    "Line 2 halves `stride` before any thread has added": {
        "halved first": "order_tree = [5, 7, 3, 2, 6, 1, 8]\n"},
    "Line 3 tests `stride` before": {"the loop first": "order_tree = [5, 3, 6, 1, 8, 2, 7]\n"},
    "Line 6 is above the loop": {"the test first": "order_tree = [5, 7, 6, 1, 3, 8, 2]\n"},
    "Line 3 ends with a colon": {"an empty loop": "order_tree = [5, 7, 3]\n"},
    "line 3, `while stride > 0`": {"no halving": "order_tree = [5, 7, 3, 6, 1, 8]\n"},
    "Line 5 is in your list 2 times": {
        "a line twice": "order_tree = [5, 7, 3, 6, 1, 5, 2]\n"},
    "and nothing else": {
        "no addition": [("            shared[tid] += shared[tid + stride]\n",
                         "            pass\n")]},
}  # fmt: skip
