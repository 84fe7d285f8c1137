"""Submissions to `fused` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.exercises.fused.wrong import LINES, TEST

INDEX = "    i = cuda.grid(1)\n"
WORK = INDEX + f"    {TEST}\n" + LINES
INNER = "".join(f"    {line}\n" for line in LINES.splitlines())
STEPS = (
    "        out[i] = (x[i] - mean) * scale\n        out[i] = out[i] + y[i]\n"
    "        out[i] = max(out[i], float32(0))\n"
)

CHEAP = {
    "the starter": file_beside(__file__, "starter"),
    "three launches after each other": [(LINES, STEPS)],
    "one thread of the grid does everything": [
        (WORK, "    if cuda.grid(1) == 0:\n        for i in range(out.size):\n" + INNER)
    ],
    "one lane of each warp does the work of all": [
        (WORK, "    t = cuda.grid(1)\n    if t % 32 == 0:\n"
               "        for i in range(t, min(t + 32, out.size)):\n" + INNER)
    ],
    "the steps after the first one by atomics": [
        (LINES, "        out[i] = (x[i] - mean) * scale\n        cuda.atomic.add(out, i, y[i])\n"
                "        cuda.atomic.max(out, i, float32(0))\n")
    ],
    "one block does everything": [
        (WORK, "    if cuda.blockIdx.x == 0:\n"
               "        for i in range(cuda.threadIdx.x, out.size, 256):\n" + INNER)
    ],
    "every thread does everything": [
        (WORK, "    if True:\n        for i in range(out.size):\n" + INNER)
    ],
}  # fmt: skip
