"""Submissions to `sectors` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.exercises.sectors.wrong import INDEX, LOOP

STORE = "out[i] = factor * x[i]"
BODY = f"    {LOOP}:\n        i = {INDEX}\n        if i < out.size:\n            {STORE}\n"
ALL = f"        for i in range({{}}):\n            {STORE}\n"

CHEAP = {
    "the starter": file_beside(__file__, "starter"),
    "one thread of the grid does everything": [
        (BODY, "    if thread == 0:\n" + ALL.format("out.size"))
    ],
    "one lane of each warp does the work of all": [
        (BODY, "    if thread % 32 == 0:\n"
         + ALL.format("4 * thread, min(4 * thread + 128, out.size)"))
    ],
    "every fourth thread does four times as much": [
        (BODY, "    if thread % 4 == 0:\n"
         + ALL.format("thread // 4, out.size, threads // 4"))
    ],
    "one block does everything": [
        (BODY, "    if cuda.blockIdx.x == 0:\n" + ALL.format("thread, out.size, 256"))
    ],
    "one warp does everything": [
        (BODY, "    if thread < 32:\n" + ALL.format("thread, out.size, 32"))
    ],
    "every thread does everything": [(BODY, "    if True:\n" + ALL.format("out.size"))],
}  # fmt: skip
