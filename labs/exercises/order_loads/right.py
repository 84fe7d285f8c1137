"""Other right answers to `order_loads`."""

FIRST_A = "next_a = a[row, tx] if row < m and tx < k else float32(0)"
FIRST_B = "next_b = b[ty, col] if ty < k and col < n else float32(0)"
NEXT_A = "next_a = a[row, start + tx] if row < m and start + tx < k else float32(0)"
NEXT_B = "next_b = b[start + ty, col] if start + ty < k and col < n else float32(0)"

# What fills up one tile meets zeros of the other, and a float64 is stored as a float32.
HARMLESS = {
    f"{slip} in `{line}`": "the other tile holds zero there"
    for slip in ("constant_one_less", "constant_one_more", "float64")
    for line in (FIRST_A, FIRST_B, NEXT_A, NEXT_B)
}

RIGHT = {
    "the solution": [5, 2, 7, 3, 8, 6, 1, 10],
    "the loads before the barrier": [5, 7, 3, 8, 2, 6, 1, 10],
    "the next tile's start first": [7, 5, 10, 8, 3, 6, 1, 2],
}
