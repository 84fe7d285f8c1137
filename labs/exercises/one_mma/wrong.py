"""Wrong answers to `one_mma`: what `check` says, and the changes that earn it."""

LOOP = "    for i in range(4):\n"
LOAD = "        of_a[i] = a[row + group + i // 2 * 8, pair + i % 2]\n"
STORE = "        c[row + group + i // 2 * 8, col + pair + i % 2] = sums[i]\n"
MMA = "    mma_m16n8k8(sums, of_a, of_b)\n"


def load(position: str) -> list[tuple[str, str]]:
    """Return the change that loads the fragment of a from other positions."""
    return [(LOAD, f"        of_a[i] = a[{position}]\n")]


def store(position: str) -> list[tuple[str, str]]:
    """Return the change that stores the sums at other positions."""
    return [(STORE, f"        c[{position}] = sums[i]\n")]


WRONG = {
    "You load `{a}` by the map of `{b}`: lanes with the same `group` would hold a column. In `{a}` "
    "four neighbouring lanes share a row.": {
        "a by the map of b": load("row + pair + i % 2 + i // 2 * 8, group")},
    "You load `{a}` as `{b}` lies, with squares 0 and 1 in two rows. In `{a}` they are neighbours "
    "in a row, and squares 2 and 3 are eight rows below.": {
        "the line of b copied": load("row + pair + i % 2, group"),
        "the line of b for four": load("row + pair + i, group")},
    "You load `{a}` as `{b}` lies, and store the sums so, too. In `{a}` and in `c` squares 0 and 1 "
    "are neighbours in a row, and 2 and 3 are eight rows below.": {
        "the line of b copied twice": [*load("row + pair + i % 2, group"),
                                       *store("row + pair + i % 2, col + group")],
        "the line of b for four twice": [*load("row + pair + i, group"),
                                         *store("row + pair + i, col + group")]},
    "You store into four columns of `{c}`. Squares 2 and 3 are in the columns of squares 0 and 1, "
    "eight rows below.": {
        "four columns of c": store("row + group, col + pair + i"),
        "four columns of c in two rows": store("row + group + i // 2 * 8, col + pair + i")},
    "You load from four columns of `{a}`. Squares 2 and 3 are in the columns of squares 0 and 1, "
    "eight rows below.": {
        "four columns of a in two rows": load("row + group + i // 2 * 8, pair + i")},
    "The four elements of `{a}` are loaded column by column: 0 and 1 from two rows. In the picture "
    "squares 0 and 1 are neighbours in a row.": {
        "columns first": load("row + group + i % 2 * 8, pair + i // 2")},
    "The sums are stored column by column: 0 and 1 into two rows. In the picture squares 0 and 1 "
    "of `c` are neighbours in a row.": {
        "sums by columns": store("row + group + i % 2 * 8, col + pair + i // 2")},
    "You load `{a}` by the map of `{b}`, and store the sums by it, too. In `{a}` and in `c` four "
    "neighbouring lanes share a row.": {
        "a and c by the map of b": [*load("row + pair + i % 2 + i // 2 * 8, group"),
                                    *store("row + pair + i % 2 + i // 2 * 8, col + group")]},
    "The elements of `{a}` and of `c` are taken column by column: 0 and 1 from two rows. In the "
    "picture squares 0 and 1 are neighbours in a row.": {
        "a and c by columns": [*load("row + group + i % 2 * 8, pair + i // 2"),
                               *store("row + group + i % 2 * 8, col + pair + i // 2")]},
    "The rows of `{a}` and of `c` are taken by the lane modulo 8, as if eight lanes in a row had "
    "eight rows. Four neighbouring lanes share a row.": {
        "a and c by lane modulo 8":
            [*load("row + lane % 8 + i // 2 * 8, lane // 8 * 2 + i % 2"),
             *store("row + lane % 8 + i // 2 * 8, col + lane // 8 * 2 + i % 2")]},
    "`group` and `pair` are exchanged where `{a}` is loaded. In `{a}` a group of lanes shares a "
    "row, and `pair` is the first of a lane's two columns.": {
        "group and pair exchanged": load("row + pair + i // 2 * 8, group + i % 2"),
        "group and pair exchanged twice":
            [*load("row + pair + i // 2 * 8, group + i % 2"),
             *store("row + pair + i // 2 * 8, col + group + i % 2")]},
    "You load four columns of one row. Squares 2 and 3 are in the columns of squares 0 and 1, "
    "eight rows below.": {
        "four columns of a": load("row + group, pair + i"),
        "four columns of a and c":
            [*load("row + group, pair + i"), *store("row + group, col + pair + i")]},
    "The columns of `{a}` are k, which begins at 0 in every block. `col` belongs to `c`.": {
        "col in a": load("row + group + i // 2 * 8, col + pair + i % 2")},
    "Rows of `{a}` are taken by the lane modulo 8, as if eight lanes in a row had eight rows. Four "
    "neighbouring lanes share a row.": {
        "rows by lane modulo 8": load("row + lane % 8 + i // 2 * 8, lane // 8 * 2 + i % 2")},
    "The column 1 of `a` meets the row 2 of `b`": {
        "k apart in a": load("row + group + i // 2 * 8, lane % 4 + i % 2 * 4")},
    "The second half of the fragment of `{a}` has to come from eight rows further down.": {
        "the same rows twice": load("row + group, pair + i % 2"),
        "the next row": load("row + group + i // 2, pair + i % 2")},
    "A lane's two rows of `{a}` are neighbours here. In the picture there are seven rows between "
    "them.": {
        "neighbouring rows": load("row + 2 * group + i // 2, pair + i % 2")},
    "Every warp loads the first 16 rows of `{a}`. Where do the rows of this warp begin?": {
        "the first rows": load("group + i // 2 * 8, pair + i % 2")},
    "The column 0 of `a` meets the row 1 of `b`": {
        "one element twice": load("row + group + i // 2 * 8, pair")},
    "`pair` is the first of two columns, and both halves of a sum's row go to it.": {
        "one column of c": store("row + group + i // 2 * 8, col + pair")},
    "The sums are stored by the map of `{b}`, in columns. Those of a lane lie as its elements of "
    "`{a}` do.": {
        "sums by the map of b": store("row + pair + i % 2 + i // 2 * 8, col + group")},
    "Every row of blocks stores at the top of `c`.": {
        "the top of c": store("group + i // 2 * 8, col + pair + i % 2")},
    "Every column of blocks stores at the left edge of `c`.": {
        "the left edge of c": store("row + group + i // 2 * 8, pair + i % 2")},
    "reads of_a[0] of its local array, which it has not written": {
        "the mma first": [(MMA, ""), (LOOP + LOAD, MMA + LOOP + LOAD)]},
    "uses of_b[2]; dimension 0 of of_b has 2 elements": {
        "a and b exchanged": [(MMA, "    mma_m16n8k8(sums, of_b, of_a)\n")]},
    "Every term counts 2 times": {
        "two mma": [(MMA, MMA + MMA)]},
    "comes here without lane 31 of its warp: all 32 lanes must take part": {
        "a lane left out": [(MMA, f"    if lane < 31:\n    {MMA}")]},
    "reads sums[0] of its local array, which it has not written": {
        "sums not cleared": [("        sums[i] = float32(0)\n", "        pass\n")]},
    "reads of_a[2] of its local array, which it has not written": {
        "half of the fragment": [(LOOP + LOAD, LOOP.replace("4", "2") + LOAD)]},
    "A lane has four sums, and two of them are stored.": {
        "half of the sums": [(LOOP + STORE, LOOP.replace("4", "2") + STORE)]},
    "no thread ever stores into `c`": {
        "nothing stored": [(LOOP + STORE, "")]},
}  # fmt: skip
