"""Wrong answers to `sectors`: what `check` says, and the changes that earn it."""

INDEX = "thread + j * threads"
LOOP = "for j in range(4)"

WRONG = {
    "4 words apart": {
        "the starter": [(INDEX, "4 * thread + j")],
        "backwards in each four": [(INDEX, "4 * thread + 3 - j")]},
    "All elements from 1024 on are missing: only the first fourth was stored.": {
        "one element per thread": [(INDEX, "thread")]},
    "Each thread takes neighbours of the element that the next thread takes, too: they overlap.": {
        "j apart": [(INDEX, "thread + j")]},
    "Threads of different blocks take the same elements.": {
        "steps of one block": [(INDEX, "thread + j * cuda.blockDim.x")]},
    "All threads take the same four elements.": {"no thread": [(INDEX, "j * threads")]},
    "In the last iterations some elements were missed, because each thread made fewer than four.": {
        "three iterations": [("range(4)", "range(3)")]},
    "needs the value of `out` before": {"adds": [("out[i] =", "out[i] +=")]},
    "`x` has 4,000 elements": {"no guard": [("if i < out.size", "if j < out.size")]},
    "no thread reads or writes": {"no body": [("out[i] = factor * x[i]", "pass")]},
}
