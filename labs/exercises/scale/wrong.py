"""Wrong answers to `scale`: what `check` says, and the changes that earn it."""

INDEX = "cuda.grid(1)"
TEST = "i < out.size"
STORE = "out[i] = factor * x[i]"
BODY = f"    i = {INDEX}\n    if {TEST}:\n        {STORE}\n"

WRONG = {
    "no thread reads or writes any array. Is the body still to be written": {
        "empty body": [(BODY, "    pass\n")]},
    "no thread reads or writes any array: none comes to line 10. The test `i > out.size` of line 9 "
    "decides about that. For which threads is it true?": {"> for <": [(TEST, "i > out.size")]},
    "none comes to line 13. Do all threads return before it?": {
        "all leave": [(BODY, f"    i = {INDEX}\n    if i < out.size:\n        return\n"
             f"    if i >= out.size:\n        return\n    {STORE}\n")]},
    "The launch has whole blocks of 256 threads: 1024 threads for 1,000 elements. The last 24 have "
    "no element. Nothing in your kernel keeps them away.": {
        "no test": [(BODY, f"    i = {INDEX}\n    {STORE}\n")]},
    "That is one too far: the elements have the numbers 0 to 999. A test that lets 1000 pass has "
    "`<=` for `<`, or `>` for `>=`.": {"<= for <": [(TEST, "i <= out.size")]},
    "The launch has whole blocks of 256 threads: 1024 threads for 1,000 elements. The last 24 have "
    "no element. Your test `{branch}` lets them pass. What does it compare, and with what?": {
        "tests the whole grid": [(TEST, "i < cuda.gridsize(1)")],
        "tests the number of the first length": [(TEST, "i < 1024")],
        "tests the number in the block": [(TEST, "cuda.threadIdx.x < out.size")]},
    "Only the 256 threads of block 0 store. Does a test stop the other blocks, or is their index "
    "too large?": {
        "tests 256": [(TEST, "i < 256")],
        "the block times 1024": [(INDEX, "cuda.blockIdx.x * 1024 + cuda.threadIdx.x")]},
    "All elements from 1000 on are missing, and `i < 1000` in line 9 compares with this number. "
    "Arrays have other lengths, too: which length does `out` have?": {
        "tests the number of the lesson": [(TEST, "i < 1000")]},
    "All elements from 512 on are missing. Which test or loop ends there?": {
        "tests half": [(TEST, "i < out.size // 2")]},
    "This line does not stand in your `if`, so threads without an element execute it, too.": {
        "tests only the store": [(BODY,
             f"    i = {INDEX}\n    value = factor * x[i]\n    if {TEST}:\n"
             "        out[i] = value\n")]},
    "The threads that come to `else` are those that have no element.": {
        "stores for the others, too": [(STORE, f"{STORE}\n    else:\n        out[i] = 0")]},
    "The last element, n - 1 = 1023, is inside: a test stops its thread.": {
        "leaves before the last element": [
            (BODY, f"    i = {INDEX}\n    if i >= out.size - 1:\n        return\n    {STORE}\n")]},
    "Only element 0 is missing: its thread is stopped, or stores another one.": {
        "leaves out the first element": [(TEST, f"0 < {TEST}")]},
    "The elements 1, 3, 5 … are missing: their threads are stopped, or store other ones.": {
        "every second element": [(TEST, f"{TEST} and i % 2 == 0")]},
    "Block 1 stores the same elements as block 0: `threadIdx.x` begins again at 0 in every block. "
    "The number of the block is missing in your index.": {
        "the thread alone": [(INDEX, "cuda.threadIdx.x")]},
    "All 256 threads of block 0 store the same element, 0, and those of block 1 element 1. The "
    "number of the thread is missing in your index.": {
        "the block alone": [(INDEX, "cuda.blockIdx.x")]},
    "All threads store the same element, 0. What in your index differs from thread to thread?": {
        "no number at all": [(INDEX, "0")],
        "y of two dimensions": [("i = cuda.grid(1)", "j, i = cuda.grid(2)")]},
    "Block 0 stores 256 elements, and block 1 starts 1 further: they overlap. What is the number "
    "of the block multiplied with?": {
        "the block not multiplied": [(INDEX, "cuda.blockIdx.x + cuda.threadIdx.x")]},
    "Block 0 stores 256 elements, and block 1 starts 128 further: they overlap. What is the number "
    "of the block multiplied with?": {
        "the block times 128": [(INDEX, "cuda.blockIdx.x * 128 + cuda.threadIdx.x")]},
    "Block 0 stores 256 elements, and block 1 starts 512 further: a gap is left between them. What "
    "is the number of the block multiplied with?": {
        "the block times 512": [(INDEX, "cuda.blockIdx.x * 512 + cuda.threadIdx.x")]},
    "All elements from 768 on are missing: those of the last block, which is not full.": {
        "full blocks alone": [(TEST, "i < out.size // 256 * 256")]},
    "Block 0 stores 256 elements, and block 1 starts 4 further: they overlap. 4 is `gridDim.x`, "
    "the number of blocks; `blockDim.x` is the number of threads in a block.": {
        "gridDim for blockDim": [(INDEX, "cuda.blockIdx.x * cuda.gridDim.x + cuda.threadIdx.x")]},
    "Threads 0 and 1 of a block store elements that lie 256 apart, and nobody stores those between "
    "them. What is the number of the thread multiplied with?": {
        "block and thread exchanged": [
            (INDEX, "cuda.threadIdx.x * cuda.blockDim.x + cuda.blockIdx.x")]},
    "Threads 0 and 1 of a block store elements that lie 4 apart, and nobody stores those between "
    "them. What is the number of the thread multiplied with?": {
        "every fourth element": [(INDEX, "cuda.grid(1) * 4")]},
    "`cuda.grid(2)` gives several numbers": {"two dimensions": [(INDEX, "cuda.grid(2)")]},
    "All 256 threads of block 0 store the same element, 0, and those of block 1 element 256. The "
    "number of the thread is missing in your index.": {
        "y of the thread": [(INDEX, "cuda.blockIdx.x * 256 + cuda.threadIdx.y")]},
    "from the end": {"one thread before the first": [(INDEX, "cuda.grid(1) - 1")]},
    "one dimension": {"a shape for a length": [("out.size", "out.shape")]},
    "hold three numbers, `x`, `y` and `z`": {
        "threadIdx without x": [(INDEX, "cuda.blockIdx * 256 + cuda.threadIdx")]},
    "works on one element": {"as in NumPy": [(BODY, "    out[:] = factor * x\n")]},
    "Line 10 only gives the name `{result}` to another value. To store into the array, write an "
    "element of it on the left: `{result}[…]`.": {
        "gives the name to the product": [(STORE, "out = factor * x[i]")]},
    "without a number of dimensions (for one: cuda.grid(1))": {
        "grid without a number": [(INDEX, "cuda.grid()")]},
    "a kernel returns nothing": {"returns the result": [(STORE, "return factor * x[i]")]},
    "changes `x`, which is an input": {
        "changes x": [(STORE, "x[i] = factor * x[i]")],
        "changes x and copies it": [(STORE, "x[i] *= factor\n        out[i] = x[i]")]},
    "needs the value of `out` before anything was stored": {
        "adds up in out": [(STORE, "out[i] += factor * x[i]")]},
    "Each element is `{factor} + {x}[i]`: they are added, and not multiplied.": {
        "adds": [(STORE, "out[i] = factor + x[i]")]},
    "Each element is `{x}[i] - {factor}`, and not their product.": {
        "takes away": [(STORE, "out[i] = x[i] - factor")]},
    "Each element is divided by `{factor}`.": {"divides": [(STORE, "out[i] = x[i] / factor")]},
    "Each element is multiplied with `{factor}` twice.": {
        "factor twice": [(STORE, "out[i] = factor * factor * x[i]")]},
    "Each element is the one of `{x}`: `{factor}` is not in the result.": {
        "no factor": [(STORE, "out[i] = x[i]")]},
    "Each element is `{factor}` alone: nothing of `{x}` is in the result.": {
        "factor alone": [(STORE, "out[i] = factor")]},
    "Each element is 2 times the one of `{x}`, and `{factor}` is 10.25. `{factor}` is not used: "
    "with another value of it the result is the same.": {
        "a whole number for the factor": [(STORE, "out[i] = x[i] * 2")],
        "another factor": [(STORE, "out[i] = float32(2) * x[i]"),
            ("import cuda", "import cuda, float32")]},
    "Each element is 10 times the one of `{x}`, and `{factor}` is 10.25.": {
        "the factor cut to a whole number": [(STORE, "out[i] = int(factor) * x[i]")]},
    "Each element is 2.5 times the one of `{x}`, and `{factor}` is 10.25. `{factor}` is not used": {
        "the factor as a number": [(STORE, "out[i] = float32(2.5) * x[i]"),
            ("import cuda", "import cuda, float32")]},
    "`{factor}` is not used: with another value of it the result is the same.": {
        "the square root": [(STORE, "out[i] = math.sqrt(abs(x[i]))"),
            ("from numba", "import math\n\nfrom numba")]},
    "The result is that of `abs({x}[i])`: negative elements have lost their sign.": {
        "the absolute value": [(STORE, "out[i] = abs(x[i]) * factor")]},
    "The result is that of `int({x}[i])`: the fraction of each element is cut off.": {
        "a whole number": [(STORE, "out[i] = float32(int(x[i])) * factor"),
            ("import cuda", "import cuda, float32")],
        "a whole number in float64": [(STORE, "out[i] = factor * int(x[i])")]},
    "Each element is `{x}[i] * {x}[i]`: `{factor}` is not in the result.": {
        "the square": [(STORE, "out[i] = x[i] * x[i]")]},
    "Each element is `{factor} * i`: the number of the element is scaled, and not `{x}[i]`.": {
        "scales the number of the element": [(STORE, "out[i] = factor * i")]},
    "Every element has the wrong sign.": {"the wrong sign": [(STORE, "out[i] = -factor * x[i]")]},
    "the index -1 of x": {"the element before": [(STORE, "out[i] = factor * x[i - 1]")]},
    "Each element holds the result of the element before it.": {
        "the element before, or the first": [(STORE, "out[i] = factor * x[max(i - 1, 0)]")]},
    "The element of this thread is 1023, and the line goes to the one behind it.": {
        "the element behind": [(STORE, "out[i] = factor * x[i + 1]")],
        "stores into the element behind": [(STORE, "out[i + 1] = factor * x[i]")]},
    "The result stands in reverse order.": {
        "backwards": [(STORE, "out[i] = factor * x[x.size - 1 - i]")]},
    "All elements of the result are alike. Which element does each thread read?": {
        "always the first element": [(STORE, "out[i] = factor * x[0]")]},
    "works in float64": {
        "float64": [(STORE, "out[i] = 1.0 * factor * x[i]")],
        "float64 by a whole number": [(STORE, "out[i] = factor * x[i] * 2 / 2")]},
    "the target is 4": {
        "the number of the block last": [
            (INDEX, "cuda.threadIdx.x * cuda.gridDim.x + cuda.blockIdx.x")]},
    "Threads 1 and 2 of block 0 both store element 0. One of them stores element 0, and the other "
    "elements 0 and 1.": {
        "all elements before": [(BODY,
             f"    for i in range({INDEX}):\n        {STORE}\n")]},
    "4 words apart": {
        "four neighbours for each thread": [(BODY,
             "    first = 4 * cuda.grid(1)\n    for i in range(first, first + 4):\n"
             f"        if {TEST}:\n            {STORE}\n")]},
    "stores 1,048,576 times for 1,024 elements of `out`. That is 1,024 stores for an element.": {
        "all elements in each thread": [
            (BODY, f"    for i in range(out.size):\n        {STORE}\n")]},
    "only 1 of 32 lanes work": {
        "all elements in one thread": [(BODY,
             f"    if {INDEX} == 0:\n        for i in range(out.size):\n            {STORE}\n")]},
    "2 stores for an element": {"stores twice": [(STORE, f"{STORE}\n        {STORE}")]},
    "`while i < out.size`": {"never ends": [(f"if {TEST}", f"while {TEST}")]},
    "a kernel has no `try`, because nothing catches an error on a GPU. Test with `if`": {
        "an error caught": [(BODY, f"    i = {INDEX}\n    try:\n        {STORE}\n"
             "    except IndexError:\n        pass\n")]},
    "the name y is not defined": {"a name that is not defined": [("* x[i]", "* y[i]")]},
}  # fmt: skip
