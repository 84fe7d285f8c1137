"""Submissions to `without_copies` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.exercises.without_copies.wrong import BACK, FILL_A, FILL_B, LAUNCH, WAIT, A, C

B = A.replace("both_a", "both_b").replace("a.shape", "b.shape")
READ = "    c = np.array(both_c)\n"

CHEAP = {
    "the starter": file_beside(__file__, "starter"),
    "reads before it waits": [(WAIT, READ + WAIT), (BACK, "    return c\n")],
    "reads before it waits, element by element": [
        (WAIT, "    c = np.zeros((m, n), np.float32)\n    c[:] = both_c\n" + WAIT),
        (BACK, "    return c\n"),
    ],
    "waits for another stream": [(WAIT, "    cuda.stream().synchronize()\n")],
    "a and b copied": [
        (A, "    both_a = cuda.to_device(a)\n"), (B, "    both_b = cuda.to_device(b)\n"),
        (FILL_A + FILL_B, "")],
    "a and b in mapped memory": [(one, one.replace("managed", "mapped")) for one in (A, B)],
    "c on the device, and copied by NumPy": [
        (C, C.replace("managed", "device")), (BACK, "    return np.array(both_c)\n")],
    "mapped memory": [("managed_array", "mapped_array")],
    "no wait": [(WAIT, "")],
    "waits before the launch": [(LAUNCH + WAIT, WAIT + LAUNCH)],
    "computed on the host": [(BACK, "    return np.dot(a, b)\n")],
}  # fmt: skip
