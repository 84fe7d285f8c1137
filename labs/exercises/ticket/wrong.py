"""Wrong answers to `ticket`: what `check` says, and the changes that earn it."""

FIRST = "    if cuda.threadIdx.x == 0:\n"
STORE = "        partials[cuda.blockIdx.x] = total\n"
FENCE = "        cuda.threadfence()\n"
DRAW = "        number[0] = cuda.atomic.add(drawn, 0, 1)\n"
TICKET = FIRST + STORE + FENCE + DRAW
WAIT = "    cuda.syncthreads()\n    if number"
TEST = "if number[0] == cuda.gridDim.x - 1:"
SECOND = "        cuda.threadfence()  # what is read from here on is not older than the ticket\n"
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


def less_deep(lines: str) -> str:
    return lines.replace(" " * 12, " " * 8)


def other_loop(old: str, new: str) -> list[tuple[str, str]]:
    return [(LOOP, LOOP.replace(old, new))]


def waiting(asked: str) -> list[tuple[str, str]]:
    """All blocks wait until the counter is at the number of blocks; then block 0 adds."""
    loop = f"while {asked} < cuda.gridDim.x:\n        pass\n"
    return [(TEST, f"{loop}    if cuda.blockIdx.x == 0:")]


def waiting_in_front(loop: str) -> list[tuple[str, str]]:
    """Block 0 waits in this loop until all blocks have drawn, and adds."""
    drawn = "        cuda.atomic.add(drawn, 0, 1)\n"
    return [(DRAW, drawn), (WAIT + TEST[9:], f"    if cuda.blockIdx.x == 0:\n{loop}")]


SPIN = "while cuda.atomic.add(drawn, 0, 0) < cuda.gridDim.x:\n"

