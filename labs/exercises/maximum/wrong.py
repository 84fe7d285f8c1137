"""Wrong answers to `maximum`: what `check` says, and the changes that earn it."""

WAIT = "        cuda.syncthreads()\n"
PAD = "float32(-math.inf)"
INSIDE = "    if i < x.size:\n        shared[tid] = x[i]\n"
LOAD = f"    shared[tid] = x[i] if i < x.size else {PAD}\n"
LOADED = LOAD + "    cuda.syncthreads()\n"
KEEP = "shared[tid] = max(shared[tid], shared[tid + stride])"
STEP = f"        if tid < stride:\n            {KEEP}\n"
LOOP = f"    stride = BLOCK // 2\n    while stride > 0:\n{STEP}{WAIT}        stride //= 2\n"
STORE = "    if tid == 0:\n        largest[cuda.blockIdx.x] = shared[0]\n"
UP = [("= BLOCK // 2", "= 1"), ("stride > 0", "stride < BLOCK"), ("//= 2", "*= 2")]
SERIAL = (
    f"    if tid == 0:\n        shared[0] = {PAD}\n        for j in range(i, i + BLOCK):\n"
    "            if j < x.size:\n                shared[0] = max(shared[0], x[j])\n"
)

WRONG = {
    "The last block is partial. Its threads beyond the end of `{x}` bring a number into the tree "
    "that is larger than every element of the block.": {
        "zero beyond the end": [(PAD, "float32(0)")],
        "zero first": [(LOAD, f"    shared[tid] = float32(0)\n{INSIDE}")],
        "the smallest positive number": [(PAD, "float32(1.2e-38)")],
        "a padding that is not small enough": [(PAD, "float32(-1e9)")],
        "the lowest finite number": [(PAD, "float32(-3.4028235e38)")]},
    "`{x}[0]` belongs to block 0, but the threads beyond the end of `{x}` bring it into the tree "
    "of the last block.": {"the first element beyond the end": [(PAD, "x[0]")]},
    "No thread has an element of `{x}` for this word, and no thread stores into it. The tree reads "
    "it all the same.": {"nothing beyond the end": [(LOAD, INSIDE)]},
    "Threads without an element leave at `return` in line {return}, and nobody stores into their "
    "words. The other threads still read these words.": {
        "threads beyond the end leave": [(LOAD, f"    if i >= x.size:\n        return\n{LOAD}")],
    },
    "The last block reaches beyond the end of `{x}`. Nothing keeps this thread from loading there, "
    "or the test compares another number.": {
        "no test at the load": [(f" if i < x.size else {PAD}", "")],
        "the number of the thread in the test": [("i < x.size", "tid < x.size")]},
    "The last element of `{x}` has the number 999, and your test lets one more thread load.": {
        "one too far at the load": [("i < x.size", "i <= x.size")]},
    "Nothing makes the threads wait between line {other_line}, which stores this word, and line "
    "{line}, which reads it: it may be read before it is there.": {
        "no barrier after the load": [(LOADED, LOAD)]},
    "Nothing makes the threads wait from one iteration of line {line} to the next: this word may "
    "be read before the other thread has finished it.": {
        "no barrier in the loop": [(STEP + WAIT, STEP)]},
    "the branch `if tid < stride` of line": {"a barrier in the branch": [(WAIT, f"    {WAIT}")]},
    "In this step {thread} takes part, but the word of its partner would be beyond the end of the "
    "block. The test lets too many threads pass, or the stride is too large.": {
        "all threads compare": [(STEP, f"        {KEEP}\n")],
        "the others compare": [("tid < stride", "tid >= stride")],
        "one thread too many": [("tid < stride", "tid <= stride")],
        "a stride of the whole block": [("BLOCK // 2", "BLOCK")]},
    "Both threads are active in this step, and one takes the word of the other as its partner. "
    "Does the test allow this, or the index of the partner?": {
        "threads with a partner compare": [("tid < stride", "tid + stride < BLOCK")],
        "a partner one too near": [("[tid + stride]", "[tid + stride - 1]")],
        "always the next word": [("[tid + stride]", "[tid + 1]")],
    },
    "Elements 128 to 255 of a block take no part in the tree.": {
        "the first step is missing": [("BLOCK // 2", "BLOCK // 4")],
    },
    "Words that are 1 apart are never compared, so elements 1, 3, 5, … of a block have no effect.":
        {"the last step is missing": [("stride > 0", "stride > 1")]},
    "Words that are 64, 16, 4 or 1 apart are never compared: the stride shrinks too fast.": {
        "every second step": [("//= 2", "//= 4")],
    },
    "wait for ever": {"it never ends: no halving": [("        stride //= 2\n", "")]},
    "Only 9 elements of the block decide this number: 0, 1, 2, 4, 8, … 128. No step brings the "
    "others to word 0.": {
        "strides that grow": UP,
        "the test of the first tree": [("tid < stride", "tid % (2 * stride) == 0")],
        "elements of x in the tree": [("shared[tid + stride]", "x[i + stride]")],
    },
    "This is the smallest element of the block.": {"the smallest": [("= max(", "= min(")]},
    "This is the sum of the elements of the block.": {
        "the sum": [(KEEP, "shared[tid] += shared[tid + stride]")],
    },
    "This is the last element of the block, `{x}[255]`. No comparison has chosen it.": {
        "not compared": [(KEEP, "shared[tid] = shared[tid + stride]")],
        "the larger index": [(KEEP, "shared[tid] = shared[max(tid, tid + stride)]")],
    },
    "This is the first element of the block, `{x}[0]`. No result of a comparison reaches it.": {
        "the larger one into the upper half": [("shared[tid] = max", "shared[tid + stride] = max")],
        "its own element": [("= shared[0]", "= x[i]")],
    },
    "This is `{x}[0]` in every block: no other element is loaded.": {
        "one element for all threads": [("= x[i] if", "= x[0] if")],
    },
    "This is an index, and not the value of an element.": {
        "an index in the comparison": [(", shared[tid + stride])", ", tid + stride)")],
        "positions in the tree": [("= x[i] if", "= float32(i) if")],
    },
    "Every block has found the largest element of block 0.": {
        "the same elements in all blocks": [("= x[i] if", "= x[tid] if")],
    },
    "Only block 0 has compared its elements: in the other blocks no thread passes the test.": {
        "the number in the grid in the test": [("tid < stride", "i < stride")],
    },
    "serves 1 of 32 lanes": {"one thread does it all": [(LOADED + LOOP, SERIAL)]},
    "needs the value of `largest` before": {
        "the result compared": [("= shared[0]", "= max(largest[cuda.blockIdx.x], shared[0])")],
    },
    "256 stores for an element": {"all threads store": [("    if tid == 0:\n        l", "    l")]},
    "Either no line stores into `{largest}`, or its test lets no thread pass.": {
        "nothing stored": [(STORE, "")],
    },
    "All blocks store into `{largest}[0]`.": {
        "one element for all": [("largest[cuda.blockIdx.x]", "largest[0]")],
    },
    "There is one result per block. This index counts threads.": {
        "the number of the thread for the block": [("largest[cuda.blockIdx.x]", "largest[i]")],
    },
    "Only one thread of the whole grid stores.": {"one block stores": [("tid == 0", "i == 0")]},
    "This is the number of the thread in the grid. `{array}` holds the words of one block.": {
        "the word of the whole grid": [("shared[tid] = x", "shared[i] = x")],
    },
    "256 threads, and your `BLOCK` is 128": {"another block": [("BLOCK = 256", "BLOCK = 128")]},
}  # fmt: skip
