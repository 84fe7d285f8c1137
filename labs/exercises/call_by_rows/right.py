"""Other right answers to `call_by_rows`: changes of the solution that `check` accepts."""

from labs.exercises.call_by_rows.wrong import CALL, SIZES

RIGHT = {
    "by shapes": [
        (SIZES, ""),
        (CALL, "    sgemm(b.shape[1], a.shape[0], a.shape[1], b, b.shape[1], a, a.shape[1],\n"
         "          c, c.shape[1])\n")],
    "flat arrays": [
        (CALL, "    sgemm(n, m, k, b.ravel(), n, a.ravel(), k, c.ravel(), n)\n")],
    "transposed views": [(CALL, "    sgemm(n, m, k, b.T, n, a.T, k, c.T, n)\n")],
    "strides": [
        (CALL, "    sgemm(n, m, k, b, b.strides[0] // 4, a, a.strides[0] // 4, c, n)\n")],
    "names of the library": [
        (SIZES, "    rows, columns, terms = b.shape[1], a.shape[0], a.shape[1]\n"),
        (CALL, "    sgemm(rows, columns, terms, b, rows, a, terms, c, rows)\n")],
    "a result, too": [(CALL, CALL + "    return c\n")],
    "a row at a time": [
        (CALL, "    for row in range(m):\n"
         "        sgemm(n, 1, k, b, n, a[row], k, c[row], n)\n")],
}  # fmt: skip
