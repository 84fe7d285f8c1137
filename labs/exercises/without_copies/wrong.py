"""Wrong answers to `without_copies`: what `check` says, and the changes that earn it."""

from labs.checking.variants import file_beside

A = "    both_a = cuda.managed_array(a.shape, np.float32)\n"
C = "    both_c = cuda.managed_array((m, n), np.float32)\n"
FILL_A, FILL_B = "    both_a[:] = a\n", "    both_b[:] = b\n"
LAUNCH = "    kernel[grid, block](both_a, both_b, both_c)\n"
WAIT = "    cuda.synchronize()\n"
BACK = "    return both_c\n"

WRONG = {
    "never launched": {"no launch": [(LAUNCH, "")]},
    "launched 2 times": {"two launches": [(LAUNCH, LAUNCH + LAUNCH)]},
    "Nothing waits for the kernel after its launch": {"does not wait": [(WAIT, "")]},
    "Line 18, `cuda.synchronize()`, waits for the kernel, but your result was read from `c` before "
    "this wait.": {
        "reads before it waits": [(WAIT, f"    c = np.array(both_c)\n{WAIT}"),
            (BACK, "    return c\n")]},
    "`a` is in mapped memory": {"mapped memory": [("managed_array", "mapped_array")]},
    "the host has computed it": {
        "computes on the host": [(BACK, "    return np.dot(a, b)\n")]},
    "Nothing waits": {"waits before the launch": [(LAUNCH + WAIT, WAIT + LAUNCH)]},
    "Nobody has stored the elements": {"a not filled": [(FILL_A, "")]},
    "Line 15, `kernel[grid, block](both_a, both_b, both_c)`: `b` has no numbers yet when the "
    "kernel is launched. Nobody has stored the elements of `b` in the memory that it gets.": {
        "b not filled": [(FILL_B, "")]},
    "Line 14, `kernel[grid, block](both_a, both_b, both_c)`: `a` has no numbers yet when the "
    "kernel is launched. Nobody has stored the elements of `a` in the memory that it gets.": {
        "filled after the launch": [(FILL_A + FILL_B + LAUNCH, LAUNCH + FILL_A + FILL_B)]},
    "3,840 bytes to the device, and back": {
        "the name in place of the elements": [(FILL_A, "    both_a = a\n")]},
    "10,240 bytes": {
        "two names in place of the elements": [(FILL_A, "    both_a = a\n"),
            (FILL_B, "    both_b = b\n")]},
    "Line 16, `kernel[grid, block](a, b, both_c)`: `a` and `b` are arrays of NumPy's, and no "
    "managed ones. So Numba copies them at the launch: 10,240 bytes to the device, and back.": {
        "the managed arrays are not launched": [("(both_a, both_b,", "(a, b,")]},
    "15,360 bytes": {"c of NumPy": [(C, "    both_c = np.zeros((m, n), np.float32)\n")]},
    "both_a = cuda.to_device(a)": {
        "a copied": [(A, "    both_a = cuda.to_device(a)\n"), (FILL_A, "")]},
    "No copy is wanted": {"c copied back": [(BACK, "    return both_c.copy_to_host()\n")]},
    "Line 18, `return both_c.copy_to_host()`: `c` comes back to the host by a copy, 15,360 bytes. "
    "No copy is wanted here.": {
        "c on the device, copied": [("both_c = cuda.managed_array", "both_c = cuda.device_array"),
            (BACK, "    return both_c.copy_to_host()\n")]},
    "lies on the device": {
        "c on the device": [("both_c = cuda.managed_array", "both_c = cuda.device_array")]},
    "30,720 bytes": {"c of float64": [("(m, n), np.float32)", "(m, n))")]},
    "The kernel gets `a` as float64: 7,680 bytes in memory and on the bus. As float32 it is 3,840 "
    "bytes.": {
        "a of float64": [("a.shape, np.float32)", "a.shape)")],
        "all of float64": [(", np.float32", "")]},
    "The function returns `None`: nobody gets `c`. It has to `return` it.": {
        "no return": [(BACK, "")]},
    "the result has the shape 48×20": {"returns a": [(BACK, "    return both_a\n")]},
    "Every element of the result is 0": {
        "c before the launch": [(C, f"{C}    c = both_c.copy()\n"), (BACK, "    return c\n")]},
    "elements are wrong": {"b in place of a": [(FILL_A, "    both_a[:] = b[0, 0]\n")]},
    "33 columns and 41 rows": {"rounded down": [("-(-m // 8)", "m // 8")]},
    "32×8 blocks of 3×6 threads": {
        "grid and block exchanged": [("kernel[grid, block]", "kernel[block, grid]")]},
    "32 threads wide": {"one block": [("grid = -(-n // 32), -(-m // 8)", "grid = 1, 1")]},
    "gets arrays of 20×80": {"exchanged arrays": [("(both_a, both_b,", "(both_b, both_a,")]},
    "gets arrays of": {"shape of c": [("(m, n), np", "(n, m), np")]},
    "The shape is an array of shape (48, 20); it must be whole numbers": {
        "no shape": [("a.shape, np.float32", "a, np.float32")]},
    "raises TypeError": {"no brackets": [("kernel[grid, block]", "kernel")]},
    "a goes to the device by a copy, 3,840 bytes": {
        "the starter": file_beside(__file__, "starter")},
}  # fmt: skip
