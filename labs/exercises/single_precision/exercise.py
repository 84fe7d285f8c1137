"""The simplest product, which adds in float64 until one line is changed."""

from labs.checking.target import essential
from labs.families.product import Split, loads_per_multiply_add, matrix_product
from labs.targets.counts import (
    full_requests,
    no_float64,
    one_store_per_element,
    sectors_per_request,
)
from labs.targets.sharing import elements_per_thread

EXERCISE = matrix_product(
    Split(block=(32, 8)),
    name="single_precision",
    lesson="16",
    kind="change",
    title="No float64 in the loop",
    text=(
        "Each thread computes one element of `c`. The result is right, but the loop "
        "adds in float64. Change one line, so that it works in float32 alone.",
        "The launch is given: blocks of 32×8 threads, and one thread for each element of `c`.",
    ),
    shapes=((16, 128, 24), (9, 130, 20), (17, 19, 23), (65, 33, 70), (1, 1, 1)),
    targets=(
        one_store_per_element(), no_float64(),
        essential(full_requests()), essential(elements_per_thread(1)),
        sectors_per_request(4), essential(loads_per_multiply_add(2.1)),
    ),
    main=("operations in float64",),
    plain_goals=("the loop works in float32 alone",),
    hints=(
        "`F2F.F64.F32` converts a float32 to a float64, and `DADD` adds two float64. Which "
        "variable of the loop is a float64, if `a` and `b` are float32?",
        "A sum has one type in the whole kernel. Which line says with what number it begins?",
        "In Python `0.0` is a float64. Numba has `float32(...)` for a number of 32 bits.",
    ),
    after="One number decided the type of the sum, and the type decided the instructions.",
)  # fmt: skip
