"""The exercise `ticket`: each wrong kernel is refused with the words that name its cause."""

import pytest

from labs import EXERCISES, check
from tests.labs.readers import changed, mutants_of

NAME = "ticket"
FIRST = "    if cuda.threadIdx.x == 0:\n"
STORE = "        partials[cuda.blockIdx.x] = total\n"
FENCE = "        cuda.threadfence()\n"
DRAW = "        number[0] = cuda.atomic.add(drawn, 0, 1)\n"
TICKET = FIRST + STORE + FENCE + DRAW
WAIT = "    cuda.syncthreads()\n    if number"
TEST = "if number[0] == cuda.gridDim.x - 1:"
ZERO = "        total = float32(0)\n"
LOOP = "        for j in range(cuda.threadIdx.x, partials.size, BLOCK):\n"
ADD = "            total += partials[j]\n"
TREE = "        total = block_sum(total)\n"
LAST = "        if cuda.threadIdx.x == 0:\n"
OUT = "            out[0] = total\n"
RESET = "            drawn[0] = 0\n"
END = LAST + OUT + RESET
OWN = "        mine = cuda.atomic.add(drawn, 0, 1)\n"
IF_MINE = "if mine == cuda.gridDim.x - 1:"
INC = "atomic.inc(drawn, 0, cuda.gridDim.x - 1)"


def less_deep(lines: str) -> str:
    return lines.replace(" " * 12, " " * 8)


def other_loop(old: str, new: str) -> list[tuple[str, str]]:
    return [(LOOP, LOOP.replace(old, new))]


def waiting(asked: str) -> list[tuple[str, str]]:
    """All blocks wait until the counter is at the number of blocks; then block 0 adds."""
    loop = f"while {asked} < cuda.gridDim.x:\n        pass\n"
    return [(TEST, f"{loop}    if cuda.blockIdx.x == 0:")]


