"""Other right answers to `tree`: changes of the solution that `check` accepts."""

from labs.exercises.tree.wrong import ADD, HALF, LOAD, LOADED, LOOP, PLUS, START, STORE, WAIT

HARMLESS = {
    "constant_one_more in `BLOCK = 256`": "a word more is not used",
    f"float64 in `{LOAD.strip()}`": "0.0 becomes a float32 in shared memory",
    "constant_one_more in `if tid == 0:`": "thread 1 may store the sum as well",
}

RIGHT = {
    "a range": [(LOOP, f"    for step in range(8):\n        stride = 128 >> step\n{ADD}{WAIT}")],
    "half of the constant": [(START, "BLOCK // 2"), (HALF, "        stride //= 2\n")],
    "numbers of 64 bits": [(START, "cuda.blockDim.x // 2"), (HALF, "        stride //= 2\n")],
    "halves made 32 bits": [(HALF, "        stride = uint32(stride // 2)\n")],
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
