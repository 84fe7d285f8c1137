"""Other right answers to `order_rows`."""

RIGHT = {
    "the solution": [3, 5, 6, 1, 4],
    "a kernel": [("a[row + 8 * j, i] * from_b", "from_b * a[row + 8 * j, i]")],
    "a kernel without the name": [
        ("        from_b = b[i, col]\n        for j",
         "        other = b[i, col]\n        for j"), ("* from_b", "* other")],
}  # fmt: skip

HARMLESS = {
    "float64 in `totals[j] = float32(0)`": "what is stored in a float32 array is float32",
    "constant_one_more in `totals = cuda.local.array(4, float32)`": "a fifth total is not used",
}
