"""Other right answers to `pad_to_fours`: changes of the solution that `check` accepts."""

from labs.exercises.pad_to_fours.wrong import BODY, FILL_A, FILL_B, MADE, SIDES

RIGHT = {
    "np.pad": [
        (MADE + FILL_A + FILL_B,
         "    wide_a = np.pad(np.ascontiguousarray(a), ((0, 0), (0, wide_k - k)))\n"
         "    wide_b = np.pad(np.ascontiguousarray(b), ((0, wide_k - k), (0, wide_n - n)))\n")],
    "(k + 3) // 4 * 4": [
        (SIDES, "    wide_k, wide_n = (k + 3) // 4 * 4, (n + 3) // 4 * 4\n")],
    "k + -k % 4": [(SIDES, "    wide_k, wide_n = k + -k % 4, n + -n % 4\n")],
    "whole multiples by math": [
        ("import numpy as np", "import math\n\nimport numpy as np"),
        (SIDES, "    wide_k, wide_n = 4 * math.ceil(k / 4), 4 * math.ceil(n / 4)\n")],
    "a copy of the result": [
        (BODY, "    return np.ascontiguousarray(fast(wide_a, wide_b)[:, :n])")],
    "with the rows, too": [(BODY, "    return fast(wide_a, wide_b)[:m, :n]")],
    "a loop over rows": [
        (FILL_A, "    for row in range(m):\n        wide_a[row, :k] = a[row]\n")],
    "as they are where they fit": [
        (SIDES, "    fits = n % 4 == 0 and k % 4 == 0\n"
         "    if fits and a.flags.c_contiguous and b.flags.c_contiguous:\n"
         "        return fast(a, b)\n" + SIDES)],
}  # fmt: skip
