"""Wrong answers to `dot`: what `check` says, and the changes that earn it."""

WAIT = "        cuda.syncthreads()\n"
ZERO = " if i < x.size else float32(0)"
INSIDE = "    if i < x.size:\n        shared[tid] = x[i] * y[i]\n"
LOAD = f"    shared[tid] = x[i] * y[i]{ZERO}\n"
LOADED = LOAD + "    cuda.syncthreads()\n"
PLUS = "shared[tid] += shared[tid + stride]"
STEP = f"        if tid < stride:\n            {PLUS}\n"
LOOP = f"    stride = BLOCK // 2\n    while stride > 0:\n{STEP}{WAIT}        stride //= 2\n"
STORE = "    if tid == 0:\n        partials[cuda.blockIdx.x] = shared[0]\n"
UP = [("= BLOCK // 2", "= 1"), ("stride > 0", "stride < BLOCK"), ("//= 2", "*= 2")]
TWO = [
    (LOAD, LOAD.replace(" * y[i]", "") + f"    other[tid] = y[i]{ZERO}\n"),
    ("    tid =", "    other = cuda.shared.array(BLOCK, float32)\n    tid ="),
]

WRONG = {
    "This is the sum of all `{x}[i] + {y}[i]` of the block. Nothing is multiplied.": {
        "added in pairs": [("x[i] * y[i]", "x[i] + y[i]")]},
    "Only one of the two inputs is in this sum: nothing is multiplied.": {
        "x alone": [("x[i] * y[i]", "x[i]")],
        "y alone": [("x[i] * y[i]", "y[i]")]},
    "This is a sum of squares: each element is multiplied by itself.": {
        "x twice": [("x[i] * y[i]", "x[i] * x[i]")],
        "y twice": [("x[i] * y[i]", "y[i] * y[i]")]},
    "Every block takes elements of block 0, from one input or from both.": {
        "y of block 0": [("* y[i]", "* y[tid]")],
        "x of block 0": [("x[i] *", "x[tid] *")],
        "both of block 0": [("x[i] * y[i]", "x[tid] * y[tid]")]},
    "All products of a block take the same element of `{y}`.": {
        "one element of y per block": [("y[i]", "y[cuda.blockIdx.x]")],
        "the sum times one element": [("* y[i]", ""), ("= shared[0]", "= shared[0] * y[i]")],
    },
    "In each product an element of `{x}` meets the next element of `{y}`: the indices differ.": {
        "the next of y": [("* y[i]", "* y[i + 1]")],
    },
    "This is the sum of `{x}` times the sum of `{y}`: the sums are multiplied, and not the "
    "elements.": {
        "multiplied after the sums": [
            *TWO, (PLUS, f"{PLUS}\n            other[tid] += other[tid + stride]"),
            ("= shared[0]", "= shared[0] * other[0]"),
        ],
    },
    "The fractions are lost: the shared array holds whole numbers.": {
        "an int32 array": [("array(BLOCK, float32)", 'array(BLOCK, "int32")')],
    },
    "beyond the largest float": {"products in the tree": [("shared[tid] +=", "shared[tid] *=")]},
    "The last block reaches beyond the end of `{array}`. Nothing keeps this thread from loading "
    "there, or the test compares another number.": {
        "no test": [(ZERO, "")],
        "the number of the thread in the test": [("i < x.size", "tid < x.size")],
        "no test for y": [("x[i] * y[i]" + ZERO, f"(x[i]{ZERO}) * y[i]")],
        "no test for x": [("x[i] * y[i]" + ZERO, f"x[i] * (y[i]{ZERO})")],
    },
    "The last element has the number 999, and your test lets one more thread load.": {
        "one too far": [("i < x.size", "i <= x.size")],
    },
    "No thread has elements for this word, and no thread stores into it. The tree adds it all the "
    "same.": {"nothing beyond the end": [(LOAD, INSIDE)]},
    "Threads without elements leave at `return` in line {return}, and nobody stores into their "
    "words. The other threads still add these words.": {
        "threads beyond the end leave": [(LOAD, f"    if i >= x.size:\n        return\n{LOAD}")],
    },
    "The last block is partial. Its threads beyond the end bring numbers into the sum.": {
        "a one beyond the end": [("float32(0)", "float32(1)")],
        "the first product beyond the end": [("float32(0)", "x[0] * y[0]")],
    },
    "Nothing makes the threads wait between line {other_line}, which stores this word, and line "
    "{line}, which reads it: it may be read before it is there.": {
        "no barrier after the load": [(LOADED, LOAD)]},
    "Nothing makes the threads wait from one iteration of line {line} to the next: this word may "
    "be read before the other thread has finished it.": {
        "no barrier in the loop": [(STEP + WAIT, STEP)],
    },
    "the branch `if tid < stride` of line": {"a barrier in the branch": [(WAIT, f"    {WAIT}")]},
    "In this step {thread} takes part, but the word of its partner would be beyond the end of the "
    "block. The test lets too many threads pass, or the stride is too large.": {
        "all threads add": [(STEP, f"        {PLUS}\n")],
        "the others add": [("tid < stride", "tid >= stride")],
        "one thread too many": [("tid < stride", "tid <= stride")],
        "a stride of the whole block": [("BLOCK // 2", "BLOCK")],
    },
    "Both threads are active in this step, and one takes the word of the other as its partner. "
    "Does the test allow this, or the index of the partner?": {
        "threads with a partner add": [("tid < stride", "tid + stride < BLOCK")],
        "a partner one too near": [("[tid + stride]", "[tid + stride - 1]")],
    },
    "The products of threads 128 to 255 are in no sum: words 128 apart are never added.": {
        "the first step is missing": [("BLOCK // 2", "BLOCK // 4")],
    },
    "The products of threads 1, 3, 5, … are in no sum: words 1 apart are never added.": {
        "the last step is missing": [("stride > 0", "stride > 1")],
    },
    "Words that are 64, 16, 4 or 1 apart are never added: the stride shrinks too fast.": {
        "every second step": [("//= 2", "//= 4")],
    },
    "Only 9 products of the block are in this sum: 0, 1, 2, 4, 8, … 128. No step brings the others "
    "to word 0.": {
        "strides that grow": UP,
        "the test of the first tree": [("tid < stride", "tid % (2 * stride) == 0")],
    },
    "Every thread has elements here, and none brings a product into the sum.": {
        "the test turned round": [("i < x.size", "i >= x.size")],
    },
    "This is the product of a single thread: no addition reaches the number that is stored.": {
        "set and not added": [("shared[tid] +=", "shared[tid] =")],
        "its own product": [("= shared[0]", "= x[i] * y[i]")],
        "no tree": [(LOOP, "")],
        "added to the upper half": [(PLUS, "shared[tid + stride] += shared[tid]")],
    },
    "works in float64": {"a factor in float64": [("* y[i]", "* y[i] * 1.0")]},
    "needs the value of `partials` before": {
        "atomic additions to the result": [
            (LOADED + LOOP + STORE, "    if i < x.size:\n"
             "        cuda.atomic.add(partials, cuda.blockIdx.x, x[i] * y[i])\n"),
        ],
        "added to the result": [("x] = shared", "x] += shared")],
    },
    "256 stores for an element": {"all threads store": [("    if tid == 0:\n        p", "    p")]},
    "Either no line stores into `{partials}`, or its test lets no thread pass.": {
        "nothing stored": [(STORE, "")],
    },
    "All blocks store into `{partials}[0]`.": {
        "one element for all": [("partials[cuda.blockIdx.x]", "partials[0]")],
    },
    "There is one result per block. This index counts threads.": {
        "the number of the thread for the block": [("partials[cuda.blockIdx.x]", "partials[i]")],
    },
    "Only one thread of the whole grid stores.": {"one block stores": [("tid == 0", "i == 0")]},
}  # fmt: skip
