"""The exercise `tree`: each wrong kernel is refused with the words that name its cause."""

import pytest

from labs import EXERCISES, check
from labs.run import run
from tests.labs.readers import changed, mutants_of, written

NAME = "tree"
WAIT = "        cuda.syncthreads()\n"
LOAD = "    shared[tid] = x[i] if i < x.size else float32(0)\n"
LOADED = LOAD + "    cuda.syncthreads()\n"
PLUS = "shared[tid] += shared[tid + stride]"
ADD = f"        if tid < stride:\n            {PLUS}\n"
HALF = "        stride //= 2\n"
LOOP = f"    stride = BLOCK // 2\n    while stride > 0:\n{ADD}{WAIT}{HALF}"
STORE = "    if tid == 0:\n        partials[cuda.blockIdx.x] = shared[0]\n"


def loop(start: str, test: str, body: str, step: str) -> list[tuple[str, str]]:
    """Another loop; the lines of its body stand eight spaces deep."""
    text = "".join(f"        {line}\n" for line in (*body.splitlines(), "cuda.syncthreads()", step))
    return [(LOOP, f"    stride = {start}\n    while {test}:\n{text}")]


# What is wrong, the change of the solution, and words of the sentence that name the cause.
WRONG = {
    "no barrier after the load": (
        [(LOADED, LOAD)],
        ["reads shared[128]", "between line 13, which stores this word, and line 17"],
    ),
    "no barrier in the loop": (
        [(ADD + WAIT, ADD)],
        ["reads shared[64]", "from one turn of line 18 to the next"],
    ),
    "a barrier behind the loop": (
        [(ADD + WAIT, ADD), (STORE, f"    cuda.syncthreads()\n{STORE}")],
        ["from one turn of line 18 to the next"],
    ),
    "a barrier in some steps": (
        [(WAIT, "        if stride > 32:\n            cuda.syncthreads()\n")],
        ["reads shared[16]", "from one turn of line 18 to the next"],
    ),
    "the last warp without barriers": (
        [("while stride > 0", "while stride > 32"),
         (STORE, f"    if tid < 32:\n        while stride > 0:\n            {PLUS}\n"
                 f"            stride //= 2\n{STORE}")],
        ["reads shared[16]", "from one turn of line 23 to the next"],
    ),
    "barriers that are not called": (
        [("cuda.syncthreads()", "cuda.syncthreads")],
        ["`cuda.syncthreads` in line 14", "brackets are missing"],
    ),
    "barriers of a warp": (
        [("cuda.syncthreads()", "cuda.syncwarp()")],
        ["`syncwarp` in line 14", "The block has 8 warps"],
    ),
    "a barrier for threads that add": (
        [(ADD + WAIT, f"{ADD}    {WAIT}")],
        ["128 of the 256 live threads", "the branch `if tid < stride` of line 17"],
    ),
    "all threads add": (
        [(ADD, f"        {PLUS}\n")],
        ["shared[256]", "512 threads", "128 words further", "which threads have such a partner"],
    ),
    "threads with a partner add": (
        [("if tid < stride", "if tid + stride < BLOCK")],
        ["writes shared[64], which thread (0)", "in one step of the tree: threads 64 and 0"],
    ),
    "one thread too many": (
        [("if tid < stride", "if tid <= stride")],
        ["one thread of each block: thread 128", "the last thread that your test lets pass"],
    ),
    "the number in the grid in the test": (
        [("if tid < stride", "if i < stride")],
        ["holds `x[256]` and nothing else", "That of block 0 is right", "another one in each"],
    ),
    "the others add": (
        [("if tid < stride", "if tid >= stride")],
        ["thread (128)", "shared[256]", "128 words further"],
    ),
    "a distance in place of a test": (
        [("if tid < stride", "if tid & stride")],
        ["thread (128)", "shared[256]"],
    ),
    "the first step with the whole block": (
        [("BLOCK // 2", "BLOCK")],
        ["Thread 0 goes 256 words further"],
    ),
    "the first step is missing": (
        [("BLOCK // 2", "BLOCK // 4")],
        ["`x[128]` to `x[255]`", "What lies 128 apart is never added"],
    ),
    "the last step is missing": (
        [("stride > 0", "stride > 1")],
        ["lacks 128 of its 256", "`x[1]`, `x[3]`, `x[5]`", "What lies 1 apart is never added"],
    ),
    "every second step": (
        [(HALF, "        stride //= 4\n")],
        ["lacks 240 of its 256", "1, 4, 16 and 64 apart"],
    ),
    "a turn after the last": (
        [("stride > 0", "stride >= 0")],
        ["`while stride >= 0`", "wait for ever"],
    ),
    "no halving": ([(HALF, "")], ["`while stride > 0`", "the kernel has not ended"]),
    "halving for threads that add": (
        [(WAIT + HALF, f"    {HALF}{WAIT}")],
        ["`while stride > 0`", "1020 threads never leave this loop", "does not change"],
    ),
    "one less in each turn": (
        [(HALF, "        stride -= 1\n")],
        ["`x[4]` counts 2 times in this sum"],
    ),
    "halves with a fraction": (
        [("BLOCK // 2", "BLOCK / 2")],
        ["`BLOCK / 2` in line 15", "with a fraction", "there is `//`"],
    ),
    "halved with a fraction": (
        [(HALF, "        stride /= 2\n")],
        ["line 20, `stride /= 2` works in float64", "such as `2` makes", "there is `//`"],
    ),
    "a block without its x": (
        [("blockIdx.x]", "blockIdx]")],
        ["line 22 `partials[cuda.blockIdx]", "each hold three numbers"],
    ),
    "set and not added": (
        [("] += shared[tid + stride]", "] = shared[tid + stride]")],
        ["holds `x[255]` and nothing else"],
    ),
    "added to the upper half": (
        [(PLUS, "shared[tid + stride] += shared[tid]")],
        ["holds `x[0]` and nothing else"],
    ),
    "added to itself": ([(PLUS, "shared[tid] += shared[tid]")], ["`x[0]` counts 256 times"]),
    "one word for all": (
        [(PLUS, "shared[tid] += shared[stride]")],
        ["`x[2]` counts 2 times"],
    ),
    "always half a block apart": (
        [("[tid + stride]", "[tid + BLOCK // 2]")],
        ["`x[1]` is not in this sum", "Which pairs of words"],
    ),
    "a partner one too near": (
        [("[tid + stride]", "[tid + stride - 1]")],
        ["in one step of the tree: threads 127 and 0 use `shared[127]`"],
    ),
    "taken away": ([("] += shared", "] -= shared")], ["`x[1]` counts -1 times"]),
    "the largest": (
        [(PLUS, "shared[tid] = max(shared[tid], shared[tid + stride])")],
        ["the largest of its elements, and not their sum"],
    ),
    "the product": ([("] += shared", "] *= shared")], ["is inf", "beyond the largest float"]),
    "elements of x in the tree": (
        [(PLUS, "shared[tid] += x[i + stride]")],
        ["lacks 247 of its 256", "Which pairs of words"],
    ),
    "the old test with the new distances": (
        [("if tid < stride", "if tid % (2 * stride) == 0")],
        ["lacks 247 of its 256", "Which pairs of words"],
    ),
    "distances that grow": (
        loop("1", "stride < BLOCK", f"if tid < stride:\n    {PLUS}", "stride *= 2"),
        ["lacks 247 of its 256", "Which pairs of words"],
    ),
    "pairs of neighbours": (
        [(PLUS, "shared[tid] = shared[2 * tid] + shared[2 * tid + 1]")],
        ["writes shared[1], which thread (0)", "in one step of the tree"],
    ),
    "the words of reduce0 by threads without gaps": (
        loop("1", "stride < BLOCK",
             "left = 2 * stride * tid\nif left < BLOCK:\n"
             "    shared[left] += shared[left + stride]", "stride *= 2"),
        ["The result is right", "3.92 wavefronts", "Lanes 0 and 16", "32 apart", "bank 0"],
    ),
    "reduce0": (
        loop("1", "stride < BLOCK", f"if tid % (2 * stride) == 0:\n    {PLUS}", "stride *= 2"),
        ["The result is right", "150 requests", "the target is 64", "5.43 of 32 lanes"],
    ),
    "one thread adds": (
        [(LOOP, "    if tid == 0:\n        for j in range(1, BLOCK):\n"
                "            shared[0] += shared[j]\n")],
        ["The result is right", "774 requests", "1 of 32 lanes"],
    ),
    "atomic additions": (
        [(LOOP, "    if tid > 0:\n        cuda.atomic.add(shared, 0, shared[tid])\n"
                "    cuda.syncthreads()\n")],
        ["The result is right", "1,020 atomic operations on `shared`", "asks for a tree"],
    ),
    "two barriers in a step": (
        [(ADD + WAIT, ADD + WAIT + WAIT)],
        ["The result is right", "17 barriers", "the target is 9"],
    ),
    "no test at the load": (
        [(" if i < x.size else float32(0)", "")],
        ["`x[1000]`", "1,024 elements, and there are 1,000", "Nothing keeps this thread"],
    ),
    "one too far at the load": (
        [("i < x.size", "i <= x.size")],
        ["`x[1000]`", "That is one too far"],
    ),
    "the number of the thread in the test": (
        [("i < x.size", "tid < x.size")],
        ["`x[1000]`", "or what does compares something else"],
    ),
    "no zero behind the end": (
        [(LOAD, "    if i < x.size:\n        shared[tid] = x[i]\n")],
        ["which no thread has written", "Thread 232 of this block has no element of `x`"],
    ),
    "threads behind the end leave": (
        [(LOAD, "    if i >= x.size:\n        return\n    shared[tid] = x[i]\n")],
        ["`return` in line 14", "wait for all threads"],
    ),
    "a one behind the end": (
        [("float32(0)", "float32(1)")],
        ["Also where all of `x` is zero, `partials[3]` is 24"],
    ),
    "the first element behind the end": (
        [("float32(0)", "x[0]")],
        ["24 additions", "`x[0]` to `x[255]`", "belong to block 0"],
    ),
    "the same elements in all blocks": (
        [("x[i] if i", "x[tid] if i")],
        ["256 additions", "`x[0]` to `x[255]`", "whose sum is `partials[0]`"],
    ),
    "the number of blocks in the index": (
        [("cuda.grid(1)", "tid * cuda.gridDim.x + cuda.blockIdx.x")],
        ["64 additions", "belong to block 1"],
    ),
    "the number and not the element": (
        [("x[i] if", "float32(i) if")],
        ["Also where all of `x` is zero, `partials[0]` is 32640"],
    ),
    "elements of few threads": (
        [("i < x.size", "i < partials.size")],
        ["`x[4]` to `x[255]`", "4 words of `x` are loaded, and it has 1,024"],
    ),
    "the word of the whole grid": (
        [("shared[tid] = x", "shared[i] = x")],
        ["the number of the thread in the whole grid", "a shared array of its own"],
    ),
    "half an array": (
        [("array(BLOCK", "array(128")],
        ["The block has 256 threads, and this array has 128 words"],
    ),
    "an array of each thread": (
        [("cuda.shared.array", "cuda.local.array")],
        ["`shared` is a local array", "sees nothing of what the others store"],
    ),
    "a size that is computed": (
        [("array(BLOCK", "array(cuda.blockDim.x")],
        ["must be known before the kernel runs"],
    ),
    "another block": ([("BLOCK = 256", "BLOCK = 128")], ["256 threads, and your `BLOCK` is 128"]),
    "a float64 array": (
        [("(BLOCK, float32)", "(BLOCK, float64)"), ("cuda, float32", "cuda, float32, float64")],
        ["The result is right", "works in float64"],
    ),
    "all threads store": (
        [(STORE, "    partials[cuda.blockIdx.x] = shared[0]\n")],
        ["The result is right", "stores 1,024 times for 4 elements"],
    ),
    "all threads store their word": (
        [(STORE, "    partials[cuda.blockIdx.x] = shared[tid]\n")],
        ["Threads 255 and 0 of the block both store there", "the sum of the whole block"],
    ),
    "all blocks store into one element": (
        [("partials[cuda.blockIdx.x]", "partials[0]")],
        ["All blocks store into `partials[0]`", "differs from block to block"],
    ),
    "the number of the thread for the block": (
        [("partials[cuda.blockIdx.x]", "partials[i]")],
        ["`partials[256]`", "one sum for each block, and this launch has 4 blocks"],
    ),
    "one block stores": (
        [("if tid == 0", "if i == 0")],
        ["Blocks 1, 2, 3 never store a sum", "Which test decides"],
    ),
    "added to the result": (
        [("partials[cuda.blockIdx.x] =", "partials[cuda.blockIdx.x] +=")],
        ["needs the value of `partials` before anything was stored"],
    ),
    "stored in each step": (
        [(HALF, f"{HALF}        if tid == 0:\n"
                "            partials[cuda.blockIdx.x] = shared[0]\n")],
        ["The result is right", "9 stores for an element"],
    ),
    "stored into x": ([("partials[cuda.blockIdx.x]", "x[cuda.blockIdx.x]")], ["changes `x`"]),
    "nothing stored": ([(STORE, "")], ["no thread ever stores into `partials`"]),
}  # fmt: skip
# One word more is not used; 0.0 becomes a float32 in shared memory; thread 1 may store the sum.
EQUIVALENT = {
    "constant_one_more in `BLOCK = 256`",
    f"float64 in `{LOAD.strip()}`",
    "constant_one_more in `if tid == 0:`",
}
AT_ONCE = ("no barrier in the loop", "every second step", "reduce0")

