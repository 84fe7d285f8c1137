"""Wrong answers to `without_remainder`: what `check` says, and the changes that earn it."""

TEST = "tid & uint32(2 * stride - 1) == 0"
ADD = "shared[tid] += shared[tid + stride]"
LOOP = "stride = uint32(1)\n    while stride < cuda.blockDim.x"
DOUBLE = "stride = uint32(2 * stride)"
BOTH = (
    "Both happen in one step of the tree: two threads use the same word, and one of them changes "
    "it. Which threads add in this step?"
)

WRONG = {
    "divides in every iteration, and its divisor changes": {
        "the starter": [(TEST, "tid % uint32(2 * stride) == 0")],
        "a quotient": [(TEST, "tid // (2 * stride) * (2 * stride) == tid")]},
    "170 threads of block 0 add more or less often than in the given tree: thread 1 adds 7 times, "
    "and in the given tree it adds not at all.": {
        "other threads": [
            (f"if {TEST}:", "first = 2 * stride * tid\n        if first < BLOCK:"),
            (ADD, "shared[first] += shared[first + stride]")]},
    "thread 1 adds 7 times, and in the given tree it adds not at all. Let the same threads add in "
    "each step": {
        "halves": [(LOOP, "stride = uint32(cuda.blockDim.x) >> uint32(1)\n    while stride > 0"),
            (TEST, "tid < stride"), (DOUBLE, "stride = stride >> uint32(1)")]},
    "247 threads of block 0 add more or less often than in the given tree": {
        "additions that nobody needs": [(TEST, "tid & stride == 0")]},
    "makes 124 iterations per thread, and the tree has only 8 steps": {
        "repeated subtraction": [
            (f"if {TEST}:",
             "rest = tid\n        while rest >= uint32(2 * stride):\n"
             "            rest = uint32(rest - uint32(2 * stride))\n        if rest == 0:")]},
    BOTH: {
        "without the one": [(TEST, "tid & (2 * stride) == 0")],
        "all threads with a partner": [(TEST, "tid + stride < BLOCK")]},
    "Thread 255 is the last of its block, and no word lies 1 further than its own. Which threads "
    "does your test let add where `stride` is 1?": {
        "all threads": [(TEST, "True")],
        "the bits of the stride before": [(TEST, "tid & (stride - 1) == 0")]},
    "Your test lets the same threads add in each step: thread 254 is even, but it is no multiple "
    "of 4. What must change with `stride`?": {
        "a mask without the stride": [(TEST, "tid & 1 == 0")]},
    "A multiple of `2 * stride` has the remainder 0. With which number does your test compare?": {
        "the remainder one": [(TEST, "tid & uint32(2 * stride - 1) == 1")]},
    "This sum lacks": {
        "one thread": [(TEST, "tid == 0")],
        "one bit too many": [(TEST, "tid & (4 * stride - 1) == 0")],
        "half of the multiples": [(TEST, "tid & (2 * stride - 1) == 0 and tid < BLOCK // 2")]},
    "computes the index -1 of shared": {
        "the partner on the other side": [("[tid + stride]", "[tid - stride]")]},
    "stay in this loop for ever": {"no doubling": [(f"        {DOUBLE}\n", "")]},
    "Some threads of this block have no element of `{x}` and store no word. But the tree adds "
    "their words, too.": {
        "no zero beyond the end": [
            ("    shared[tid] = x[i] if i < x.size else float32(0)\n",
             "    if i < x.size:\n        shared[tid] = x[i]\n")]},
}
