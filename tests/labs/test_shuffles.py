"""The exercise `shuffles`: each wrong kernel is refused with the words that name its cause."""

import pytest

from labs import EXERCISES, check
from tests.labs.readers import changed, mutants_of

NAME = "shuffles"
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


# Each lane adds what the lane below it holds; lanes without one keep what they have.
UP = "total += cuda.shfl_up_sync(0xFFFFFFFF, total, distance) * (cuda.laneid >= distance)"
# Small slips that change nothing.
HARMLESS = {
    "constant_one_more in `distance = 16`",  # the second one: lanes 8 to 31 hold zeros
    "constant_one_less in `of_warps[tid // 32] = total`",  # 224 // 31 is 7, too
    "guard_dropped in `if tid < 32:`",  # the other warps add zeros, and only thread 0 stores
}

# What is wrong, the change of the solution, and words of the sentence that name the cause.
WRONG = {
    "the starter": ([(BODY, "")], ["reads its inputs, but no thread ever stores"]),
    "empty body": (
        [
            (
                "    of_warps = cuda.shared.array(WARPS, float32)\n    tid = cuda.threadIdx.x\n"
                "    i = cuda.grid(1)\n" + LOAD + BODY,
                "    pass\n",
            )
        ],
        ["no thread reads or writes", "still to be written"],
    ),
    "no barrier": (
        [(WAIT, "")],
        ["Nothing makes the threads wait between line 19", "thread (32)", "of_warps[1]"],
    ),
    "the barrier of a warp": ([(WAIT, "    cuda.syncwarp()\n")], ["`syncwarp`", "8 warps"]),
    "a barrier that is not called": ([(WAIT, "    cuda.syncthreads\n")], ["brackets are missing"]),
    "the barrier in the branch": (
        [(WAIT + "    if tid < 32:\n", "    if tid < 32:\n        cuda.syncthreads()\n")],
        ["32 of the 256 live threads", "the branch `if tid < 32`"],
    ),
    "the barrier under the store": (
        [(KEEP + WAIT, KEEP + "        cuda.syncthreads()\n")],
        ["8 of the 256 live threads", "`if tid % 32 == 0`"],
    ),
    "half a mask": ([("0xFFFFFFFF", "0xFFFF")], ["a bit for each lane", "16 bits are set"]),
    "a mask of one lane": ([("0xFFFFFFFF", "1")], ["1 bit is set"]),
    "a mask of zero": ([("0xFFFFFFFF", "0")], ["0 bits are set"]),
    "a mask of the warps": (
        second(SECOND.replace("0xFFFFFFFF", "0xFF")),
        ["Line 25", "All 32 lanes", "8 bits are set"],
    ),
    "7 digits": ([("0xFFFFFFFF", "0xFFFFFFF")], ["28 bits are set"]),
    "eight lanes in the second": (
        second(SECOND.replace("tid < 32", "tid < WARPS")),
        ["under `if tid < WARPS` of line 21", "8 of the 32 lanes", "the mask names 32"],
    ),
    "eight lanes with their mask, read from the ninth": (
        second(
            SECOND.replace("tid < 32", "tid < WARPS")
            .replace("0xFFFFFFFF", "0xFF")
            .replace("16", "4")
        ),
        ["under `if tid < WARPS` of line 21", "does not come there", "a sum that nobody needs"],
    ),
    "one lane in the second": (
        second(SECOND.replace("tid < 32", "tid == 0")),
        ["under `if tid == 0`", "1 of the 32 lanes of this warp comes"],
    ),
    "lanes below the distance": (
        first_loop(
            LOOP.replace(f"        {ADD}", f"        if tid % 32 < distance:\n            {ADD}")
        ),
        ["under `if tid % 32 < distance`", "16 of the 32 lanes"],
    ),
    "threads without an element leave": (
        [(LOAD, "    if i >= x.size:\n        return\n    total = x[i]\n")],
        ["leave at `return` in line 14", "must stay, with a zero"],
    ),
    "all lanes store": (
        [(KEEP, "    of_warps[tid // 32] = total\n")],
        ["Lanes 0 and 31 of one warp", "Which lane has the sum of the whole warp?"],
    ),
    "lane 31 stores": (
        [("tid % 32 == 0", "tid % 32 == 31")],
        ["lane 31 of a warp stores", "After shuffles down"],
    ),
    "lane 1 stores": ([("tid % 32 == 0", "tid % 32 == 1")], ["lane 1 of a warp stores"]),
    "only thread 0 stores": (
        [("tid % 32 == 0", "tid == 0")],
        ["The sum of warp 1 is missing", "let store"],
    ),
    "the lane as the index": (
        [("of_warps[tid // 32] = total", "of_warps[tid % 32] = total")],
        ["thread 224 in warp 7", "into the same word"],
    ),
    "tid as the index": (
        [("of_warps[tid // 32] = total", "of_warps[tid] = total")],
        ["Thread 32 is in warp 1, and goes to word 32", "8 words, one for each warp"],
    ),
    "warps of 64": ([("tid // 32", "tid // 64")], ["thread 32 in warp 1", "into the same word"]),
    "warps of 16": (
        [("tid // 32", "tid // 16"), ("tid % 32", "tid % 16")],
        ["Thread 128 is in warp 4, and goes to word 8"],
    ),
    "no test for the words": (
        [(AGAIN, "        total = of_warps[tid]\n")],
        ["8 words, one for each warp", "more than 8 threads"],
    ),
    "32 words, all read": (
        [("(WARPS,", "(32,"), (AGAIN, "        total = of_warps[tid]\n")],
        ["reads of_warps[8]", "The block has 8 warps, with the numbers 0 to 7"],
    ),
    "32 words": (
        [
            ("(WARPS,", "(32,"),
        ],
        ["The result is right", "32 words of shared memory", "the target is 8"],
    ),
    "a word for each thread": ([("(WARPS,", "(256,")], ["256 words of shared memory"]),
    "a word too few": (
        [("WARPS = 8", "WARPS = 7")],
        ["8 warps, and the array 7 words: warp 7 finds no place"],
    ),
    "four words": (
        [("WARPS = 8", "WARPS = 4")],
        ["8 warps, and the array 4 words: warp 4 finds no place"],
    ),
    "no second sum": (
        [(SECOND, "    if tid == 0:\n        partials[cuda.blockIdx.x] = total\n")],
        ["15151", "stored into `of_warps`, and no line reads them"],
    ),
    "the words are not read": ([(AGAIN, "")], ["stored into `of_warps`, and no line reads them"]),
    "the words are added to the total": (
        [(AGAIN, AGAIN.replace("total = ", "total += "))],
        ["`x[0]` counts 2 times"],
    ),
    "one word alone": (
        [(SECOND, "    if tid == 0:\n        partials[cuda.blockIdx.x] = of_warps[0]\n")],
        ["lacks 224 of its 256", "32, 64 and 128 apart is never added"],
    ),
    "no second shuffles": ([(LAST, "")], ["32, 64 and 128 apart is never added"]),
    "all lanes store the sum": (
        [(STORE, "        partials[cuda.blockIdx.x] = total\n")],
        ["Threads 31 and 0 of the block both store", "sum of the whole block"],
    ),
    "all warps add": (
        second(
            "    total = of_warps[tid % 32] if tid % 32 < WARPS else float32(0)\n"
            + LOOP
            + "    partials[cuda.blockIdx.x] = total\n"
        ),
        ["Threads 255 and 0 of the block both store"],
    ),
    "all warps but thread 0 stores": (
        second(
            "    total = of_warps[tid] if tid < WARPS else float32(0)\n"
            + LOOP
            + "    if tid == 31:\n        partials[cuda.blockIdx.x] = total\n"
        ),
        ["lane 31 of a warp stores"],
    ),
    "from 8 on": (
        first_loop(LOOP.replace("16", "8")),
        ["lacks 128 of its 256", "16 apart is never added"],
    ),
    "down to 2": (first_loop(LOOP.replace("> 0", "> 1")), ["1 apart is never added"]),
    "from 32 on": (
        first_loop(LOOP.replace("16", "32")),
        ["counts 2 times", "beyond lane 31 gets its own value back"],
    ),
    "from 128 on": (first_loop(LOOP.replace("16", "128")), ["counts 8 times", "beyond lane 31"]),
    "second from 2 on": (second(SECOND.replace("16", "2")), ["128 apart is never added"]),
    "second from 4 down to 2": (
        second(SECOND.replace("16", "4").replace("> 0", "> 1")),
        ["32 apart is never added"],
    ),
    "the distance stays": (
        first_loop(LOOP.replace("        distance //= 2\n", "        break\n")),
        ["1, 2, 4 and 8 apart is never added"],
    ),
    "never ends": (
        first_loop(LOOP.replace("        distance //= 2\n", "")),
        ["`while distance > 0`", "wait for ever"],
    ),
    "divided": (first_loop(LOOP.replace("//=", "/=")), ["`distance /= 2` works in float64"]),
    "one shuffle": (
        first_loop(f"    distance = 16\n    {ADD}\n"),
        ["1, 2, 4 and 8 apart is never added"],
    ),
    "up": ([("shfl_down_sync", "shfl_up_sync")], ["`shfl_up_sync` in line 16", "higher number"]),
    "up in the first": (
        first_loop(LOOP.replace("down", "up")),
        ["`shfl_up_sync` in line 16", "which one stores"],
    ),
    "from one lane": (
        [("shfl_down_sync", "shfl_sync")],
        ["the last argument is the number of a lane", "no distance"],
    ),
    "in place of adding": (
        first_loop(LOOP.replace("+=", "=")),
        ["Line 16", "what the lane held is gone"],
    ),
    "in place of adding, second": (
        second(SECOND.replace("+=", "=")),
        ["Line 25", "what the lane held is gone"],
    ),
    "always distance 1": (
        first_loop(
            "    for _ in range(5):\n        total += cuda.shfl_down_sync(0xFFFFFFFF, total, 1)\n"
        ),
        ["`x[1]` counts 5 times"],
    ),
    "31 times distance 1 of the sum": (
        first_loop(
            "    for _ in range(31):\n        total += cuda.shfl_down_sync(0xFFFFFFFF, total, 1)\n"
        ),
        ["`x[1]` counts 31 times"],
    ),
    "distances one after the other": (
        first_loop(f"    for d in range(1, 32):\n        {ADD}\n".replace("distance", "d")),
        ["counts 2 times"],
    ),
    "the element is handed on, not the sum": (
        first_loop("    mine = total\n" + LOOP.replace("total, distance", "mine, distance")),
        ["lacks 208 of its 256"],
    ),
    "the thread in place of the total": (
        [(ADD, ADD.replace("total, distance", "tid, distance"))],
        ["does not come from `x`"],
    ),
    "arguments exchanged": (
        [(ADD, "total += cuda.shfl_down_sync(total, 0xFFFFFFFF, distance)")],
        ["three arguments, in this order: the mask"],
    ),
    "mask forgotten": (
        [(ADD, "total += cuda.shfl_down_sync(total, distance)")],
        ["three arguments, in this order: the mask"],
    ),
    "the old name": ([("shfl_down_sync", "shfl_down")], ["is cuda.shfl_down_sync meant?"]),
    "no zero": ([(LOAD, "    total = x[i]\n")], ["`x[1000]`", "Nothing keeps this thread"]),
    "one instead of zero": (
        [("float32(0)", "float32(1)")],
        ["`partials[0]` is 24", "does not come from `x`"],
    ),
    "float64": ([("float32(0)", "0.0")], ["works in float64"]),
    "elements of the block alone": ([("cuda.grid(1)", "tid")], ["belong to block 0"]),
    "a barrier too many": (
        [(WAIT, WAIT + WAIT)],
        ["2 barriers (source lines 20, 21); the target is 1"],
    ),
    "the tree": (
        [
            (
                BODY,
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
""",
            )
        ],
        ["256 words of shared memory", "the target is 8"],
    ),
    "thread number as index of result": (
        [("partials[cuda.blockIdx.x]", "partials[tid]")],
        ["All blocks store into `partials[0]`"],
    ),
    "reads x twice": (
        [
            (ADD, ADD),
            (
                LOAD,
                LOAD + LOAD,
            ),
        ],
        ["loaded more than once"],
    ),
    "local": ([("cuda.shared", "cuda.local")], ["`of_warps` is a local array"]),
    "atomic": (
        [
            (
                KEEP + WAIT + SECOND,
                KEEP.replace(
                    "of_warps[tid // 32] = total",
                    "cuda.atomic.add(partials, cuda.blockIdx.x, total)",
                ),
            )
        ],
        ["needs the value of `partials` before"],
    ),
}


RIGHT = {
    "xor": [("shfl_down_sync", "shfl_xor_sync")],
    "ascending": first_loop(
        f"    distance = 1\n    while distance < 32:\n        {ADD}\n        distance *= 2\n"
    ),
    "by a range": first_loop(
        f"    for step in range(5):\n        {ADD}\n".replace("distance", "16 >> step")
    ),
    "written out": first_loop(
        "".join(f"    {ADD}\n".replace("distance", str(d)) for d in (16, 8, 4, 2, 1))
    ),
    "three shuffles in the second": second(SECOND.replace("16", "4")),
    "eight lanes with their mask, by xor": second(
        SECOND.replace("tid < 32", "tid < WARPS")
        .replace("0xFFFFFFFF", "0xFF")
        .replace("16", "4")
        .replace("down", "xor")
    ),
    "thread 0 adds the words": second(
        "    if tid == 0:\n        total = float32(0)\n        for warp in range(WARPS):\n"
        "            total += of_warps[warp]\n        partials[cuda.blockIdx.x] = total\n"
    ),
    "every warp adds, thread 0 stores": second(
        "    total = of_warps[tid % 32] if tid % 32 < WARPS else float32(0)\n"
        f"{LOOP}    if tid == 0:\n        partials[cuda.blockIdx.x] = total\n"
    ),
    "warp 7 adds": second(
        SECOND.replace("tid < 32", "tid >= 224")
        .replace("of_warps[tid] if tid < WARPS", "of_warps[tid - 224] if tid - 224 < WARPS")
        .replace("tid == 0", "tid == 224")
    ),
    "minus one as the mask": [("0xFFFFFFFF", "-1")],
    "the number of the lane": [("tid % 32", "cuda.laneid")],
    "upwards, and the last lane stores": [
        ("shfl_down_sync", "shfl_up_sync"),
        ("total += cuda.shfl_up_sync(0xFFFFFFFF, total, distance)", UP),
        ("tid % 32 == 0", "tid % 32 == 31"),
        ("tid == 0", "tid == 31"),
    ],
}

# The most important sentences; the others are read with the slow tests.
FIRST = ("no barrier", "eight lanes in the second", "all lanes store")


@pytest.mark.parametrize(
    "what", [pytest.param(what, marks=[pytest.mark.slow] * (what not in FIRST)) for what in WRONG]
)
def test_a_wrong_kernel_is_refused_with_its_cause(what):
    changes, words = WRONG[what]
    (cause,) = check(NAME, changed(NAME, *changes)).causes
    assert [word for word in words if word not in cause] == [], cause


@pytest.mark.slow
@pytest.mark.parametrize("what", RIGHT)
def test_another_right_kernel_passes(what):
    verdict = check(NAME, changed(NAME, *RIGHT[what]))
    assert verdict.passed, str(verdict)


@pytest.mark.slow
def test_every_small_slip_is_refused():
    passed = {what for what, kernel in mutants_of(NAME) if check(NAME, kernel).passed}
    assert passed == HARMLESS


def test_the_starter_is_refused_and_the_solution_has_a_word_for_each_warp_and_one_barrier():
    assert not check(NAME, EXERCISES[NAME].starter).passed
    verdict = check(NAME, EXERCISES[NAME].solution)
    assert verdict.passed
    assert verdict.counts["words of shared memory"] == 8
    assert verdict.counts["barriers per block"] == 1
