"""Wrong answers to `pad_to_fours`: what `check` says, and the changes that earn it."""

from labs.checking.variants import file_beside

SIDES = "    wide_k, wide_n = -(-k // 4) * 4, -(-n // 4) * 4\n"
MADE_A = "    wide_a = np.zeros((m, wide_k), np.float32)\n"
MADE_B = "    wide_b = np.zeros((wide_k, wide_n), np.float32)\n"
MADE = MADE_A + MADE_B
FILL_A, FILL_B = "    wide_a[:, :k] = a\n", "    wide_b[:k, :n] = b\n"
BODY = "    return fast(wide_a, wide_b)[:, :n]"

WRONG = {
    "`fast` is never called": {
        "the starter": file_beside(__file__, "starter"),
        "NumPy computes it": [(BODY, "    return a @ b")]},
    "is not what `fast` has returned": {
        "NumPy computes it after a call": [(BODY, "    fast(wide_a, wide_b)\n    return a @ b")]},
    "`fast` is called 2 times": {
        "two calls": [(BODY, "    fast(wide_a, wide_b)\n" + BODY)]},
    "which is no multiple of four": {
        "no padding": [(SIDES, "    wide_k, wide_n = k, n\n")],
        "k alone": [(SIDES, "    wide_k, wide_n = -(-k // 4) * 4, n\n")],
        "n alone": [(SIDES, "    wide_k, wide_n = k, -(-n // 4) * 4\n")]},
    "could not broadcast": {
        "rounded down": [(SIDES, "    wide_k, wide_n = k // 4 * 4, n // 4 * 4\n")]},
    "is enough": {
        "four more than needed": [(SIDES, "    wide_k, wide_n = k // 4 * 4 + 4, n // 4 * 4 + 4\n")],
        "rounded up to eight": [(SIDES, "    wide_k, wide_n = -(-k // 8) * 8, -(-n // 8) * 8\n")],
        "more rows": [(MADE_A, "    wide_a = np.zeros((m + 1, wide_k), np.float32)\n"),
            (FILL_A, "    wide_a[:m, :k] = a\n"),
            (BODY, "    return fast(wide_a, wide_b)[:m, :n]")]},
    "the result is 3×8, and a·b is 3×6": {
        "the whole product": [("[:, :n]", "")]},
    "What is in the new columns and rows?": {
        "filled with ones": [("np.zeros", "np.ones")],
        "a is not copied": [(FILL_A, "")],
        "the last columns": [("[:, :n]", "[:, -n:]")]},
    "float64": {
        "arrays of float64": [(", np.float32)", ")")]},
    "is not in plain rows": {
        "by columns": [("(m, wide_k), np.float32)", "(m, wide_k), np.float32, order='F')")]},
    "and not an array": {
        "nothing returned": [(BODY, BODY.replace("return ", ""))]},
    "and the second one": {
        "rows of b as before": [(MADE_B, "    wide_b = np.zeros((k, wide_n), np.float32)\n")]},
}  # fmt: skip
