"""Wrong answers to `shuffles`: what `check` says, and the changes that earn it."""

LOAD = "    total = x[i] if i < x.size else float32(0)\n"
ADD = "total += cuda.shfl_down_sync(0xFFFFFFFF, total, distance)"

LOOP = f"""    distance = 16
    while distance > 0:
        {ADD}
        distance //= 2
"""

KEEP = """    if tid % 32 == 0:
        of_warps[tid // 32] = total
"""
WAIT = "    cuda.syncthreads()\n"

AGAIN = """        total = of_warps[tid] if tid < WARPS else float32(0)
"""

LAST = f"""        distance = 16
        while distance > 0:
            {ADD}
            distance //= 2
"""

STORE = """        if tid == 0:
            partials[cuda.blockIdx.x] = total
"""
SECOND = "    if tid < 32:\n" + AGAIN + LAST + STORE
BODY = LOOP + KEEP + WAIT + SECOND


def first_loop(text: str) -> list[tuple[str, str]]:
    """The solution with another way to add the lanes of a warp."""
    return [(BODY, text + KEEP + WAIT + SECOND)]


def second(text: str) -> list[tuple[str, str]]:
    """The solution with another way to add the sums of the warps."""
    return [(SECOND, text)]


WRONG = {
    "reads its inputs, but no thread ever stores": {"the starter": [(BODY, "")]},
    "no thread reads or writes": {
        "empty body": [
            ("    of_warps = cuda.shared.array(WARPS, float32)\n    tid = cuda.threadIdx.x\n"
             "    i = cuda.grid(1)\n" + LOAD + BODY, "    pass\n")]},
    "Nothing makes the threads wait between line {other_line}, which stores this word, and line "
    "{line}, which reads it: it may be read before it is there.": {"no barrier": [(WAIT, "")]},
    "`syncwarp` in line {syncwarp} makes the 32 threads of a warp wait for each other. The block "
    "has 8 warps.": {"the barrier of a warp": [(WAIT, "    cuda.syncwarp()\n")]},
    "brackets are missing": {"a barrier that is not called": [(WAIT, "    cuda.syncthreads\n")]},
    "the branch `if tid < 32`": {
        "the barrier in the branch": [
            (WAIT + "    if tid < 32:\n", "    if tid < 32:\n        cuda.syncthreads()\n")]},
    "`if tid % 32 == 0`": {
        "the barrier under the store": [(KEEP + WAIT, KEEP + "        cuda.syncthreads()\n")]},
    "The mask has a bit for each lane that takes part. All 32 lanes of this warp come here, and in "
    "your mask 16 bits are set.": {"half a mask": [("0xFFFFFFFF", "0xFFFF")]},
    "The mask has a bit for each lane that takes part. All 32 lanes of this warp come here, and in "
    "your mask 1 bit is set.": {"a mask of one lane": [("0xFFFFFFFF", "1")]},
    "The mask has a bit for each lane that takes part. All 32 lanes of this warp come here, and in "
    "your mask 0 bits are set.": {"a mask of zero": [("0xFFFFFFFF", "0")]},
    "The mask has a bit for each lane that takes part. All 32 lanes of this warp come here, and in "
    "your mask 8 bits are set.": {
        "a mask of the warps": second(SECOND.replace("0xFFFFFFFF", "0xFF"))},
    "The mask has a bit for each lane that takes part. All 32 lanes of this warp come here, and in "
    "your mask 28 bits are set.": {"7 digits": [("0xFFFFFFFF", "0xFFFFFFF")]},
    "The shuffle stands under `if {branch}` of line {branch line}, and 8 of the 32 lanes of this "
    "warp come there. But the mask names 32.": {
        "eight lanes in the second": second(SECOND.replace("tid < 32", "tid < WARPS"))},
    "The shuffle stands under `if {branch}` of line {branch line}, and the lane that it reads from "
    "does not come there. This must not be, even for a sum that nobody needs: each lane must read "
    "from one that comes, too.": {
        "eight lanes with their mask, read from the ninth": second(
            SECOND.replace("tid < 32", "tid < WARPS")
            .replace("0xFFFFFFFF", "0xFF")
            .replace("16", "4"))},
    "The shuffle stands under `if {branch}` of line {branch line}, and 1 of the 32 lanes of this "
    "warp comes there. But the mask names 32.": {
        "one lane in the second": second(SECOND.replace("tid < 32", "tid == 0"))},
    "The shuffle stands under `if {branch}` of line {branch line}, and 16 of the 32 lanes of this "
    "warp come there. But the mask names 32.": {
        "lanes below the distance": first_loop(
            LOOP.replace(f"        {ADD}", f"        if tid % 32 < distance:\n            {ADD}"))},
    "The shuffle stands under `if {branch}` of line {branch line}, and lanes without an element do "
    "not come there. They hold a zero, so they can take part.": {
        "lanes without an element stay away": first_loop(
            "    if i < x.size:\n" + LAST)},
    "Some threads leave at `return` in line {return}, and lanes of their warp still read what "
    "these hold. A thread without an element must stay, with a zero.": {
        "threads without an element leave": [
            (LOAD, "    if i >= x.size:\n        return\n    total = x[i]\n")]},
    "Lanes 0 and 31 of one warp both store there, and they hold different sums. Which lane has the "
    "sum of the whole warp?": {"all lanes store": [(KEEP, "    of_warps[tid // 32] = total\n")]},
    "Lane 31 of each warp stores. After shuffles down, which lane has added all the others?": {
        "lane 31 stores": [("tid % 32 == 0", "tid % 32 == 31")]},
    "Lane 1 of each warp stores. After shuffles down, which lane has added all the others?": {
        "lane 1 stores": [("tid % 32 == 0", "tid % 32 == 1")]},
    "The sum of warp 1 is missing. Which threads does your test let store?": {
        "only thread 0 stores": [("tid % 32 == 0", "tid == 0")]},
    "Thread 0 is in warp 0, and thread 224 in warp 7. Each warp has a sum of its own, and both "
    "store it into the same word.": {
        "the lane as the index": [("of_warps[tid // 32] = total", "of_warps[tid % 32] = total")]},
    "Thread 32 is in warp 1, and goes to word 32. The array has 8 words, one for each warp.": {
        "tid as the index": [("of_warps[tid // 32] = total", "of_warps[tid] = total")]},
    "Thread 0 is in warp 0, and thread 32 in warp 1. Each warp has a sum of its own, and both "
    "store it into the same word.": {"warps of 64": [("tid // 32", "tid // 64")]},
    "Thread 128 is in warp 4, and goes to word 8. The array has 8 words, one for each warp.": {
        "warps of 16": [("tid // 32", "tid // 16"), ("tid % 32", "tid % 16")]},
    "The array has 8 words, one for each warp, and more than 8 threads come to this line. What do "
    "the others have to add?": {
        "no test for the words": [(AGAIN, "        total = of_warps[tid]\n")]},
    "The block has 8 warps, with the numbers 0 to 7, and each one sum.": {
        "32 words, all read": [("(WARPS,", "(32,"), (AGAIN, "        total = of_warps[tid]\n")]},
    "32 words of shared memory": {"32 words": [("(WARPS,", "(32,")]},
    "256 words of shared memory": {
        "a word for each thread": [("(WARPS,", "(256,")],
        "the tree": [
            (BODY,
             """    shared = cuda.shared.array(256, float32)
    shared[tid] = total
    cuda.syncthreads()
    stride = 128
    while stride > 0:
        if tid < stride:
            shared[tid] += shared[tid + stride]
        cuda.syncthreads()
        stride //= 2
    if tid == 0:
        partials[cuda.blockIdx.x] = shared[0]
"""),
        ]},
    "The block has 8 warps, and the array 7 words: warp 7 finds no place.": {
        "a word too few": [("WARPS = 8", "WARPS = 7")]},
    "The block has 8 warps, and the array 4 words: warp 4 finds no place.": {
        "four words": [("WARPS = 8", "WARPS = 4")]},
    "The sums of the warps are stored into `of_warps`, and no line reads them.": {
        "no second sum": [
            (SECOND, "    if tid == 0:\n        partials[cuda.blockIdx.x] = total\n")],
        "the words are not read": [(AGAIN, "")]},
    "`{x}[0]` counts 2 times in this sum, and not once.": {
        "the words are added to the total": [(AGAIN, AGAIN.replace("total = ", "total += "))]},
    "This sum lacks 224 of its 256 elements: `{x}[32]` to `{x}[255]`. What lies 32, 64 and 128 "
    "apart is never added.": {
        "one word alone": [
            (SECOND, "    if tid == 0:\n        partials[cuda.blockIdx.x] = of_warps[0]\n")],
        "no second shuffles": [(LAST, "")]},
    "Threads 31 and 0 of the block both store there. Which thread has the sum of the "
    "whole block?": {
        "all lanes store the sum": [(STORE, "        partials[cuda.blockIdx.x] = total\n")]},
    "Threads 255 and 0 of the block both store there. Which thread has the sum of the "
    "whole block?": {
        "all warps add": second(
            "    total = of_warps[tid % 32] if tid % 32 < WARPS else float32(0)\n"
            + LOOP
            + "    partials[cuda.blockIdx.x] = total\n")},
    "The sum of a warp is not that of its 32 lanes. Does each lane add to what it holds, and does "
    "the lane store that has added all the others?": {
        "all warps but thread 0 stores": second(
            "    total = of_warps[tid] if tid < WARPS else float32(0)\n"
            + LOOP
            + "    if tid == 31:\n        partials[cuda.blockIdx.x] = total\n"),
        "in place of adding, second": second(SECOND.replace("+=", "="))},
    "This sum lacks 128 of its 256 elements: `{x}[16]`, `{x}[17]`, `{x}[18]` …. What lies 16 apart "
    "is never added.": {"from 8 on": first_loop(LOOP.replace("16", "8"))},
    "This sum lacks 128 of its 256 elements: `{x}[1]`, `{x}[3]`, `{x}[5]` …. What lies 1 apart is "
    "never added.": {"down to 2": first_loop(LOOP.replace("> 0", "> 1"))},
    "Every element counts 2 times in `{partials}[0]`. A lane whose partner would lie beyond lane "
    "31 gets its own value back: which distances has a warp?": {
        "from 32 on": first_loop(LOOP.replace("16", "32"))},
    "Every element counts 8 times in `{partials}[0]`. A lane whose partner would lie beyond lane "
    "31 gets its own value back: which distances has a warp?": {
        "from 128 on": first_loop(LOOP.replace("16", "128"))},
    "This sum lacks 128 of its 256 elements: `{x}[128]` to `{x}[255]`. What lies 128 apart is "
    "never added.": {"second from 2 on": second(SECOND.replace("16", "2"))},
    "This sum lacks 128 of its 256 elements: `{x}[32]`, `{x}[33]`, `{x}[34]` …. What lies 32 apart "
    "is never added.": {
        "second from 4 down to 2": second(SECOND.replace("16", "4").replace("> 0", "> 1"))},
    "This sum lacks 240 of its 256 elements: `{x}[1]`, `{x}[2]`, `{x}[3]` …. What lies 1, 2, 4 and "
    "8 apart is never added.": {
        "the distance stays": (
            first_loop(LOOP.replace("        distance //= 2\n", "        break\n"))),
        "one shuffle": first_loop(f"    distance = 16\n    {ADD}\n")},
    "`while distance > 0`": {
        "never ends": first_loop(LOOP.replace("        distance //= 2\n", ""))},
    "`distance /= 2` works in float64": {"divided": first_loop(LOOP.replace("//=", "/="))},
    "`shfl_up_sync` in line {shfl_up_sync} hands a value to a lane with a higher number. Which "
    "lane has then added all the others, and which one stores?": {
        "up": [("shfl_down_sync", "shfl_up_sync")],
        "up in the first": first_loop(LOOP.replace("down", "up"))},
    "In `shfl_sync` of line {shfl_sync} the last argument is the number of a lane, and all lanes "
    "read from this one. It is no distance.": {"from one lane": [("shfl_down_sync", "shfl_sync")]},
    "Line {shfl_down_sync}: what the lane held is gone. It must be added to what comes from the "
    "other lane.": {"in place of adding": first_loop(LOOP.replace("+=", "="))},
    "`{x}[1]` counts 5 times in this sum, and not once.": {
        "always distance 1": first_loop("    for _ in range(5):\n"
            "        total += cuda.shfl_down_sync(0xFFFFFFFF, total, 1)\n")},
    "`{x}[1]` counts 31 times in this sum, and not once.": {
        "31 times distance 1 of the sum": first_loop("    for _ in range(31):\n"
            "        total += cuda.shfl_down_sync(0xFFFFFFFF, total, 1)\n")},
    "`{x}[4]` counts 2 times in this sum, and not once.": {
        "distances one after the other": (
            first_loop(f"    for d in range(1, 32):\n        {ADD}\n".replace("distance", "d")))},
    "This sum lacks 208 of its 256 elements: `{x}[3]`, `{x}[5]`, `{x}[6]` …. Which pairs of words "
    "does each step add, and where does it leave their sums?": {
        "the element is handed on, not the sum": (
            first_loop("    mine = total\n" + LOOP.replace("total, distance", "mine, distance")))},
    "Also where all of `{x}` is zero, `{partials}[0]` is 62: something is added that does not come "
    "from `{x}`.": {
        "the thread in place of the total": [
            (ADD, ADD.replace("total, distance", "tid, distance"))]},
    "three arguments, in this order: the mask": {
        "arguments exchanged": [(ADD, "total += cuda.shfl_down_sync(total, 0xFFFFFFFF, distance)")],
        "mask forgotten": [(ADD, "total += cuda.shfl_down_sync(total, distance)")]},
    "is cuda.shfl_down_sync meant?": {"the old name": [("shfl_down_sync", "shfl_down")]},
    "4 blocks of 256 threads reach 1,024 elements, and there are 1,000. Nothing keeps this thread "
    "from going there, or what does compares something else.": {
        "no zero": [(LOAD, "    total = x[i]\n")]},
    "Also where all of `{x}` is zero, `{partials}[0]` is 24: something is added that does not come "
    "from `{x}`.": {"one instead of zero": [("float32(0)", "float32(1)")]},
    "works in float64": {"float64": [("float32(0)", "0.0")]},
    "256 additions to this sum take elements from `{x}[0]` to `{x}[255]`. These belong to block 0, "
    "whose sum is `{partials}[0]`.": {"elements of the block alone": [("cuda.grid(1)", "tid")]},
    "2 barriers (source lines 20, 21); the target is 1": {
        "a barrier too many": [(WAIT, WAIT + WAIT)]},
    "All blocks store into `{partials}[0]`. What in your index differs from block to block?": {
        "thread number as index of result": [("partials[cuda.blockIdx.x]", "partials[tid]")]},
    "loaded more than once": {"reads x twice": [(ADD, ADD), (LOAD, LOAD + LOAD)]},
    "`{array}` is a local array: each thread has one of its own, and sees nothing of what the "
    "others store in theirs.": {"local": [("cuda.shared", "cuda.local")]},
    "needs the value of `partials` before": {
        "atomic": [(KEEP + WAIT + SECOND,
             KEEP.replace("of_warps[tid // 32] = total",
                          "cuda.atomic.add(partials, cuda.blockIdx.x, total)"))]},
}  # fmt: skip
