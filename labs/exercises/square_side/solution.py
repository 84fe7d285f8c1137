"""The side of a square block."""

import math


def square_side(threads):
    square = 4 ** math.floor(math.log(threads, 4))
    return math.isqrt(square)
