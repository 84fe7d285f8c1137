"""Wrong answers to `tree`: what `check` says, and the changes that earn it."""

WAIT = "        cuda.syncthreads()\n"
LOAD = "    shared[tid] = x[i] if i < x.size else float32(0)\n"
LOADED = LOAD + "    cuda.syncthreads()\n"
PLUS = "shared[tid] += shared[tid + stride]"
ADD = f"        if tid < stride:\n            {PLUS}\n"
HALF = "        stride = uint32(stride >> uint32(1))\n"
START = "uint32(uint32(cuda.blockDim.x) >> uint32(1))"
LOOP = f"    stride = {START}\n    while stride > 0:\n{ADD}{WAIT}{HALF}"
STORE = "    if tid == 0:\n        partials[cuda.blockIdx.x] = shared[0]\n"


def loop(start: str, test: str, body: str, step: str) -> list[tuple[str, str]]:
    """Another loop; the lines of its body stand eight spaces deep."""
    text = "".join(f"        {line}\n" for line in (*body.splitlines(), "cuda.syncthreads()", step))
    return [(LOOP, f"    stride = {start}\n    while {test}:\n{text}")]


WRONG = {
    "Thread 0 leaves at `return` in line {return}, too, before it stores the sum. Which `stride` "
    "does it meet there last?": {
        "halved before the test of the threads that leave": [(ADD + WAIT + HALF,
            f"{HALF}        if tid >= stride:\n            return\n        {PLUS}\n{WAIT}"),
            (START, "uint32(cuda.blockDim.x)")]},
    "Let a thread leave only after the barrier that follows its last store.": {
        "threads leave before the first barrier": [
            (LOADED, f"{LOAD}    if tid >= 128:\n        return\n    cuda.syncthreads()\n")],
        "threads leave after their addition": [
            (ADD, f"{ADD}        if tid > 0 and tid >= stride // 2:\n            return\n")]},
    "Nothing makes the threads wait between line {other_line}, which stores this word, and line "
    "{line}, which reads it: it may be read before it is there.": {
        "no barrier after the load": [(LOADED, LOAD)]},
    "Nothing makes the threads wait from one iteration of line {line} to the next: this word may "
    "be read before the other thread has finished it.": {
        "no barrier in the loop": [(ADD + WAIT, ADD)],
        "a barrier behind the loop": [(ADD + WAIT, ADD),
            (STORE, f"    cuda.syncthreads()\n{STORE}")],
        "the last warp without barriers": [("while stride > 0", "while stride > 32"), (STORE,
             f"    if tid < 32:\n        while stride > 0:\n            {PLUS}\n"
             f"            stride = uint32(stride >> uint32(1))\n{STORE}")]},
    "The threads pass the barrier in line {last syncthreads} only in some iterations, and in the "
    "others nothing makes them wait.": {
        "a barrier in some steps": [
            (WAIT, "        if stride > 32:\n            cuda.syncthreads()\n")]},
    "Nothing makes the threads wait between line {other_line}, which stores this word, and line "
    "{line}, which reads it": {
        "the last warp unrolled": [("while stride > 0", "while stride > 32"), (STORE,
             "    if tid < 32:\n        shared[tid] += shared[tid + 32]\n"
             "        shared[tid] += shared[tid + 16]\n        shared[tid] += shared[tid + 8]\n"
             "        shared[tid] += shared[tid + 4]\n        shared[tid] += shared[tid + 2]\n"
             f"        shared[tid] += shared[tid + 1]\n{STORE}")]},
    "`cuda.syncthreads` in line 14": {
        "barriers that are not called": [("cuda.syncthreads()", "cuda.syncthreads")]},
    "`syncwarp` in line {syncwarp} makes the 32 threads of a warp wait for each other. The block "
    "has 8 warps.": {"barriers of a warp": [("cuda.syncthreads()", "cuda.syncwarp()")]},
    "the branch `if tid < stride` of line 17": {
        "a barrier for threads that add": [(ADD + WAIT, f"{ADD}    {WAIT}")]},
    "This concerns 512 threads. Thread 128 goes 128 words further than its own number: which "
    "threads have such a partner, and how many words has the array?": {
        "all threads add": [(ADD, f"        {PLUS}\n")],
        "the others add": [("if tid < stride", "if tid >= stride")],
        "a distance in place of a test": [("if tid < stride", "if tid & stride")]},
    "Both happen in one step of the tree: threads 64 and 0 use `{tile x}[64]`, and one of them "
    "changes it. Which threads add in a step, and is there a barrier between two steps?": {
        "threads with a partner add": [("if tid < stride", "if tid + stride < BLOCK")]},
    "This concerns one thread of each block: thread 128 has no partner 128 words further. Which is "
    "the last thread that your test lets pass?": {
        "one thread too many": [("if tid < stride", "if tid <= stride")]},
    "This sum holds `{x}[256]` and nothing else. That of block 0 is right. Which number in the "
    "tree is another one in each block?": {
        "the number in the grid in the test": [("if tid < stride", "if i < stride")]},
    "This concerns 1,024 threads. Thread 0 goes 256 words further than its own number: which "
    "threads have such a partner, and how many words has the array?": {
        "the first step with the whole block": [(START, "uint32(cuda.blockDim.x)")]},
    "This sum lacks 128 of its 256 elements: `{x}[128]` to `{x}[255]`. What lies 128 apart is "
    "never added.": {"the first step is missing": [
        (START, "uint32(cuda.blockDim.x) >> uint32(2)")]},
    "This sum lacks 128 of its 256 elements: `{x}[1]`, `{x}[3]`, `{x}[5]` …. What lies 1 apart is "
    "never added.": {"the last step is missing": [("stride > 0", "stride > 1")]},
    "This sum lacks 240 of its 256 elements: `{x}[1]`, `{x}[3]`, `{x}[4]` …. What lies 1, 4, 16 "
    "and 64 apart is never added.": {"every second step": [
        (HALF, HALF.replace("(1)", "(2)"))]},
    "`while stride >= 0`": {"a turn after the last": [(START, "BLOCK // 2"),
        ("stride > 0", "stride >= 0"), (HALF, "        stride //= 2\n")]},
    "stay in this loop for ever": {"no halving": [(HALF, "")]},
    "1020 threads stay in this loop for ever": {
        "halving for threads that add": [(START, "BLOCK // 2"),
            (WAIT + HALF, f"            stride //= 2\n{WAIT}")]},
    "`{x}[4]` counts 2 times in this sum, and not once.": {
        "one less in each turn": [
            (START, "BLOCK // 2"), (HALF, "        stride -= 1\n")]},
    "`BLOCK / 2` in line 15": {"halves with a fraction": [(START, "BLOCK / 2")]},
    "`stride //= 2` in line 20 makes a number of 64 bits": {
        "halved without uint32": [(HALF, "        stride //= 2\n")]},
    "line 20, `stride /= 2` works in float64": {
        "halved with a fraction": [
            (START, "BLOCK // 2"), (HALF, "        stride /= 2\n")]},
    "line 22 `partials[cuda.blockIdx]": {"a block without its x": [("blockIdx.x]", "blockIdx]")]},
    "This sum holds `{x}[255]` and nothing else.": {
        "set and not added": [("] += shared[tid + stride]", "] = shared[tid + stride]")]},
    "This sum holds `{x}[0]` and nothing else.": {
        "added to the upper half": [(PLUS, "shared[tid + stride] += shared[tid]")]},
    "`{x}[0]` counts 256 times in this sum, and not once.": {
        "added to itself": [(PLUS, "shared[tid] += shared[tid]")]},
    "`{x}[2]` counts 2 times in this sum, and not once.": {
        "one word for all": [(PLUS, "shared[tid] += shared[stride]")]},
    "`{x}[1]` is not in this sum. Which pairs of words does each step add, and where does it leave "
    "their sums?": {"always half a block apart": [("[tid + stride]", "[tid + BLOCK // 2]")]},
    "Both happen in one step of the tree: threads 127 and 0 use `{tile x}[127]`, and one of them "
    "changes it. Which threads add in a step, and is there a barrier between two steps?": {
        "a partner one too near": [("[tid + stride]", "[tid + stride - 1]")]},
    "`{x}[1]` counts -1 times in this sum, and not once.": {
        "taken away": [("] += shared", "] -= shared")]},
    "That is the largest of its elements, and not their sum.": {
        "the largest": [(PLUS, "shared[tid] = max(shared[tid], shared[tid + stride])")]},
    "beyond the largest float": {"the product": [("] += shared", "] *= shared")]},
    "This sum lacks 247 of its 256 elements: `{x}[3]`, `{x}[5]`, `{x}[6]` …. Which pairs of words "
    "does each step add, and where does it leave their sums?": {
        "elements of x in the tree": [(PLUS, "shared[tid] += x[i + stride]")],
        "the old test with the new distances": [("if tid < stride", "if tid % (2 * stride) == 0")],
        "distances that grow": (
            loop("1", "stride < BLOCK", f"if tid < stride:\n    {PLUS}", "stride *= 2"))},
    "Both happen in one step of the tree: threads 1 and 0 use `{tile x}[1]`, and one of them "
    "changes it. Which threads add in a step, and is there a barrier between two steps?": {
        "pairs of neighbours": [(PLUS, "shared[tid] = shared[2 * tid] + shared[2 * tid + 1]")]},
    "3.92 wavefronts": {
        "the words of reduce0 by threads without gaps": loop("1", "stride < BLOCK",
            "left = 2 * stride * tid\nif left < BLOCK:\n"
            "    shared[left] += shared[left + stride]", "stride *= 2")},
    "the target is 64": {
        "reduce0": (
            loop("1", "stride < BLOCK", f"if tid % (2 * stride) == 0:\n    {PLUS}",
                 "stride *= 2"))},
    "1 of 32 lanes": {
        "one thread adds": [(LOOP, "    if tid == 0:\n        for j in range(1, BLOCK):\n"
             "            shared[0] += shared[j]\n")]},
    "1,020 atomic operations on `shared`": {
        "atomic additions": [(LOOP,
             "    if tid > 0:\n        cuda.atomic.add(shared, 0, shared[tid])\n"
             "    cuda.syncthreads()\n")]},
    "thread 0 of block 0 makes 42 loads, one after the other": {
        "one thread adds the sums of 32 columns": [(LOOP, "    if tid < 32:\n"
             "        total = float32(0)\n        for row in range(8):\n"
             "            total += shared[tid + 32 * row]\n"
             "        shared[tid] = total\n    cuda.syncthreads()\n"
             "    if tid == 0:\n        total = float32(0)\n        for j in range(32):\n"
             "            total += shared[j]\n        shared[0] = total\n")]},
    "a request to `{x}` serves 1 of 32 lanes on average": {
        "one thread loads and adds": [(LOADED + LOOP, "    if tid == 0:\n"
             "        shared[0] = float32(0)\n"
             "        for j in range(i, min(x.size, i + BLOCK)):\n"
             "            shared[0] += x[j]\n")]},
    "the target is 9": {"two barriers in a step": [(ADD + WAIT, ADD + WAIT + WAIT)]},
    "4 blocks of 256 threads reach 1,024 elements, and there are 1,000. Nothing keeps this thread "
    "from going there, or what does compares something else.": {
        "no test at the load": [(" if i < x.size else float32(0)", "")],
        "the number of the thread in the test": [("i < x.size", "tid < x.size")]},
    "That is one too far: the elements have the numbers 0 to 999. A test that lets 1000 pass has "
    "`<=` for `<`, or `>` for `>=`.": {"one too far at the load": [("i < x.size", "i <= x.size")]},
    "Thread 232 of this block has no element of `{x}`, and stores nothing. But its word is added "
    "all the same.": {
        "no zero behind the end": [(LOAD, "    if i < x.size:\n        shared[tid] = x[i]\n")]},
    "Some threads leave at `return` in line {return} before they store their word. The barrier "
    "does not wait for threads that have ended, and the tree adds the words of all threads.": {
        "threads behind the end leave": [
            (LOAD, "    if i >= x.size:\n        return\n    shared[tid] = x[i]\n")]},
    "Also where all of `{x}` is zero, `{partials}[3]` is 24: something is added that does not come "
    "from `{x}`.": {"a one behind the end": [("float32(0)", "float32(1)")]},
    "24 additions to this sum take elements from `{x}[0]` to `{x}[255]`. These belong to block 0, "
    "whose sum is `{partials}[0]`.": {"the first element behind the end": [("float32(0)", "x[0]")]},
    "256 additions to this sum take elements from `{x}[0]` to `{x}[255]`. These belong to block 0, "
    "whose sum is `{partials}[0]`.": {
        "the same elements in all blocks": [("x[i] if i", "x[tid] if i")]},
    "64 additions to this sum take elements from `{x}[256]` to `{x}[511]`. These belong to block "
    "1, whose sum is `{partials}[1]`.": {
        "the number of blocks in the index": [
            ("cuda.grid(1)", "tid * cuda.gridDim.x + cuda.blockIdx.x")]},
    "Also where all of `{x}` is zero, `{partials}[0]` is 32640: something is added that does not "
    "come from `{x}`.": {"the number and not the element": [("x[i] if", "float32(i) if")]},
    "This sum lacks 252 of its 256 elements: `{x}[4]` to `{x}[255]`. In all, 4 words of `{x}` are "
    "loaded, and it has 1,024.": {"elements of few threads": [("i < x.size", "i < partials.size")]},
    "This is the number of the thread in the whole grid. Each block has a shared array of its own, "
    "and 256 threads.": {"the word of the whole grid": [("shared[tid] = x", "shared[i] = x")]},
    "The block has 256 threads, and this array has 64 words.": {
        "a quarter of an array": [("array(BLOCK", "array(64")]},
    "`{array}` is a local array: each thread has one of its own, and sees nothing of what the "
    "others store in theirs.": {
        "an array of each thread": [("cuda.shared.array", "cuda.local.array")]},
    "must be known before the kernel runs": {
        "a size that is computed": [("array(BLOCK", "array(cuda.blockDim.x")]},
    "256 threads, and your `BLOCK` is 128": {"another block": [("BLOCK = 256", "BLOCK = 128")]},
    "works in float64": {
        "a float64 array": [("(BLOCK, float32)", "(BLOCK, float64)"),
            ("cuda, float32", "cuda, float32, float64")]},
    "stores 1,024 times for 4 elements": {
        "all threads store": [(STORE, "    partials[cuda.blockIdx.x] = shared[0]\n")]},
    "Threads 255 and 0 of the block both store there. Which thread has the sum of the "
    "whole block?": {
        "all threads store their word": [(STORE, "    partials[cuda.blockIdx.x] = shared[tid]\n")]},
    "All blocks store into `{partials}[0]`. What in your index differs from block to block?": {
        "all blocks store into one element": [("partials[cuda.blockIdx.x]", "partials[0]")]},
    "There is one sum for each block, and this launch has 4 blocks. Which block is this, and which "
    "number stands in your index?": {
        "the number of the thread for the block": [("partials[cuda.blockIdx.x]", "partials[i]")]},
    "Blocks 1, 2, 3 never store a sum, and 1 other did. Which test decides whether a "
    "thread stores?": {"one block stores": [("if tid == 0", "if i == 0")]},
    "needs the value of `partials` before anything was stored": {
        "added to the result": [("partials[cuda.blockIdx.x] =", "partials[cuda.blockIdx.x] +=")]},
    "9 stores for an element": {
        "stored in each step": [(HALF, f"{HALF}        if tid == 0:\n"
             "            partials[cuda.blockIdx.x] = shared[0]\n")]},
    "changes `x`": {"stored into x": [("partials[cuda.blockIdx.x]", "x[cuda.blockIdx.x]")]},
    "no thread ever stores into `partials`": {"nothing stored": [(STORE, "")]},
    "Is the body still to be written": {
        "empty body": "from numba import cuda\n\n\n@cuda.jit\ndef tree(x, partials):\n    pass\n"},
}  # fmt: skip
