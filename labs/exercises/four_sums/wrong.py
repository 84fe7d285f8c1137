"""Wrong answers to `four_sums`: what `check` says, and the changes that earn it."""

from labs.checking.variants import file_beside

START = "c0 = c1 = d0 = d1 = set1(float32(0), 8)"
LOOP = "for p in range(0, a.size // 2, 2)"
BODY = """\
        row = loadu(b, 8 * p, 8)
        c0 = fmadd(broadcast(a, 2 * p, 8), row, c0)
        c1 = fmadd(broadcast(a, 2 * p + 1, 8), row, c1)
        row = loadu(b, 8 * p + 8, 8)
        d0 = fmadd(broadcast(a, 2 * p + 2, 8), row, d0)
        d1 = fmadd(broadcast(a, 2 * p + 3, 8), row, d1)
"""
ODD_0 = "d0 = fmadd(broadcast(a, 2 * p + 2, 8), row, d0)"
ODD_1 = "d1 = fmadd(broadcast(a, 2 * p + 3, 8), row, d1)"
STORE_0 = "storeu(c, 0, fmadd(one, c0, d0))"
STORE_1 = "storeu(c, 8, fmadd(one, c1, d1))"


def stored(row_0: str, row_1: str) -> list[tuple[str, str]]:
    """Return the changes of the solution after which it stores these two expressions."""
    return [(STORE_0, f"storeu(c, 0, {row_0})"), (STORE_1, f"storeu(c, 8, {row_1})")]


WRONG = {
    "96 of the 96 steps of row 0 are added to one sum, each to the result of the one before, and "
    "the target is 48.": {
        "the starter": file_beside(__file__, "starter"),
        "new sums that get nothing": [(ODD_0, ODD_0.replace("d0", "c0")),
            (ODD_1, ODD_1.replace("d1", "c1"))],
        "row 0 with one sum": [(ODD_0, ODD_0.replace("d0", "c0"))]},
    "in row 1, some of the steps 2, 4, 6 … are added to the same sum as step 1. Steps that follow "
    "each other need different sums, in both rows.": {
        "row 1 with one sum": [(ODD_1, ODD_1.replace("d1", "c1"))],
        "one half after the other": [
            (BODY, BODY[: BODY.index("        row = loadu(b, 8 * p + 8")]
             + "    for p in range(a.size // 4, a.size // 2):\n"
             + BODY[BODY.index("        row = loadu(b, 8 * p + 8"):].replace(" + 8", "")
             .replace("2 * p + 2", "2 * p").replace("2 * p + 3", "2 * p + 1")),
            (LOOP, "for p in range(a.size // 4)")]},
    "The even steps alone are in the tile: what becomes of the new sums?": {
        "the new sums are not added": stored("c0", "c1")},
    "The odd steps alone are in the tile: the sums of the even steps are missing.": {
        "only the new sums are stored": stored("d0", "d1")},
    "Row 0 is right, and in row 1 the odd steps are missing.": {
        "row 1 stored without its new sum": stored("fmadd(one, c0, d0)", "c1")},
    "Row 1 is right, and in row 0 the odd steps are missing.": {
        "row 0 stored without its new sum": stored("c0", "fmadd(one, c1, d1)")},
    "Each row has the even steps of its own and the odd steps of the other one.": {
        "the new sums exchanged": stored("fmadd(one, c0, d1)", "fmadd(one, c1, d0)")},
    "Each row holds the sum of both rows, in the even or in the odd steps: add the "
    "even and the odd steps of the same row.": {
        "rows added instead of steps": stored("fmadd(one, c0, c1)", "fmadd(one, d0, d1)")},
    "The two sums of a row are multiplied and 1 is added: `fmadd(x, y, z)` is x·y + z.": {
        "a product of the sums": stored("fmadd(c0, d0, one)", "fmadd(c1, d1, one)")},
    "Each element is 1 away from what is right. With what do the sums begin?": {
        "new sums begin at one": [(START, "c0 = c1 = set1(float32(0), 8)\n    d0 = d1 = one")]},
    "`d0` has no value before the loop. With what does a sum begin?": {
        "new sums without a beginning": [(START, "c0 = c1 = set1(float32(0), 8)")]},
    "Vectors know no `+`, no `*` and no `+=`.": {
        "added with a plus": stored("c0 + d0", "c1 + d1")},
    "The even steps count twice, and of the odd steps only the last: the new sums go on from the "
    "others, and not from themselves.": {
        "even sums for a beginning": [(ODD_0, ODD_0.replace("row, d0", "row, c0")),
            (ODD_1, ODD_1.replace("row, d1", "row, c1"))]},
    "The result of each odd step replaces the sum of the even ones. The sum that is the last "
    "argument of `fmadd` must also take the result.": {
        "odd steps give their result to the even sums": [
            (ODD_0, ODD_0.replace("d0 =", "c0 =")), (ODD_1, ODD_1.replace("d1 =", "c1 ="))]},
    "The odd steps are multiplied with the vector of `{b}` of the step before: each step has a "
    "vector of its own.": {
        "the second load lost": [("        row = loadu(b, 8 * p + 8, 8)\n", "")]},
    "The new sums are added in every iteration and keep their value, so a step counts again each "
    "time: add them once, behind the loop.": {
        "new sums added in the loop": [
            (ODD_1, f"{ODD_1}\n        c0 = fmadd(one, d0, c0)\n        c1 = fmadd(one, d1, c1)"),
            *stored("c0", "c1")]},
    "The step that is read second is the same as the first one.": {
        "the same step twice": [("8 * p + 8", "8 * p"), ("2 * p + 2", "2 * p"),
            ("2 * p + 3", "2 * p + 1")]},
    "Only every second step is in the sums: the loop goes on by two, and takes one step.": {
        "one step of two": [(BODY, BODY[: BODY.index("        row = loadu(b, 8 * p + 8")])]},
    "store 2 times into an element, and once is enough": {
        "stored, loaded and stored again": [
            (STORE_0, "storeu(c, 0, c0)\n    storeu(c, 0, fmadd(one, loadu(c, 0, 8), d0))"),
            (STORE_1, "storeu(c, 8, c1)\n    storeu(c, 8, fmadd(one, loadu(c, 8, 8), d1))")]},
    "the target is 0.5": {
        "a load for each row": [(ODD_1, ODD_1.replace("row", "loadu(b, 8 * p + 8, 8)"))]},
}  # fmt: skip
