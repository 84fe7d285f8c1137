"""Submissions to `copy_once` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.exercises.copy_once.wrong import BACK, LAUNCH, LOOP, A, B, C

CHEAP = {
    "the starter": file_beside(__file__, "starter"),
    "one launch": [(LOOP + LAUNCH, LAUNCH[4:])],
    "computed on the host": [(LOOP + LAUNCH, ""), (BACK, "    return a @ b\n")],
    "computed on the host, with launches for show": [
        (BACK, "    on_gpu_c.copy_to_host()\n    return a @ b\n")
    ],
    "zeros": [(BACK, "    return np.zeros((m, n), np.float32)\n")],
    "copied by the launches": [
        (A + B + C, "    c = np.zeros((m, n), np.float32)\n"),
        ("on_gpu_a, on_gpu_b, on_gpu_c", "a, b, c"),
        (BACK, "    return c\n"),
    ],
}
