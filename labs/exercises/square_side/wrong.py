"""Wrong answers to `square_side`: what `check` says, and the changes that earn it."""

SQUARE = "4 ** math.floor(math.log(threads, 4))"
ROOT = "math.isqrt(square)"

WRONG = {
    "This is the number of threads of the square. Its side is asked for.": {
        "the threads of the square": [(ROOT, "square")]},
    "This is the root of `threads`, rounded down. It need not be a power of two.": {
        "the root of the threads": [(SQUARE, "threads")]},
    "This is the root of `threads`, and it is no whole number: first comes the power of four.": {
        "the exact root": [(f"return {ROOT}", "return math.sqrt(threads)")]},
    "The square is rounded up: it has more than `threads` threads.": {
        "rounded up": [("floor", "ceil")]},
    "The nearest power of four is taken, so some squares are too large.": {
        "rounded to the nearest": [("math.floor(", "round(")]},
    "This is the largest power of two up to `threads`. Its root need not be a whole number.": {
        "a power of two": [(SQUARE, "2 ** math.floor(math.log2(threads))"), (ROOT, "square")]},
    "This is the root of a power of two. Only powers of four have such a root.": {
        "the exact root of a power of two": [(SQUARE, "2 ** math.floor(math.log2(threads))"),
            (ROOT, "math.sqrt(square)")]},
    "This is the root of a power of two, rounded down. Only powers of four have a root that is a "
    "power of two.": {
        "the root of a power of two": [(SQUARE, "2 ** math.floor(math.log2(threads))")]},
    "`math.log` with one argument has the base e, and 4 is needed.": {
        "the base e": [("math.log(threads, 4)", "math.log(threads)")]},
    "This is the exponent of the power of four. The power and its root are missing.": {
        "the logarithm": [(f"return {ROOT}", "return math.floor(math.log(threads, 4))")]},
    "Where `threads` is a power of four already, it is itself the square.": {
        "always smaller": [(SQUARE, "4 ** (math.ceil(math.log(threads, 4)) - 1)"),
            (ROOT, "square ** 0.5")]},
    "`**` is computed from right to left: this is 4 to the root of the exponent. Put brackets "
    "around the power, and take its root.": {
        "4 to the root of the exponent": [(SQUARE, "4 ** math.floor(math.log(threads, 4)) ** 0.5"),
            (ROOT, "square")]},
    "`**` is computed from right to left: this is 2 to the root of the exponent. Put brackets "
    "around the power, and take its root.": {
        "2 to the root of the exponent": [(SQUARE, "2 ** math.floor(math.log2(threads)) ** 0.5"),
            (ROOT, "square")]},
    "This is half of the square. The side is its root.": {"half": [(ROOT, "square / 2")]},
    "This is a quarter of the square. The side is its root.": {"a quarter": [(ROOT, "square / 4")]},
    "This is twice the side.": {"twice the side": [(ROOT, "2 * math.isqrt(square)")]},
    "This is the root of the root.": {"the root of the root": [(ROOT, "square ** 0.25")]},
    "This is always 16. It fits 256 to 1023 threads alone.": {"always 16": [(ROOT, "16")]},
    "This is always 32. It fits 1024 threads alone.": {"always 32": [(ROOT, "32")]},
    "is 256": {"exchanged": [("math.log(threads, 4)", "math.log(4, threads)")]},
    "ValueError": {"a negative logarithm": [("math.log(threads, 4)", "math.log(-threads, 4)")]},
    "the name `math` is not defined": {"no math": [("import math\n", "")]},
    "NumPy's `log` is not known to the check; its `ceil` is, and so is Python's `math`": {
        "from another module": [("import math\n", "import numpy as math\n")]},
    "returns nothing": {"nothing": [(f"return {ROOT}", ROOT)]},
}  # fmt: skip
