"""Wrong answers to `add_while_loading`: what `check` says, and the changes that earn it."""

FIRST = "i = cuda.blockIdx.x * (2 * BLOCK) + tid"
LOAD = "    total = x[i] if i < x.size else float32(0)\n"
SECOND = "    if i + BLOCK < x.size:\n        total += x[i + BLOCK]\n"
PUT = "    shared[tid] = total\n"
ZERO = "    total = float32(0)\n"
START = "uint32(uint32(cuda.blockDim.x) >> uint32(1))"
TREE = (
    "        if tid < stride:\n            shared[tid] += shared[tid + stride]\n"
    "        cuda.syncthreads()\n        stride = uint32(stride >> uint32(1))\n"
)

WRONG = {
    "Thread 0 leaves at `return` in line {return}, too, before it stores the sum. Which `stride` "
    "does it meet there last?": {
        "halved before the test of the threads that leave": [(START, "uint32(cuda.blockDim.x)"),
            (TREE, "        stride = uint32(stride >> uint32(1))\n        if tid >= stride:\n"
             "            return\n        shared[tid] += shared[tid + stride]\n"
             "        cuda.syncthreads()\n")]},
    "This sum lacks 256 of its 512 elements: `{x}[256]` to `{x}[511]`. In all, 1,024 words of "
    "`{x}` are loaded, and it has 2,048.": {
        "one element": [(SECOND, "")],
        "the second in the other case": [(LOAD + SECOND,
             f"{ZERO}    if i < x.size:\n        total = x[i]\n"
             "    elif i + BLOCK < x.size:\n        total += x[i + BLOCK]\n")],
    },
    "The `if` in line 13 decides on `{x}[i]` or `float32(0) + {x}[i + BLOCK]`": {
        "a plus inside the other case": [
            (LOAD + SECOND, "    total = x[i] if i < x.size else float32(0) + x[i + BLOCK]\n")]},
    "The `if` in line 13 decides on `{x}[i] + {x}[i + BLOCK]` or `float32(0)`": {
        "the test of a whole sum": [(LOAD + SECOND,
            "    total = x[i] + x[i + BLOCK] if i + BLOCK < x.size else float32(0)\n")]},
    "256 additions to this sum take elements from `{x}[0]` to `{x}[511]`. These belong to block 0, "
    "whose sum is `{partials}[0]`.": {
        "one element for each thread of the grid": [(FIRST, "i = cuda.grid(1)")],
        "blocks too near": [("(2 * BLOCK)", "BLOCK")]},
    "2 words apart": {
        "two neighbours": [(FIRST, "i = 2 * cuda.grid(1)"),
            (SECOND, SECOND.replace("BLOCK", "1"))]},
    "128 additions to this sum take elements from `{x}[512]` to `{x}[1023]`. These belong to block "
    "1, whose sum is `{partials}[1]`.": {
        "every second thread": [("(2 * BLOCK) + tid", "(2 * BLOCK) + 2 * tid")]},
    "This sum lacks 255 of its 512 elements: `{x}[257]` to `{x}[511]`. 255 of its 512 elements "
    "count more than once, all 2 times: `{x}[1]` to `{x}[255]`.": {
        "the next element": [("i + BLOCK", "i + 1")]},
    "256 additions to this sum take elements from `{x}[512]` to `{x}[1023]`. These belong to block "
    "1, whose sum is `{partials}[1]`.": {
        "the next block's element": [("i + BLOCK", "i + 2 * BLOCK")],
        "three elements": [(LOAD + SECOND,
             f"{ZERO}    for j in range(3):\n        if i + j * BLOCK < x.size:\n"
             "            total += x[i + j * BLOCK]\n")]},
    "This sum lacks 1 of its 512 elements: `{x}[511]`. `{x}[255]` counts 2 times.": {
        "another element than the test": [("x[i + BLOCK]", "x[i + BLOCK - 1]")]},
    "This sum lacks 256 of its 512 elements: `{x}[256]` to `{x}[511]`. What lies 256 apart is "
    "never added. 256 of its 512 elements count more than once, all 2 times: `{x}[0]` to "
    "`{x}[255]`.": {"the same element again": [("total += x[i + BLOCK]", "total += x[i]")]},
    "4 blocks of 256 threads with 2 elements each reach 2,048 elements, and there are 2,000. "
    "Nothing keeps this thread from going there, or what does compares something else.": {
        "no test for the second": [(SECOND, "    total += x[i + BLOCK]\n")],
        "the first's test for both": [
            (LOAD + SECOND, f"{ZERO}    if i < x.size:\n        total = x[i] + x[i + BLOCK]\n")]},
    "2 blocks of 256 threads with 2 elements each reach 1,024 elements, and there are 513. Nothing "
    "keeps this thread from going there, or what does compares something else.": {
        "no test for the first": [(" if i < x.size else float32(0)", "")]},
    "This sum lacks 48 of its 464 elements: `{x}[1744]` to `{x}[1791]`. In all, 1,952 words of "
    "`{x}` are loaded, and it has 2,000.": {
        "the second's test for both": [(LOAD + SECOND, f"{ZERO}    if i + BLOCK < x.size:\n"
             "        total = x[i] + x[i + BLOCK]\n")]},
    "That is one too far: the elements have the numbers 0 to 1999. A test that lets 2000 pass has "
    "`<=` for `<`, or `>` for `>=`.": {
        "one too far": [("if i + BLOCK < x.size", "if i + BLOCK <= x.size")]},
    "This sum lacks 256 of its 512 elements: `{x}[0]` to `{x}[255]`. They are loaded. What becomes "
    "of them?": {"set and not added": [("total += x", "total = x")]},
    "512 additions to this sum take elements from `{x}[1024]` to `{x}[1535]`. These belong to "
    "block 2, whose sum is `{partials}[2]`.": {"blocks too far": [("(2 * BLOCK)", "(4 * BLOCK)")]},
    "This sum has 512 elements, as many as the task asks for, but other ones than `{x}[0]` to "
    "`{x}[511]`. 256 additions to this sum take elements from `{x}[1024]` to `{x}[1535]`. These "
    "belong to block 2, whose sum is `{partials}[2]`.": {
        "over the whole array": [(FIRST, "i = cuda.grid(1)"),
            ("i + BLOCK", "i + BLOCK * cuda.gridDim.x")],
        "the whole grid further": [(FIRST, "i = cuda.grid(1)"),
            ("i + BLOCK", "i + cuda.gridsize(1)")],
        "both in one line": [(FIRST, "i = cuda.grid(1)"),
            (LOAD + SECOND, "    total = float32(0)\n    if i + cuda.gridsize(1) < x.size:\n"
             "        total = x[i] + x[i + cuda.gridsize(1)]\n    elif i < x.size:\n"
             "        total = x[i]\n")]},
    "This sum lacks 256 of its 512 elements: `{x}[256]` to `{x}[511]`. What lies 256 apart is "
    "never added.": {"stored too early": [(SECOND + PUT, PUT + SECOND)]},
    "Which thread should have stored this word?": {"not stored": [(PUT, "")]},
    "Some threads of this block have no element of `{x}` and store no word. But the tree adds "
    "their words, too.": {
        "no zero beyond the end": [(LOAD + SECOND + PUT,
            "    if i < x.size:\n        shared[tid] = x[i]\n"
            "        if i + BLOCK < x.size:\n            shared[tid] += x[i + BLOCK]\n")]},
    "Which threads come to this line and have passed none that sets it?": {
        "not always set": [(LOAD, "    if i < x.size:\n        total = x[i]\n")]},
    "Some threads leave at `return` in line {return} before they store their word. The barrier "
    "does not wait for threads that have ended, and the tree adds the words of all threads.": {
        "threads without an element leave": [
            (LOAD, "    if i >= x.size:\n        return\n    total = x[i]\n")]},
    "Where all elements of `{x}` are 1 it is 256, and where all are 2 it is 1024. A sum would be "
    "twice as large.": {"the product": [("total += x", "total *= x")]},
    "`{x}[256]` counts -1 times in this sum, and not once.": {
        "taken away": [("total += x", "total -= x")]},
    "works in float64": {
        "float64": [("else float32(0)", "else 0.0")],
        "a whole number": [("else float32(0)", "else 0")]},
    "77 requests to shared memory": {
        "both in shared memory": [(LOAD + SECOND + PUT,
             "    shared[tid] = x[i] if i < x.size else float32(0)\n"
             "    shared[tid + BLOCK] = x[i + BLOCK] if i + BLOCK < x.size else float32(0)\n"),
            ("array(BLOCK", "array(512"), ("(cuda.blockDim.x) >> uint32(1)", "(cuda.blockDim.x)")]},
    "The loop of the tree is not the reason": {
        "a sum in shared memory": [(LOAD + SECOND + PUT,
             "    shared[tid] = float32(0)\n    for j in range(2):\n"
             "        if i + j * BLOCK < x.size:\n            shared[tid] += x[i + j * BLOCK]\n")]},
    "This concerns 1,024 threads. Thread 0 goes 256 words further than its own number: which "
    "threads have such a partner, and how many words has the array?": {
        "too few words": [(PUT, "    shared[tid + BLOCK] = total\n")]},
    "256 threads, and your `BLOCK` is 512": {"another block": [("BLOCK = 256", "BLOCK = 512")]},
    "the target is 9": {"one barrier more": [(PUT, f"{PUT}    cuda.syncthreads()\n")]},
}  # fmt: skip
