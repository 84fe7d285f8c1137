"""Wrong answers to `without_remainder`: what `check` says, and the changes that earn it."""

TEST = "tid & (2 * stride - 1) == 0"
ADD = "shared[tid] += shared[tid + stride]"
LOOP = "stride = 1\n    while stride < BLOCK"
BOTH = (
    "Both happen in one step of the tree: two threads use the same word, and one of them changes "
    "it. Which threads add in this step?"
)

WRONG = {
    "divides in every iteration": {
        "the starter": [(TEST, "tid % (2 * stride) == 0")],
        "a quotient": [(TEST, "tid // (2 * stride) * (2 * stride) == tid")]},
    BOTH: {
        "without the one": [(TEST, "tid & (2 * stride) == 0")],
        "the bits of the stride before": [(TEST, "tid & (stride - 1) == 0")],
        "all threads with a partner": [(TEST, "tid + stride < BLOCK")]},
    "shared has 256 elements": {"all threads": [(TEST, "True")]},
    "This sum lacks": {
        "one thread": [(TEST, "tid == 0")],
        "one bit too many": [(TEST, "tid & (4 * stride - 1) == 0")],
        "half of the multiples": [(TEST, "tid & (2 * stride - 1) == 0 and tid < BLOCK // 2")]},
    "computes the index -1 of shared": {
        "the partner on the other side": [("[tid + stride]", "[tid - stride]")]},
    "the kernel has not ended": {"no doubling": [("        stride *= 2\n", "")]},
}