RIGHT = {
    "a range": [(LOOP, f"    for step in range(8):\n        stride = 128 >> step\n{ADD}{WAIT}")],
    "the threads' own number of threads": [("stride = BLOCK //", "stride = cuda.blockDim.x //")],
    "the total in a register": [
        (LOAD, "    total = x[i] if i < x.size else float32(0)\n    shared[tid] = total\n"),
        (PLUS, "total += shared[tid + stride]\n            shared[tid] = total"),
    ],
    "a zero first": [
        (LOAD, "    shared[tid] = float32(0)\n    if i < x.size:\n        shared[tid] = x[i]\n"),
    ],
    "pairs from both ends": [("[tid + stride]", "[2 * stride - 1 - tid]")],
    "the barrier at the head of a turn": [
        (f"{ADD}{WAIT}", WAIT + ADD), (LOADED, LOAD),
        (STORE, f"    cuda.syncthreads()\n{STORE}"),
    ],
    "threads without work leave": [
        (ADD, f"        if tid >= stride:\n            return\n        {PLUS}\n"),
    ],
    "shuffles in each warp": [
        (LOOP, "    total = shared[tid]\n    for step in range(5):\n"
               "        total += cuda.shfl_down_sync(0xFFFFFFFF, total, 16 >> step)\n"
               "    cuda.syncthreads()\n    if tid % 32 == 0:\n        shared[tid // 32] = total\n"
               "    cuda.syncthreads()\n    if tid == 0:\n        for j in range(1, 8):\n"
               "            shared[0] += shared[j]\n"),
    ],
}  # fmt: skip


def slowly(names, but=()):
    """All of them, slow but for some."""
    return [pytest.param(one, marks=[] if one in but else pytest.mark.slow) for one in names]


@pytest.mark.parametrize("what", slowly(WRONG, AT_ONCE))
def test_a_wrong_kernel_is_refused_with_its_cause(what):
    changes, words = WRONG[what]
    (cause,) = check(NAME, changed(NAME, *changes)).causes
    assert [word for word in words if word not in cause] == [], cause


@pytest.mark.parametrize("what", slowly(RIGHT, ["the total in a register"]))
def test_another_right_kernel_passes(what):
    verdict = check(NAME, changed(NAME, *RIGHT[what]))
    assert verdict.passed, str(verdict)


def test_an_empty_body_is_told():
    (cause,) = check(NAME, written(NAME, "    pass\n")).causes
    assert "still to be written" in cause


@pytest.mark.slow
def test_every_small_slip_is_refused_or_changes_nothing():
    passed = {what: kernel for what, kernel in mutants_of(NAME) if check(NAME, kernel).passed}
    assert set(passed) == EQUIVALENT
    for kernel in passed.values():
        for n in (256, 255, 700):
            assert not run(EXERCISES[NAME], kernel, (n,), 20).wrong.any()