# What is wrong, the change of the solution, and words of the sentence that name the cause.
WRONG = {
    "no fence": (
        [(FENCE, "")],
        ["`total += partials[j]`", "block (63) reads partials[0]", "sum in line 29",
         "ticket in line 30", "the old value of the sum"],
    ),
    "no fence, and all threads store": (
        [(FENCE, ""), (END, less_deep(OUT + RESET))],
        ["sum in line 29", "the old value of the sum"],
    ),
    "fence before the store": (
        [(STORE + FENCE, FENCE + STORE)],
        ["The fence in line 29 stands before the store in line 30"],
    ),
    "fence after the ticket": (
        [(FENCE + DRAW, DRAW + FENCE)],
        ["The fence in line 31 stands behind the ticket of line 30"],
    ),
    "fence of the block": (
        [("threadfence()", "threadfence_block()")],
        ["`cuda.threadfence_block()` in line 30 is for the threads of the same block"],
    ),
    "fence without brackets": (
        [("threadfence()", "threadfence")],
        ["`cuda.threadfence` in line 30", "its brackets are missing"],
    ),
    "barrier without brackets": (
        [(WAIT, WAIT.replace("()", ""))],
        ["`cuda.syncthreads` in line 32", "its brackets are missing"],
    ),
    "a barrier for a fence": (
        [(STORE + FENCE + DRAW, STORE + "    cuda.syncthreads()\n" + FIRST + DRAW)],
        ["sum in line 29", "ticket in line 32", "the old value of the sum"],
    ),
    "ticket before the store": (
        [(STORE + FENCE + DRAW, DRAW + STORE + FENCE)],
        ["The ticket is drawn in line 29", "stored after that, in line 30"],
    ),
    "every block adds": ([(TEST, "if True:")], ["64 of 64 blocks add the partial sums here"]),
    "a test that all pass": (
        [(TEST, "if number[0] < cuda.gridDim.x:")],
        ["64 of 64 blocks add the partial sums here"],
    ),
    "a test that two pass": (
        [(TEST, "if number[0] >= cuda.gridDim.x - 2:")],
        ["2 of 64 blocks add the partial sums here"],
    ),
    "every block adds, and the counter stays": (
        [(TEST, "if True:"), (RESET, "")],
        ["64 of 64 blocks add the partial sums here"],
    ),
    "compared with the number of blocks": (
        [(TEST, "if number[0] == cuda.gridDim.x:")],
        ["no thread ever stores into `out`", "drawn the numbers 0 to 63", "none of them has"],
    ),
    "the first ticket": (
        [(TEST, "if number[0] == 0:")],
        ["Block 0 adds here", "the number 0 of 0 to 63"],
    ),
    "block 0": (
        [(TEST, "if cuda.blockIdx.x == 0:")],
        ["Block 0 adds here", "may not have stored their sums yet"],
    ),
    "the block with the highest number": (
        [(TEST, "if cuda.blockIdx.x == cuda.gridDim.x - 1:")],
        ["The result is right", "block 63 adds the partial sums whatever number it draws"],
    ),
    "blockDim for gridDim": (
        [(TEST, "if number[0] == cuda.blockDim.x - 1:")],
        ["Block 63 adds here", "the number 63 of 0 to 89"],
    ),
    "no barrier before the number is read": (
        [(WAIT, "    if number")],
        ["thread (1) of block (0) reads number[0]", "Thread 0 draws in line 31",
         "Nothing makes the other threads of the block wait"],
    ),
    "the number in a variable": (
        [(DRAW, OWN), (TEST, IF_MINE)],
        ["thread (1) of block (63) does not", "`mine` of line 31 is a variable of each thread"],
    ),
    "the number in a variable that begins at 0": (
        [(TICKET, "    mine = 0\n" + TICKET), (DRAW, OWN), (TEST, IF_MINE)],
        ["`mine` of line 32 is a variable of each thread by itself"],
    ),
    "every thread draws": (
        [(TICKET, FIRST + STORE + FENCE + DRAW[4:])],
        ["4,096 tickets are drawn in line 31", "64 blocks", "64 threads of each block draw one"],
    ),
    "every thread draws for itself": (
        [(TICKET, FIRST + STORE + FENCE + OWN[4:]), (TEST, IF_MINE)],
        ["4,096 tickets are drawn in line 31", "64 threads of each block draw one"],
    ),
    "no atomic": (
        [(DRAW, "        number[0] = drawn[0]\n        drawn[0] += 1\n")],
        ["`drawn[0] += 1`", "three steps", "two blocks get the same ticket"],
    ),
    "no ticket": (
        [(DRAW, "        number[0] = cuda.blockIdx.x\n"), (RESET, "")],
        ["block (63) reads partials[0]", "Nothing tells this block"],
    ),
    "no ticket, and nobody adds": (
        [(DRAW, ""), (WAIT + TEST[9:], "    if False:")],
        ["no thread ever stores into `out`", "none draws a ticket from `drawn`"],
    ),
    "only half of the blocks draw": (
        [(FIRST + STORE, "    if cuda.threadIdx.x == 0 and cuda.blockIdx.x % 2 == 0:\n" + STORE)],
        ["32 tickets were drawn, and there are 64 blocks"],
    ),
    "tickets in steps of two": (
        [("drawn, 0, 1)", "drawn, 0, 2)")],
        ["no thread ever stores into `out`", "64 tickets", "the counter stands at 128"],
    ),
    "counter not set back": (
        [(RESET, "")],
        ["The result is right", "after the launch `drawn[0]` is 64, and not 0", "from 64 on"],
    ),
    "set back by every block": (
        [(END, LAST + OUT), (WAIT, FIRST + "        drawn[0] = 0\n" + WAIT)],
        ["64 threads store into `drawn` here", "others still draw"],
    ),
    "wraps one later": (
        [("atomic.add(drawn, 0, 1)", "atomic.inc(drawn, 0, cuda.gridDim.x)"), (RESET, "")],
        ["The result is right", "after the launch `drawn[0]` is 64"],
    ),
    "set back to 1": ([(RESET, RESET.replace("= 0", "= 1"))], ["`drawn[0]` is 1, and not 0"]),
    "one partial sum for each thread": (
        [(LOOP + ADD, "        total = partials[cuda.threadIdx.x]\n")],
        ["At n = 5760", "the sum of the first 64 partial sums, and there are 90"],
    ),
    "as many partial sums as threads": (
        other_loop("partials.size", "BLOCK"), ["the first 64 partial sums, and there are 90"],
    ),
    "stride of the grid": (
        other_loop("BLOCK", "cuda.gridDim.x"), ["the first 64 partial sums, and there are 90"],
    ),
    "all partial sums in each thread": (
        other_loop("range(cuda.threadIdx.x, partials.size, BLOCK)", "range(partials.size)"),
        ["That is 64 times too much: each thread has added all of them"],
    ),
    "all in each thread, and no tree": (
        [*other_loop("range(cuda.threadIdx.x, partials.size, BLOCK)", "range(partials.size)"),
         (TREE, "")],
        ["The result is right", "loads 4,096 times from `partials`", "64 loads for each",
         "Each of the 64 threads of the block reads all of them"],
    ),
    "all but the first in each thread": (
        other_loop("range(cuda.threadIdx.x, partials.size, BLOCK)", "range(1, partials.size)"),
        ["64 times the sum without number 0"],
    ),
    "no tree": (
        [(TREE, "")], ["what thread 0 has added", "The shares of the other threads are missing"],
    ),
    "begins with what is there": (
        [(ZERO, "")], ["begin to add with what they have from their first `block_sum`"],
    ),
    "begins at 1": (
        other_loop("cuda.threadIdx.x", "cuda.threadIdx.x + 1"),
        ["That is the sum without number 0 of the partial sums"],
    ),
    "begins at the block": (
        other_loop("cuda.threadIdx.x", "cuda.blockIdx.x"), ["64 times number 63", "the same one"],
    ),
    "one too far": (
        other_loop("partials.size", "partials.size + 1"),
        ["`partials[64]`", "the numbers are 0 to 63"],
    ),
    "a step of two": (
        other_loop("BLOCK", "2 * BLOCK"),
        ["At n = 5760", "the first 64 partial sums, and there are 90"],
    ),
    "every second one": (
        [(LOOP, LOOP.replace("cuda", "2 * cuda").replace("BLOCK", "2 * BLOCK"))],
        ["Number 1 of the 64 partial sums is missing, and 31 others"],
    ),
    "the place of the thread": (
        [(STORE, STORE.replace("blockIdx", "threadIdx"))],
        ["Two blocks store into the same element of `partials`"],
    ),
    "adds to what is there": (
        [(STORE, STORE.replace("= total", "+= total"))],
        ["To each partial sum was added what `partials` held before the launch"],
    ),
    "all threads leave what they have": (
        [(TICKET, STORE[4:] + FIRST + FENCE + DRAW)],
        ["Several threads of a block store into the same element", "thread 0 alone"],
    ),
    "nothing left": ([(STORE, "")], ["the sum of what `partials` held before the launch"]),
    "its own sum alone": (
        [(ZERO + LOOP + ADD + TREE, "")], ["That is the sum of the last block alone"],
    ),
    "all threads store": (
        [(END, less_deep(OUT + RESET))],
        ["`out[0] = total`", "Several threads of the block store here"],
    ),
    "nobody stores": (
        [(END, "        if cuda.threadIdx.x == 64:\n" + OUT + RESET)],
        ["no thread ever stores into `out`", "A block reads the partial sums"],
    ),
    "every block stores": (
        [(TREE + END, TREE + FIRST + less_deep(OUT + RESET))],
        ["`out[0] = total`", "64 of 64 blocks"],
    ),
    "atomics on the result": (
        [(TICKET, FIRST + "        cuda.atomic.add(out, 0, total)\n"),
         (f"    cuda.syncthreads()\n    {TEST}\n{ZERO}{LOOP}{ADD}{TREE}{END}", "")],
        ["`cuda.atomic.add(out, 0, total)` needs the value of `out`"],
    ),
    "atomics on a result that was cleared": (
        [(TREE + END, LAST + "            out[0] = 0\n" + RESET
          + "        cuda.syncthreads()\n        cuda.atomic.add(out, 0, total)\n")],
        ["The result is right", "64 threads add to `out` in the order in which they come"],
    ),
    "blocks that wait": (waiting("drawn[0]"), ["The loop of line 33 waits", "nobody ever ends"]),
    "blocks that wait and ask by atomics": (
        waiting("cuda.atomic.add(drawn, 0, 0)"), ["The loop of line 33 waits", "nobody ever ends"],
    ),
    "barrier in the branch": (
        [(WAIT, "    " + WAIT)],
        ["The barrier stands in the branch `if cuda.threadIdx.x == 0` of line 28"],
    ),
    "block_sum in the branch": (
        [(TREE + LAST, LAST + "    " + TREE)],
        ["`block_sum` waits for all threads of the block", "`if cuda.threadIdx.x == 0`"],
    ),
    "a word too far": (
        [("number[0] = cuda", "number[1] = cuda")], ["`number` is one word, and its index is 0"],
    ),
    "another thread of the warp draws": (
        [(FENCE + DRAW, "    if cuda.threadIdx.x == 1:\n" + FENCE + DRAW)],
        ["The result is right", "one thread stores the sum in line 29",
         "another one of the block draws in line 32", "before the sum is stored"],
    ),
    "its own total in place of the partial sums": (
        [(ADD, "            total += mine\n"), (ZERO, "        mine = total\n" + ZERO)],
        ["the right sums in `partials`, but nobody reads them", "what its own threads have"],
    ),
    "the other threads return": (
        [(WAIT + TEST[9:], "    if cuda.threadIdx.x != 0:\n        return\n" + WAIT + TEST[9:])],
        ["After the `return` in line 33 some threads of the block are gone",
         "`block_sum` in line 39 needs all of them"],
    ),
    "no step": (
        other_loop(", BLOCK)", ")"),
        ["number 1 of them twice, number 2 three times", "the step is 64"],
    ),
    "no step, as many as threads": (
        other_loop("partials.size, BLOCK)", "BLOCK)"), ["number 1 of them twice"],
    ),
    "the name of the word for the ticket": (
        [(DRAW, DRAW.replace("number[0]", "number")), (TEST, TEST.replace("number[0]", "number"))],
        ["`number` names an array of one word", "line 31 gives this name", "`number[0]`"],
    ),
    "all of x again in the last block": (
        [*other_loop("partials.size", "x.size"), (ADD, ADD.replace("partials", "x"))],
        ["The result is right", "line 36, `total += x[j]`", "loads 4,096 elements of `x` again"],
    ),
    "each block its sum into the result": (
        [(STORE, STORE.replace("partials[cuda.blockIdx.x]", "out[0]")),
         (ZERO + LOOP + ADD + TREE + LAST + OUT, LAST)],
        ["64 of 64 blocks store their own sum there. Nobody adds these sums"],
    ),
    "block 0 sets the counter at the start": (
        [(RESET, ""), (TICKET, "    if cuda.grid(1) == 0:\n        drawn[0] = 0\n" + TICKET)],
        ["Line 29 sets the counter while other blocks draw", "Only the block with the last ticket"],
    ),
    "the thread of the ticket stores": (
        [(END, END.replace("threadIdx.x == 0", "threadIdx.x == number[0]"))],
        ["Thread 63 of the block stores the result", "gives the sum to thread 0 alone"],
    ),
    "keeps the last one": (
        [(ADD, ADD.replace("+=", "="))],
        ["the sum of the last 64 partial sums, and there are 90", "keeps only the last one"],
    ),
    "an element for the atomic": (
        [("cuda.atomic.add(drawn, 0, 1)", "cuda.atomic.add(drawn[0], 1)")],
        ["`cuda.atomic.add` takes an array, an index and a number"],
    ),
    "sum of an array": (
        [(LOOP + ADD, "        total = sum(partials)\n")],
        ["A kernel has no sum of a whole array"],
    ),
    "sum of an array as in NumPy": (
        [(LOOP + ADD, "        total = partials.sum()\n")],
        ["A kernel has no sum of a whole array"],
    ),
    "float64": ([(ZERO, "        total = 0.0\n")], ["The result is right", "works in float64"]),
}  # fmt: skip
QUICK = ("no fence", "the block with the highest number", "counter not set back")

