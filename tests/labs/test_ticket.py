"""The exercise `ticket`: each wrong kernel is refused with the words that name its cause."""



NAME = "ticket"
STORE = "        partials[cuda.blockIdx.x] = total\n"
FENCE = "        cuda.threadfence()\n"
DRAW = "        number[0] = cuda.atomic.add(drawn, 0, 1)\n"
FIRST = "    if cuda.threadIdx.x == 0:\n"
BARRIER = "    cuda.syncthreads()\n    if number"
TEST = "if number[0] == cuda.gridDim.x - 1:"
ZERO = "        total = float32(0)\n"
LOOP = "        for j in range(cuda.threadIdx.x, partials.size, BLOCK):\n"
ADD = "            total += partials[j]\n"
TREE = "        total = block_sum(total)\n"
LAST = "        if cuda.threadIdx.x == 0:\n"
OUT = "            out[0] = total\n"
RESET = "            drawn[0] = 0\n"
TICKET = FIRST + STORE + FENCE + DRAW
SUM = ZERO + LOOP + ADD + TREE + LAST + OUT + RESET

# What is wrong, the change of the solution, and words of the sentence that name the cause.
WRONG = {
    "no fence": ([(FENCE, "")], []),
    "fence before the store": ([(STORE + FENCE, FENCE + STORE)], []),
    "fence after the ticket": ([(FENCE + DRAW, DRAW + FENCE)], []),
    "fence of the block": ([("threadfence()", "threadfence_block()")], []),
    "fence without brackets": ([("threadfence()", "threadfence")], []),
    "barrier for a fence": (
        [
            (STORE + FENCE + DRAW, STORE),
            (
                "    cuda.syncthreads()\n    if number",
                "    cuda.syncthreads()\n    if cuda.threadIdx.x == 0:\n"
                + DRAW
                + "    cuda.syncthreads()\n    if number",
            ),
        ],
        [],
    ),
    "every block adds": ([(TEST, "if True:")], []),
    "every block adds, no test": ([(TEST, "if number[0] < cuda.gridDim.x:")], []),
    "compared with gridDim": ([(TEST, "if number[0] == cuda.gridDim.x:")], []),
    "the first ticket": ([(TEST, "if number[0] == 0:")], []),
    "the block of the highest number": ([(TEST, "if cuda.blockIdx.x == cuda.gridDim.x - 1:")], []),
    "block 0": ([(TEST, "if cuda.blockIdx.x == 0:")], []),
    "blockDim for gridDim": ([(TEST, "if number[0] == cuda.blockDim.x - 1:")], []),
    "no barrier before the number": ([(BARRIER, "    if number")], []),
    "the number in a register of thread 0": (
        [
            (DRAW, "        mine = cuda.atomic.add(drawn, 0, 1)\n"),
            (TEST, "if mine == cuda.gridDim.x - 1:"),
        ],
        [],
    ),
    "the number is 0 for others": (
        [
            (FIRST + STORE, "    mine = 0\n" + FIRST + STORE),
            (DRAW, "        mine = cuda.atomic.add(drawn, 0, 1)\n"),
            (TEST, "if mine == cuda.gridDim.x - 1:"),
        ],
        [],
    ),
    "every thread draws": (
        [(TICKET, FIRST + STORE + FENCE + "    number[0] = cuda.atomic.add(drawn, 0, 1)\n")],
        [],
    ),
    "every thread draws its own": (
        [
            (TICKET, FIRST + STORE + FENCE + "    mine = cuda.atomic.add(drawn, 0, 1)\n"),
            (TEST, "if mine == cuda.gridDim.x - 1:"),
        ],
        [],
    ),
    "no atomic": ([(DRAW, "        number[0] = drawn[0]\n        drawn[0] += 1\n")], []),
    "counter not set back": ([(RESET, "")], []),
    "set back by every block": (
        [
            (OUT + RESET, OUT),
            ("    if number", "    if cuda.threadIdx.x == 0:\n        drawn[0] = 0\n    if number"),
        ],
        [],
    ),
    "wraps one later": (
        [("atomic.add(drawn, 0, 1)", "atomic.inc(drawn, 0, cuda.gridDim.x)"), (RESET, "")],
        [],
    ),
    "set back to 1": ([(RESET, RESET.replace("= 0", "= 1"))], []),
    "one partial per thread": ([(LOOP + ADD, "        total = partials[cuda.threadIdx.x]\n")], []),
    "one partial per thread, with a test": (
        [
            (
                LOOP + ADD,
                "        if cuda.threadIdx.x < partials.size:\n            total = partials[cuda.threadIdx.x]\n",
            )
        ],
        [],
    ),
    "all partials by all threads": ([(LOOP, "        for j in range(partials.size):\n")], []),
    "all partials by all threads, no tree": (
        [(LOOP, "        for j in range(partials.size):\n"), (TREE, "")],
        [],
    ),
    "no tree": ([(TREE, "")], []),
    "begins with its own total": ([(ZERO, "")], []),
    "all threads store": (
        [
            (
                LAST + OUT + RESET,
                OUT.replace("            ", "        ") + RESET.replace("            ", "        "),
            )
        ],
        [],
    ),
    "stride of the grid": ([(LOOP, LOOP.replace("BLOCK", "cuda.gridDim.x"))], []),
    "starts at the block": ([(LOOP, LOOP.replace("cuda.threadIdx.x", "cuda.blockIdx.x"))], []),
    "starts at 1": ([(LOOP, LOOP.replace("cuda.threadIdx.x", "cuda.threadIdx.x + 1"))], []),
    "up to BLOCK": ([(LOOP, LOOP.replace("partials.size", "BLOCK"))], []),
    "one too far": ([(LOOP, LOOP.replace("partials.size", "partials.size + 1"))], []),
    "partial of the thread": ([(STORE, STORE.replace("blockIdx", "threadIdx"))], []),
    "adds to what is there": ([(STORE, STORE.replace("= total", "+= total"))], []),
    "all threads leave their total": (
        [(TICKET, "    partials[cuda.blockIdx.x] = total\n" + FIRST + FENCE + DRAW)],
        [],
    ),
    "no partial sums": ([(STORE, "")], []),
    "only its own total": ([(ZERO + LOOP + ADD + TREE, "")], []),
    "atomics on the result": (
        [
            (TICKET, FIRST + "        cuda.atomic.add(out, 0, total)\n"),
            ("    cuda.syncthreads()\n    " + TEST + "\n" + SUM, ""),
        ],
        [],
    ),
    "atomics on a cleared result": (
        [
            (
                TREE + LAST + OUT + RESET,
                LAST
                + "            out[0] = 0\n"
                + RESET
                + "        cuda.syncthreads()\n        cuda.atomic.add(out, 0, total)\n",
            )
        ],
        [],
    ),
    "waits for the others": (
        [(TEST, "while drawn[0] < cuda.gridDim.x:\n        pass\n    if cuda.blockIdx.x == 0:")],
        [],
    ),
    "waits by atomics": (
        [
            (
                TEST,
                "while cuda.atomic.add(drawn, 0, 0) < cuda.gridDim.x:\n        pass\n    if cuda.blockIdx.x == 0:",
            )
        ],
        [],
    ),
    "barrier in the branch": (
        [("    cuda.syncthreads()\n    if number", "        cuda.syncthreads()\n    if number")],
        [],
    ),
    "float64": ([(ZERO, "        total = 0.0\n")], []),
    "the last block adds, thread 0 of each": (
        [(LOOP, "        for j in range(1, partials.size):\n")],
        [],
    ),
    "block_sum in the branch": ([(TREE + LAST, LAST + "    " + TREE)], []),
    "total of the block for the tree": ([(TREE, "        total = block_sum(partials[0])\n")], []),
    "out stored by thread 0 of every block": (
        [
            (LAST + OUT + RESET, ""),
            (
                TREE,
                TREE
                + "    if cuda.threadIdx.x == 0:\n        out[0] = total\n        drawn[0] = 0\n",
            ),
        ],
        [],
    ),
    "draw before the store": ([(STORE + FENCE + DRAW, DRAW + STORE + FENCE)], []),
    "or-equal": ([(TEST, "if number[0] >= cuda.gridDim.x - 2:")], []),
}

RIGHT = {
    "inc wraps": [
        ("atomic.add(drawn, 0, 1)", "atomic.inc(drawn, 0, cuda.gridDim.x - 1)"),
        (RESET, ""),
    ],
    "one thread adds": [
        (
            LOOP + ADD + TREE + LAST,
            LAST
            + "            for j in range(partials.size):\n                total += partials[j]\n",
        )
    ],
    "two fences": [(BARRIER, FENCE[4:] + BARRIER)],
    "others return": [(TEST, "if number[0] != cuda.gridDim.x - 1:\n        return\n    if True:")],
    "flag": [
        (DRAW, "        number[0] = cuda.atomic.add(drawn, 0, 1) == cuda.gridDim.x - 1\n"),
        (TEST, "if number[0]:"),
    ],
    "gridDim for the size": [("partials.size", "cuda.gridDim.x")],
    "reset by exch": [(RESET, "            cuda.atomic.exch(drawn, 0, 0)\n")],
    "sub one": [
        (DRAW, "        number[0] = 1 + cuda.atomic.add(drawn, 0, 1)\n"),
        (TEST, "if number[0] == cuda.gridDim.x:"),
    ],
}
