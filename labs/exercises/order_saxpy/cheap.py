"""Submissions to `order_saxpy` that ignore the idea of the task."""

from labs.checking.variants import file_beside

INDEX = "    i = cuda.grid(1)\n"
BODY = (
    "    if i >= out.size:\n        return\n"
    "    scaled = a * x[i]\n    out[i] = scaled + y[i]\n"
)
ALL = "        for i in range({}):\n            out[i] = a * x[i] + y[i]\n"

CHEAP = {
    "the lines as they are listed": file_beside(__file__, "starter"),
    "no guard": "order_saxpy = [6, 4, 1]\n",
    "the number in the block": "order_saxpy = [3, 2, 5, 4, 1]\n",
    "one thread of the grid does everything": [
        (INDEX + BODY, "    if cuda.grid(1) == 0:\n" + ALL.format("out.size"))
    ],
    "one lane of each warp does the work of all": [
        (INDEX, "    t = cuda.grid(1)\n"),
        (BODY, "    if t % 32 == 0:\n" + ALL.format("t, min(t + 32, out.size)")),
    ],
    "one block does everything": [
        (INDEX, "    t = cuda.threadIdx.x\n"),
        (BODY, "    if cuda.blockIdx.x == 0:\n" + ALL.format("t, out.size, 256")),
    ],
    "every thread does everything": [(INDEX + BODY, "    if True:\n" + ALL.format("out.size"))],
}