WRONG = {
    "{line}, and no fence is between the ticket and these loads. CUDA's rules ask for two fences": {
        "no second fence": [(SECOND, "")],
        "the second fence in another thread before the barrier": [
            (SECOND, ""), (WAIT, "    if cuda.threadIdx.x == 1:\n" + FENCE + WAIT)]},
    "The fence in line 35 is passed by 1 thread alone, and no barrier between that fence and the "
    "loads makes the other threads wait for it.": {
        "the second fence only in the thread that has drawn": [(SECOND, LAST + "    " + SECOND)],
        "the second fence only in a thread that did not draw": [
            (SECOND, "        if cuda.threadIdx.x == 1:\n    " + SECOND)]},
    "The order of the additions must not depend on the block that adds.": {
        "the order begins with the last block": [
            (ADD, "            total += partials[(j + cuda.blockIdx.x) % cuda.gridDim.x]\n")],
        "every second block begins at the end": [
            (ADD, "            k = partials.size - 1 - j if cuda.blockIdx.x % 2 == 0 else j\n"
             + ADD.replace("[j]", "[k]"))]},
    "a block waits for other blocks. On a GPU that has no room for all of them at once, those that "
    "wait keep the others from starting, and the launch never ends.": {
        "block 0 waits": waiting_in_front(f"        {SPIN}            pass"),
        "thread 0 of block 0 waits": waiting_in_front(
            f"        if cuda.threadIdx.x == 0:\n            {SPIN}                pass\n"
            "        cuda.syncthreads()")},
    "a request to `{partials}` serves 1 of 32 lanes on average": {
        "one thread adds": [(LOOP + ADD + TREE + LAST,
             LAST + "            for j in range(partials.size):\n    " + ADD)]},
    "The block has stored its sum in line {other_line} and drawn its ticket in line {add}. No "
    "fence between the two makes other blocks see them in this order: they may see the ticket, "
    "and the old value of the sum.": {
        "no fence": [(FENCE, "")],
        "no fence, and all threads store": [(FENCE, ""), (END, less_deep(OUT + RESET))],
        "a barrier for a fence": [
            (STORE + FENCE + DRAW, STORE + "    cuda.syncthreads()\n" + FIRST + DRAW)],
        "fence after the ticket": [(FENCE + DRAW, DRAW + FENCE)]},
    "The fence in line {threadfence before store partials} stands before the store in line "
    "{other_line}. It says nothing about what comes after it.": {
        "fence before the store": [(STORE + FENCE, FENCE + STORE)]},
    "`cuda.threadfence_block()` in line {threadfence_block} is for the threads of the same block. "
    "The one that reads here is in another block.": {
        "fence of the block": [("threadfence()", "threadfence_block()")]},
    "`cuda.threadfence` in line 30": {"fence without brackets": [("threadfence()", "threadfence")]},
    "`cuda.syncthreads` in line 32": {"barrier without brackets": [(WAIT, WAIT.replace("()", ""))]},
    "The ticket is drawn in line {add before store partials}, and the sum is stored after that, in "
    "line {store partials}. Whoever has drawn has not stored yet.": {
        "ticket before the store": [(STORE + FENCE + DRAW, DRAW + STORE + FENCE)]},
    "64 of 64 blocks add the partial sums here, and only the one that draws the last ticket knows "
    "that all sums are there.": {
        "every block adds": [(TEST, "if True:")],
        "a test that all pass": [(TEST, "if number[0] < cuda.gridDim.x:")],
        "every block adds, and the counter stays": [(TEST, "if True:"), (RESET, "")],
        "every block stores": [(TREE + END, TREE + FIRST + less_deep(OUT + RESET))]},
    "2 of 64 blocks add the partial sums here, and only the one that draws the last ticket knows "
    "that all sums are there.": {
        "a test that two pass": [(TEST, "if number[0] >= cuda.gridDim.x - 2:")]},
    "The 64 blocks have drawn the numbers 0 to 63, and none of them has passed your test for the "
    "last one.": {
        "compared with the number of blocks": [(TEST, "if number[0] == cuda.gridDim.x:")]},
    "Block 0 adds here, and it has drawn the number 0 of 0 to 63. The blocks that draw later may "
    "not have stored their sums yet.": {
        "the first ticket": [(TEST, "if number[0] == 0:")],
        "block 0": [(TEST, "if cuda.blockIdx.x == 0:")]},
    "block 63 adds the partial sums whatever number it draws": {
        "the block with the highest number": [(TEST, "if cuda.blockIdx.x == cuda.gridDim.x - 1:")]},
    "Block 63 adds here, and it has drawn the number 63 of 0 to 89. The blocks that draw later may "
    "not have stored their sums yet.": {
        "blockDim for gridDim": [(TEST, "if number[0] == cuda.blockDim.x - 1:")]},
    "Nothing makes the threads wait between line {other_line}, which stores this word, and line "
    "{line}, which reads it: it may be read before it is there.": {
        "no barrier before the number is read": [(WAIT, "    if number")]},
    "The number that line {add} draws is a variable of each thread by itself. The thread that "
    "draws knows the number; in the other threads of the block the variable holds another one, and "
    "they take another way.": {
        "the number in a variable": [(DRAW, OWN), (TEST, IF_MINE)],
        "the number in a variable that begins at 0": [(TICKET, "    mine = 0\n" + TICKET),
            (DRAW, OWN), (TEST, IF_MINE)]},
    "there are 64 blocks: in block 0, 64 threads draw one each, from thread 0 to thread 63. So "
    "block 0 already draws the number 63, before other blocks have stored their sums.": {
        "every thread draws": [(TICKET, FIRST + STORE + FENCE + DRAW[4:])],
        "every thread draws for itself": [(TICKET, FIRST + STORE + FENCE + OWN[4:]),
            (TEST, IF_MINE)],
        "every thread draws, and the last of all": [(TICKET, FIRST + STORE + FENCE + DRAW[4:]),
            (TEST, TEST.replace("- 1", "* BLOCK - 1"))]},
    "Reading the counter, adding 1 and storing it are three steps here. Between them another block "
    "can read the same number, and two blocks get the same ticket.": {
        "no atomic": [(DRAW, "        number[0] = drawn[0]\n        drawn[0] += 1\n")]},
    "Nothing tells this block whether the other one has come so far.": {
        "no ticket": [(DRAW, "        number[0] = cuda.blockIdx.x\n"), (RESET, "")]},
    "The blocks leave their sums, but none draws a ticket from `{drawn}`.": {
        "no ticket, and nobody adds": [(DRAW, ""), (WAIT + TEST[9:], "    if False:")]},
    "32 tickets were drawn, and there are 64 blocks.": {
        "only half of the blocks draw": [(FIRST + STORE,
             "    if cuda.threadIdx.x == 0 and cuda.blockIdx.x % 2 == 0:\n" + STORE)]},
    "64 tickets were drawn, and the counter stands at 128.": {
        "tickets in steps of two": [("drawn, 0, 1)", "drawn, 0, 2)")]},
    "after the launch `drawn[0]` is 64, and not 0": {"counter not set back": [(RESET, "")]},
    "64 threads store into `{drawn}` here. While some blocks set the counter, others still draw.": {
        "set back by every block": [(END, LAST + OUT),
            (WAIT, FIRST + "        drawn[0] = 0\n" + WAIT)]},
    "after the launch `drawn[0]` is 64": {
        "wraps one later": [("atomic.add(drawn, 0, 1)", "atomic.inc(drawn, 0, cuda.gridDim.x)"),
            (RESET, "")]},
    "`drawn[0]` is 1, and not 0": {"set back to 1": [(RESET, RESET.replace("= 0", "= 1"))]},
    "That is the sum of the first 64 partial sums, and there are 90.": {
        "one partial sum for each thread": [
            (LOOP + ADD, "        total = partials[cuda.threadIdx.x]\n")],
        "as many partial sums as threads": other_loop("partials.size", "BLOCK"),
        "stride of the grid": other_loop("BLOCK", "cuda.gridDim.x"),
        "a step of two": other_loop("BLOCK", "2 * BLOCK")},
    "That is 64 times too much: each thread has added all of them.": {
        "all partial sums in each thread": (
            other_loop("range(cuda.threadIdx.x, partials.size, BLOCK)", "range(partials.size)")),
        "sum of an array": [(LOOP + ADD, "        total = sum(partials)\n")],
        "sum of an array as in NumPy": [(LOOP + ADD, "        total = partials.sum()\n")]},
    "Each of the 64 threads of the block reads all of them": {
        "all in each thread, and no tree": [
            *other_loop("range(cuda.threadIdx.x, partials.size, BLOCK)", "range(partials.size)"),
            (TREE, "")]},
    "That is 64 times the sum without number 0 of the partial sums: each thread has added all the "
    "others.": {
        "all but the first in each thread": (
            other_loop("range(cuda.threadIdx.x, partials.size, BLOCK)",
                       "range(1, partials.size)"))},
    "That is what thread 0 has added: number 0 of the partial sums. The shares of the other "
    "threads are missing.": {"no tree": [(TREE, "")]},
    "The threads of the last block begin to add with what they have from their first `block_sum`, "
    "and not with 0.": {"begins with what is there": [(ZERO, "")]},
    "That is the sum without number 0 of the partial sums.": {
        "begins at 1": other_loop("cuda.threadIdx.x", "cuda.threadIdx.x + 1")},
    "That is 64 times number 63 of the partial sums: each thread has taken the same one.": {
        "begins at the block": other_loop("cuda.threadIdx.x", "cuda.blockIdx.x")},
    "There is one partial sum per block: the numbers are 0 to 63.": {
        "one too far": other_loop("partials.size", "partials.size + 1")},
    "Number 1 of the 64 partial sums is missing, and 31 others are not there once.": {
        "every second one": [
            (LOOP, LOOP.replace("cuda", "2 * cuda").replace("BLOCK", "2 * BLOCK"))]},
    "Two blocks store into the same element of `{partials}`. What in the index differs from block "
    "to block?": {"the place of the thread": [(STORE, STORE.replace("blockIdx", "threadIdx"))]},
    "To each partial sum was added what `{partials}` held before the launch.": {
        "adds to what is there": [(STORE, STORE.replace("= total", "+= total"))]},
    "64 threads of block 0, from thread 0 to thread 63, store into the same element in line "
    "{store partials}. `block_sum` gives the sum to thread 0 alone.": {
        "all threads leave what they have": [(TICKET, STORE[4:] + FIRST + FENCE + DRAW)]},
    "That is the sum of what `{partials}` held before the launch.": {"nothing left": [(STORE, "")]},
    "That is the sum of the last block alone.": {
        "its own sum alone": [(ZERO + LOOP + ADD + TREE, "")]},
    "Several threads of the block store here, and `block_sum` gives the sum to thread 0.": {
        "all threads store": [(END, less_deep(OUT + RESET))]},
    "A block reads the partial sums, and no thread of it comes to the store of the result.": {
        "nobody stores": [(END, "        if cuda.threadIdx.x == 64:\n" + OUT + RESET)]},
    "64 threads add to `out` in line {add}, in the order in which they come; the first is thread 0 "
    "of block 0. Each addition of float32 rounds, so another order can give other bits.": {
        "atomics on the result": [(TICKET, FIRST + "        cuda.atomic.add(out, 0, total)\n"),
            (f"    cuda.syncthreads()\n    {TEST}\n{SECOND}{ZERO}{LOOP}{ADD}{TREE}{END}", "")]},
    "64 threads add to `out` in the order in which they come": {
        "atomics on a result that was cleared": [(TREE + END,
             LAST + "            out[0] = 0\n" + RESET
             + "        cuda.syncthreads()\n        cuda.atomic.add(out, 0, total)\n")]},
    "The loop of line {line} waits until other blocks have drawn. Where there are more blocks than "
    "the GPU can hold at once, those that wait keep the others from starting, and nobody "
    "ever ends.": {"blocks that wait": waiting("drawn[0]")},
    "The loop of line {other_line} waits until other blocks have drawn. Where there are more "
    "blocks than the GPU can hold at once, those that wait keep the others from starting, and "
    "nobody ever ends.": {
        "blocks that wait and ask by atomics": waiting("cuda.atomic.add(drawn, 0, 0)")},
    "1 thread waits in this loop": {
        "blocks that wait and ask by a comparison": [(WAIT + TEST[9:],
            "        while cuda.atomic.cas(drawn, 0, 0, 0) < cuda.gridDim.x:\n            pass\n"
            "    cuda.syncthreads()\n    if cuda.blockIdx.x == 0:")]},
    "is a barrier of the whole grid: there each block waits for all others.": {
        "a barrier of the grid for the ticket": [
            (FENCE + DRAW, ""),
            (WAIT + TEST[9:], "    cuda.cg.this_grid().sync()\n    if cuda.blockIdx.x == 0:")],
        "a barrier of the grid for that of the block": [
            (WAIT, WAIT.replace("cuda.syncthreads", "cuda.cg.this_grid().sync"))]},
    "The barrier stands in the branch `if cuda.threadIdx.x == 0` of line 28": {
        "barrier in the branch": [(WAIT, "    " + WAIT)]},
    "`block_sum` waits for all threads of the block, and in line {last block_sum} it stands in the "
    "branch `if cuda.threadIdx.x == 0`.": {
        "block_sum in the branch": [(TREE + LAST, LAST + "    " + TREE)]},
    "`{array}` is one word, and its index is 0.": {
        "a word too far": [("number[0] = cuda", "number[1] = cuda")]},
    "another one of the block draws in line 32": {
        "another thread of the warp draws": [
            (FENCE + DRAW, "    if cuda.threadIdx.x == 1:\n" + FENCE + DRAW)]},
    "The blocks leave the right sums in `{partials}`, but nobody reads them: the last block adds "
    "only what its own threads have.": {
        "its own total in place of the partial sums": [(ADD, "            total += mine\n"),
            (ZERO, "        mine = total\n" + ZERO)]},
    "After the `return` in line {return} some threads of the block are gone. `block_sum` in line "
    "{last block_sum} needs all of them: each adds its part.": {
        "the other threads return": [(WAIT + TEST[9:],
             "    if cuda.threadIdx.x != 0:\n        return\n" + WAIT + TEST[9:])]},
    "The partial sums are added more than once: number 1 of them twice, number 2 three times, and "
    "so on. The threads of the last block do not skip what others add: in a loop from the thread's "
    "own number on, the step is 64.": {
        "no step": other_loop(", BLOCK)", ")"),
        "no step, as many as threads": other_loop("partials.size, BLOCK)", "BLOCK)")},
    "`number` names an array of one word": {
        "the name of the word for the ticket": [(DRAW, DRAW.replace("number[0]", "number")),
            (TEST, TEST.replace("number[0]", "number"))]},
    "loads 4,096 elements of `x` again": {
        "all of x again in the last block": [*other_loop("partials.size", "x.size"),
            (ADD, ADD.replace("partials", "x"))]},
    "64 of 64 blocks store their own sum there. Nobody adds these sums.": {
        "each block its sum into the result": [
            (STORE, STORE.replace("partials[cuda.blockIdx.x]", "out[0]")),
            (ZERO + LOOP + ADD + TREE + LAST + OUT, LAST)]},
    "Line {other_line} sets the counter while other blocks draw. Only the block with the last "
    "ticket knows that nobody draws any more.": {
        "block 0 sets the counter at the start": [(RESET, ""),
            (TICKET, "    if cuda.grid(1) == 0:\n        drawn[0] = 0\n" + TICKET)]},
    "Thread 63 of the block stores the result, and `block_sum` gives the sum to thread 0 alone.": {
        "the thread of the ticket stores": [
            (END, END.replace("threadIdx.x == 0", "threadIdx.x == number[0]"))]},
    "That is the sum of the last 64 partial sums, and there are 90: each thread keeps only the "
    "last one that it reads.": {"keeps the last one": [(ADD, ADD.replace("+=", "="))]},
    "`cuda.atomic.add` takes an array, an index and a number": {
        "an element for the atomic": [
            ("cuda.atomic.add(drawn, 0, 1)", "cuda.atomic.add(drawn[0], 1)")]},
    "works in float64": {"float64": [(ZERO, "        total = 0.0\n")]},
}  # fmt: skip