# Right, and other than the solution.
RIGHT = {
    "the counter wraps": [("atomic.add(drawn, 0, 1)", INC), (RESET, "")],
    "one thread adds": [
        (LOOP + ADD + TREE + LAST,
         LAST + "            for j in range(partials.size):\n    " + ADD),
    ],
    "a fence for both sides": [(TEST, TEST + "\n        cuda.threadfence()")],
    "the others leave": [(TEST, f"{TEST.replace('==', '!=')}\n        return\n    if True:")],
    "a flag in shared memory": [
        (DRAW, DRAW.rstrip() + " == cuda.gridDim.x - 1\n"), (TEST, "if number[0]:"),
    ],
    "the fence before a barrier, and another thread draws": [
        (DRAW, ""),
        (WAIT, "    cuda.syncthreads()\n    if cuda.threadIdx.x == 1:\n" + DRAW + WAIT),
    ],
    "gridDim for the size": [("partials.size", "cuda.gridDim.x")],
    "set back by an atomic": [(RESET, "            cuda.atomic.exch(drawn, 0, 0)\n")],
    "numbers from 1 on": [
        (DRAW, DRAW.replace("cuda.atomic", "1 + cuda.atomic")), (TEST, TEST.replace(" - 1", "")),
    ],
    "another thread draws": [
        (FENCE + DRAW, ""),
        (WAIT, "    cuda.syncthreads()\n    if cuda.threadIdx.x == 5:\n" + FENCE + DRAW + WAIT),
    ],
}  # fmt: skip

