"""Other right answers to `order_packing`."""

RIGHT = {
    "the solution": [7, 4, 8, 2, 5, 3],
    "a function that computes the place": [
        ("panels[at] = b[p, col]\n                at += 1",
         "panels[first * k + 8 * p + col - first] = b[p, col]")],
    "a function that goes along the rows of b": [
        ("    at = 0\n    for first in range(0, n, 8):\n        for p in range(k):\n"
         "            for col in range(first, first + 8):\n"
         "                panels[at] = b[p, col]\n                at += 1\n",
         "    for p in range(k):\n        for col in range(n):\n"
         "            panels[col // 8 * 8 * k + 8 * p + col % 8] = b[p, col]\n")],
}  # fmt: skip
