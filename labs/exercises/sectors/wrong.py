"""Wrong answers to `sectors`: what `check` says, and the changes that earn it."""

INDEX = "thread + j * threads"
LOOP = "for j in range(4)"

WRONG = {
    "4 words apart": {
        "the starter": [(INDEX, "4 * thread + j")],
        "backwards in each four": [(INDEX, "4 * thread + 3 - j")]},
    "All elements from 1024 on are missing: only the first fourth was stored.": {
        "one element per thread": [(INDEX, "thread")]},
    "Threads 0 and 1 of block 0 both store element 1. One of them stores elements 0, 1, 2 and 3, "
    "and the other elements 1, 2, 3 and 4.": {
        "j apart": [(INDEX, "thread + j")]},
    "Thread 0 of block 0 and thread 0 of block 1 both store element 256. One of them stores "
    "elements 0, 256, 512 and 768, and the other elements 256, 512, 768 and 1024.": {
        "steps of one block": [(INDEX, "thread + j * cuda.blockDim.x")]},
    "All threads take the same four elements.": {"no thread": [(INDEX, "j * threads")]},
    "In the last iterations some elements were missed, because each thread made fewer than four.": {
        "three iterations": [("range(4)", "range(3)")]},
    "Threads 0 and 32 of block 0 both store element 32. One of them stores elements 0, 32, 64 and "
    "96, and the other elements 32, 64, 96 and 128.": {
        "steps of a warp": [(INDEX, "thread + 32 * j")]},
    "Threads 0 and 4 of block 0 both store element 4.": {
        "j and thread exchanged": [(INDEX, "4 * j + thread")]},
    "Threads 0 and 1 of block 0 both store element 0. One of them stores element 0, 4 times, and "
    "the other elements 0, 1, 2 and 3.": {"multiplied by the thread": [(INDEX, "thread * j")]},
    "Threads 0 and 1 of block 0 both store element 1024. One of them stores element 1024, 4": {
        "the grid first": [(INDEX, "threads + thread * j")]},
    "No thread stores element 4: thread 0 of block 0 stores elements 0, 1, 2 and 3, and thread 1 "
    "elements 1024, 1025, 1026 and 1027.": {
        "the thread times the grid": [(INDEX, "thread * threads + j")]},
    "No thread stores element 1024: thread 0 of block 0 stores elements 0 and 2048": {
        "steps of two grids": [(INDEX, "thread + 2 * threads * j")]},
    "The first element that a thread stores is 1024": {
        "begins with the second element": [(INDEX, "thread + (j + 1) * threads")]},
    "none comes to line 12. The test `i < out.size` of line 11 decides about that": {
        "four grids away": [(INDEX, "j + 4 * threads")]},
    "Each element is 2 times the one of `{x}`, and `{factor}` is 6.75. `{factor}` is not used": {
        "another factor": [("factor * x[i]", "2 * x[i]")]},
    "Each element is 3 times the one of `{x}`, and `{factor}` is 6.75. `{factor}` is not used": {
        "a factor of three": [("factor * x[i]", "3 * x[i]")]},
    "needs the value of `out` before": {"adds": [("out[i] =", "out[i] +=")]},
    "`x` has 4,000 elements": {"no guard": [("if i < out.size", "if j < out.size")]},
    "no thread reads or writes any array. Is the body still to be written": {
        "no body": [("out[i] = factor * x[i]", "pass")]},
}