# Small slips that change nothing: a word that nobody uses, and a number that `sums` makes float32.
HARMLESS = (
    "constant_one_more in `number = cuda.shared.array(1, uint32)`",
    "float64 in `total = block_sum(x[i] if i < x.size else float32(0))`",
)


def marked(names, quick=()):
    """All but the quick ones are slow."""
    return [name if name in quick else pytest.param(name, marks=pytest.mark.slow) for name in names]


@pytest.mark.parametrize("what", marked(WRONG, QUICK))
def test_a_wrong_kernel_is_refused_with_its_cause(what):
    changes, words = WRONG[what]
    verdict = check(NAME, changed(NAME, *changes))
    assert len(verdict.causes) == 1
    for word in words:
        assert word in verdict.causes[0]


@pytest.mark.parametrize("what", marked(RIGHT))
def test_another_right_kernel_passes(what):
    verdict = check(NAME, changed(NAME, *RIGHT[what]))
    assert verdict.passed, str(verdict)


@pytest.mark.slow
def test_every_small_slip_is_refused_or_known_to_change_nothing():
    passed = [what for what, kernel in mutants_of(NAME) if check(NAME, kernel).passed]
    assert passed == list(HARMLESS)


def test_the_solution_begins_as_the_starter():
    starter, solution = EXERCISES[NAME].starter_text, EXERCISES[NAME].solution_text
    given = starter[starter.index("from") : starter.index("    # About")]
    assert given in solution
