"""Wrong answers to `single_precision`: what `check` says, and the changes that earn it."""

START = "float32(0)"
SUM = "total += a[row, i] * b[i, col]"
STORE = "c[row, col] = total"

WRONG = {
    "works in float64, 49,152 operations": {
        "the starter": [(START, "0.0")],
        "a cast of the result alone": [(START, "0.0"), (STORE, "c[row, col] = float32(total)")]},
    "works in float64": {
        "a whole number": [(START, "0")],
        "a cast of each product": [
            (START, "0.0"), (SUM, "total += float32(a[row, i] * b[i, col])")],
        "float64 by name": [("cuda, float32", "cuda, float32, float64"), (START, "float64(0)")],
        "a factor of Python": [(SUM, "total += 1.0 * a[row, i] * b[i, col]")]},
    "Every element is wrong by the same number, 1. With what value does the sum start?": {
        "begins with one": [(START, "float32(1)")]},
    "Every element holds only the last term of its sum: each turn forgets those before.": {
        "the sum set in the loop": [(SUM, "total = a[row, i] * b[i, col]")]},
    "needs the value of `c` before anything was stored": {
        "adds up in c": [(SUM, "c[row, col] += a[row, i] * b[i, col]"), (f"    {STORE}\n", "")]},
    "On square matrices your result is the right one transposed: row and column are exchanged "
    "where `{c}` is stored.": {"c stored at [col, row]": [(STORE, "c[col, row] = total")]},
    "At k = 24 every sum lacks the term i = 23: 1 of 24. Where does the loop start and end, and "
    "which part of it is left over?": {"loop to k - 1": [("i < k", "i < k - 1")]},
    "stay in this loop for ever": {"loop for ever": [("        i += 1\n", "")]},
    "a multiply-add costs 3 loads": {
        "loads twice": [("        total +=",
             "        unused = a[row, i] * float32(0)\n        total += unused +")]},
}  # fmt: skip
