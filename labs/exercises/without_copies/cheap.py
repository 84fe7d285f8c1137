"""Submissions to `without_copies` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.exercises.without_copies.wrong import BACK, LAUNCH, WAIT

READ = "    c = np.array(both_c)\n"

CHEAP = {
    "the starter": file_beside(__file__, "starter"),
    "reads before it waits": [(WAIT, READ + WAIT), (BACK, "    return c\n")],
    "reads before it waits, element by element": [
        (WAIT, "    c = np.zeros((m, n), np.float32)\n    c[:] = both_c\n" + WAIT),
        (BACK, "    return c\n"),
    ],
    "mapped memory": [("managed_array", "mapped_array")],
    "no wait": [(WAIT, "")],
    "waits before the launch": [(LAUNCH + WAIT, WAIT + LAUNCH)],
    "computed on the host": [(BACK, "    return np.dot(a, b)\n")],
}
