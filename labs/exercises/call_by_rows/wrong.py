"""Wrong answers to `call_by_rows`: what `check` says, and the changes that earn it."""

from labs.checking.variants import file_beside

SIZES = "    (m, k), n = a.shape, b.shape[1]\n"
CALL = "    sgemm(n, m, k, b, n, a, k, c, n)\n"


def called(arguments: str) -> list[tuple[str, str]]:
    """Return the change of the solution after which it calls `sgemm` with these arguments."""
    return [(CALL, f"    sgemm({arguments})\n")]


WRONG = {
    "read by rows, `c` holds b·a, and not a·b": {
        "the starter": file_beside(__file__, "starter"),
        "the leading dimensions of columns": called("m, n, k, a, m, b, k, c, m"),
        "m and n exchanged alone": called("n, m, k, a, k, b, n, c, n")},
    "a leading dimension is at least": {
        "the leading dimensions not exchanged": called("n, m, k, b, k, a, n, c, n"),
        "the columns' lengths": called("n, m, k, b, k, a, m, c, m"),
        "ldc is m": called("n, m, k, b, n, a, k, c, m"),
        "ldb is k": called("n, m, k, b, k, a, k, c, n")},
    "words are more than": {
        "b first, and m and n as before": called("m, n, k, b, n, a, k, c, n"),
        "k for n": called("n, m, n, b, n, a, n, c, n"),
        "lda is m·n": called("n, m, k, b, m * n, a, k, c, n")},
    "`sgemm` is never called": {
        "no call": [(CALL, "")],
        "NumPy computes it": [(CALL, "    c[:] = a @ b\n")]},
    "is no memory of `c`, so `c` gets no product": {
        "a result of its own": [(CALL, "    sgemm(n, m, k, b, n, a, k, c.copy(), n)\n")]},
    "was copied": {
        "copies by columns": [
            (CALL, "    sgemm(n, m, k, b.copy(), n, a.copy(), k, c, n)\n")],
        "columns, copied back": [
            (CALL, "    import numpy as np\n\n    out = np.zeros((n, m), np.float32)\n"
             "    sgemm(m, n, k, a.T.copy(), m, b.T.copy(), k, out, m)\n    c[:] = out.T\n")]},
    "stored in `a`": {
        "stored in a": called("n, m, k, b, n, a, k, a, n")},
    "is no whole number": {
        "a float": called("n, m, k, b, n, a, k, c, n / 1")},
    "elements of `c` are wrong": {
        "k is one less": called("n, m, k - 1, b, n, a, k, c, n")},
    "other than `sgemm`": {
        "doubled": [(CALL, CALL + "    c *= 2\n")],
        "transposed afterwards": [(CALL, CALL + "    if m == n:\n        c[:] = c.T.copy()\n")]},
    "raises TypeError": {
        "an argument too few": called("n, m, k, b, n, a, k, c")},
}  # fmt: skip
