"""Submissions to `without_remainder` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.families.cheap import atomics, block_sums

TEST = "tid & uint32(2 * stride - 1) == 0"
RECIPROCAL = "tid == 2 * stride * int(float32(tid) / 2 * cuda.libdevice.frcp_rn(float32(stride)))"
LOGARITHM = (
    "tid == 2 * stride * int(float32(tid) * "
    "cuda.libdevice.exp2f(-cuda.libdevice.log2f(float32(2 * stride))))"
)

CHEAP = {
    **block_sums("without_remainder(x, partials)", "x[j]"),
    "atomics on one word": atomics("without_remainder(x, partials)", "x[j]"),
    "a product with a reciprocal": [(TEST, RECIPROCAL)],
    "a power with a negative exponent": [
        (TEST, RECIPROCAL.replace("cuda.libdevice.frcp_rn(float32(stride))", "stride ** -1.0"))
    ],
    "a difference of logarithms": [(TEST, LOGARITHM)],
    "the starter": file_beside(__file__, "starter"),
}
