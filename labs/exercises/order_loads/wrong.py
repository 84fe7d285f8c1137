"""Wrong answers to `order_loads`: what `check` says, and the orders that earn it."""

WRONG = {
    "loads an element of the next tile of `a`": {
        "loaded after the multiply-adds": "order_loads = [5, 2, 6, 1, 7, 3, 8, 10]\n"},
    "loads an element of the next tile of `b`": {
        "b loaded after the multiply-adds": "order_loads = [5, 2, 7, 3, 6, 1, 8, 10]\n"},
    "Line 1 reads words that other threads have stored in line 5": {
        "no barrier above the reads": "order_loads = [5, 7, 3, 8, 6, 1, 10]\n"},
    "Line 3 loads at `start`": {
        "the loads before the next start": "order_loads = [5, 2, 3, 8, 7, 6, 1, 10]\n"},
    "Line 3 replaces the element in `next_a`": {
        "the loads before the stores": "order_loads = [7, 3, 8, 5, 2, 6, 1, 10]\n"},
    "Line 1 reads the tiles before any line has stored them": {
        "the multiply-adds first": "order_loads = [6, 1, 2, 5, 7, 3, 8, 10]\n"},
    "Line 4 is a barrier in the inner loop": {
        "a barrier for each term": "order_loads = [5, 2, 7, 3, 8, 6, 1, 4]\n"},
    "Line 9 goes on by one element": {
        "one element on": "order_loads = [5, 2, 9, 3, 8, 6, 1, 10]\n"},
    "Line 1 uses `i`": {
        "the sum above its loop": "order_loads = [5, 2, 7, 3, 8, 1, 6, 10]\n"},
    "has read at line 1 with no syncwarp() or syncthreads() between": {
        "no barrier after the reads": "order_loads = [5, 2, 7, 3, 8, 6, 1]\n",
        "both barriers above the reads": "order_loads = [5, 2, 10, 7, 3, 8, 6, 1]\n"},
    "elements of `c` are wrong": {
        "only a is loaded": "order_loads = [5, 2, 7, 3, 6, 1, 10]\n"},
    "Line 5 is in your list 2 times": {
        "a line twice": "order_loads = [5, 2, 7, 3, 8, 6, 1, 10, 5]\n"},
}  # fmt: skip
