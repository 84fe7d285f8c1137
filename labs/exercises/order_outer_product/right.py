"""Other right answers to `order_outer_product`."""

# A word or a row more than is used changes nothing, and neither do two arrays of the same size.
_FROM = "from_a, from_b = cuda.local.array(4, float32), cuda.local.array(4, float32)"
_ZERO = "sums[e // 4, e % 4] = float32(0)"
HARMLESS = {
    f"float64 in `{_ZERO}`": "it is stored as float32",
    f"indices_exchanged in `{_ZERO}`": "all sums are set all the same",
    f"names_exchanged in `{_FROM}`": "both arrays are alike",
    "names_exchanged in `y, x = t // 8 * 4, t % 8 * 4`": "the threads share the tile otherwise",
} | {
    f"constant_one_more in `{array}`": "a spare row or word"
    for array in (
        _FROM,
        "sa = cuda.shared.array((32, 8), float32)",
        "sb = cuda.shared.array((8, 32), float32)",
        "sums = cuda.local.array((4, 4), float32)",
    )
}

RIGHT = {
    "the solution": [6, 11, 4, 2, 9, 8, 5, 1, 3],
    "the words of b first": [6, 2, 9, 11, 4, 8, 5, 1, 3],
}
