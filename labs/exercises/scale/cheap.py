"""Submissions to `scale` that ignore the idea of the task."""

TEST = "    if i < out.size:\n        out[i] = factor * x[i]\n"
INDEX = "    i = cuda.grid(1)\n"
ALL = "        for i in range({}):\n            out[i] = factor * x[i]\n"

CHEAP = {
    "one thread of the grid does everything": [
        (INDEX + TEST, "    if cuda.grid(1) == 0:\n" + ALL.format("out.size"))
    ],
    "one lane of each warp does the work of all": [
        (INDEX, "    t = cuda.grid(1)\n"),
        (TEST, "    if t % 32 == 0:\n" + ALL.format("t, min(t + 32, out.size)")),
    ],
    "one block does everything": [
        (INDEX, "    t = cuda.threadIdx.x\n"),
        (TEST, "    if cuda.blockIdx.x == 0:\n" + ALL.format("t, out.size, 256")),
    ],
    "one warp does everything": [
        (INDEX, "    t = cuda.grid(1)\n"),
        (TEST, "    if t < 32:\n" + ALL.format("t, out.size, 32")),
    ],
    "every thread does everything": [(INDEX + TEST, "    if True:\n" + ALL.format("out.size"))],
    "the factor of the notebook": [("factor * x[i]", "x[i] * 2.5")],
    "a factor by its length": [("factor * x[i]", "(out.size % 7 + 0.5) * x[i]")],
}
