"""Wrong answers to `lane_map`: what `check` says, and the changes that earn it."""

MAP = "down, across = lane >> 3 & 2 | lane & 1, lane >> 1 & 7"
READS = "of_a, of_b = load4(sa, down * 4), load4(sb, across * 4)"
LOOP = "    for i in range(4):\n        x = of_a[i]\n"
FOUR = "        four = x * of_b[0], x * of_b[1], x * of_b[2], x * of_b[3]\n"
STORE = "        store4(c, (row + down * 4 + i, col + across * 4), four)\n"

COMMENT = (
    "    # Bit 0 of the lane goes down, bit 1 across: each read has a partner, next to it or but "
    "one.\n"
)
BODY = f"{COMMENT}    {MAP}\n    {READS}\n{LOOP}{FOUR}{STORE}"


def mapped(down: str, across: str) -> list[tuple[str, str]]:
    return [(MAP, f"down, across = {down}, {across}")]


WRONG = {
    "no thread ever stores": {"nothing": [(BODY, "")]},
    "4 wavefronts to read `sb`": {
        "row by row": mapped("lane // 8", "lane % 8"),
        "2×2 patches of 8": mapped("lane >> 3 & 2 | lane >> 2 & 1", "lane >> 1 & 4 | lane & 3"),
        "next neighbours but three": mapped("lane >> 2 & 3", "lane & 3 | lane >> 2 & 4"),
        "back and forth": mapped("lane // 8", "lane % 8 if lane // 8 % 2 == 0 else 7 - lane % 8")},
    "4 wavefronts to read `sa`": {"column by column": mapped("lane % 4", "lane // 4")},
    "Lanes 29 and 31 both have the patch (3, 6), (down, across), and nobody has the patch (3, "
    "7). 32 "
    "lanes need 32 different patches.": {
        "pairs in most lanes": (
            mapped("lane >> 3 & 2 | lane & 1", "(lane >> 1 & 7) ^ (lane // 31)"))},
    "That is in quad 4, and `{tile a}` has 4 quads, 0 to 3: the tile has 4 quads down and 8 "
    "across. Which of the two counts up to 4 here?": {
        "4×8 exchanged": mapped("lane // 4", "lane % 4"),
        "down and across exchanged": [
            (MAP, "across, down = lane >> 3 & 2 | lane & 1, lane >> 1 & 7")],
        "only in the reads": [(READS, "of_a, of_b = load4(sa, across * 4), load4(sb, down * 4)")]},
    "Lanes 0 and 8 both have the patch (0, 0), (down, across), and nobody has the patch (0, 1). 32 "
    "lanes need 32 different patches.": {"bits that overlap": mapped("lane & 3", "lane & 7")},
    "Lanes 0 and 4 both have the patch (0, 0), (down, across), and nobody has the patch (0, 4). 32 "
    "lanes need 32 different patches.": {
        "the same quad of b for two": mapped("lane // 8", "lane % 4")},
    "Lanes 0 and 1 both have the patch (0, 0), (down, across), and nobody has the patch (0, 4). 32 "
    "lanes need 32 different patches.": {
        "neighbours share both": mapped("lane >> 3 & 3", "lane >> 1 & 7")},
    "Lanes 0 and 1 both have the patch (0, 0), (down, across), and nobody has the patch (0, 1). 32 "
    "lanes need 32 different patches.": {"one quad for all": mapped("0", "0")},
    "Lanes 0 and 16 both have the patch (0, 0), (down, across), and nobody has the patch (2, "
    "0). 32 "
    "lanes need 32 different patches.": {"a bit too few": mapped("lane & 1", "lane >> 1 & 7")},
    "Four elements at once begin at a multiple of 4: quad q begins at element 4·q. Is the place "
    "here the number of a quad?": {
        "the number of a quad for its place in sa": [("load4(sa, down * 4)", "load4(sa, down)")],
        "the number of a quad for its place in sb": [
            ("load4(sb, across * 4)", "load4(sb, across)")],
        "the number of a quad for its column in c": [("col + across * 4", "col + across")]},
    "Line {line}, `{code}`: lane 1 begins at `{c}[1, 0]`. A patch begins at a row and a column "
    "that "
    "are multiples of 4.": {
        "the number of a quad for its row in c": [("row + down * 4 + i", "row + down + i")]},
    "`{tile b}` has 8 quads, with the numbers 0 to 7.": {
        "eight words a quad in sb": [("load4(sb, across * 4)", "load4(sb, across * 8)")]},
    "The tile of block (0, 0) is whole, and no tile begins at row 16. Does the place where you "
    "store have `row` in it?": {"without row": [("row + down", "down")]},
    "The tile of block (0, 0) is whole, and no tile begins at column 32. Does the place where you "
    "store have `col` in it?": {"without col": [("col + across", "across")]},
    "This is lane 0 of block (1, 0), whose tile begins at row 0 and column 32. How far from there "
    "may a lane go?": {
        "row and col exchanged": [
            ("(row + down * 4 + i, col + across * 4)", "(col + down * 4 + i, row + across * 4)")]},
    "This is lane 8 of block (0, 1). In block (0, 0) it stores the patch (4, 0), and a tile has 4 "
    "quads down and 8 across.": {
        "down and across exchanged in c": [
            ("(row + down * 4 + i, col + across * 4)", "(row + across * 4 + i, col + down * 4)")]},
    "That is `{a}[4]` times `{b}[0]`, and `{c}[0, 4]` is `{a}[0]` times `{b}[4]`. Lane 1 reads the "
    "quads 1 of `{tile a}` and 0 of `{tile b}`, and stores the patch (0, 1) of `{c}`.": {
        "row by row in c alone": [
            (STORE, "        store4(c, (row + lane // 8 * 4 + i, col + lane % 8 * 4), four)\n")]},
    "That is `{a}[0]` times `{b}[8]`, and `{c}[0, 4]` is `{a}[0]` times `{b}[4]`. Lane 2 reads the "
    "quads 0 of `{tile a}` and 2 of `{tile b}`, and stores the patch (0, 1) of `{c}`.": {
        "row by row in the reads alone": [
            (READS, "of_a, of_b = load4(sa, lane // 8 * 4), load4(sb, lane % 8 * 4)")]},
    "That is `{a}[0]` times `{b}[0]`, and `{c}[1, 0]` is `{a}[1]` times `{b}[0]`. Lane 0 has read "
    "the right quads. Which of their elements does it multiply?": {
        "the first of a for all": [("x = of_a[i]", "x = of_a[0]")]},
    "That is `{a}[0]` times `{b}[1]`, and `{c}[0, 0]` is `{a}[0]` times `{b}[0]`. Lane 0 has read "
    "the right quads. Which of their elements does it multiply?": {
        "elements of b in another order": [
            ("x * of_b[0], x * of_b[1]", "x * of_b[1], x * of_b[0]")]},
    "That is `{a}[0]` times `{a}[0]`, and `{c}[0, 0]` is `{a}[0]` times `{b}[0]`. Lane 0 has read "
    "the right quads. Which of their elements does it multiply?": {
        "a times a": [("of_b[0]", "of_a[0]")]},
    "That is the sum of its two elements, and not their product.": {
        "a sum": [(FOUR, FOUR.replace("*", "+"))]},
    "`load4` gives a tuple of four numbers": {
        "a number times a quad": [(FOUR, "        four = x * of_b\n")],
        "a quad times a quad": [(FOUR, "        four = of_a * of_b\n")]},
    "needs a tuple of four numbers": {
        "three numbers for four": [(", x * of_b[3]", "")]},
    "a wide store needs a tuple of numbers, such as (p, q, r, s), and was given one number.": {
        "one number for four": [(FOUR, ""), ("four)", "x)")]},
    "one number is stored into one element": {
        "a quad into one element": [
            (FOUR + STORE, "        c[row + down * 4 + i, col + across * 4] = of_b\n")]},
    "One number goes into all four elements of the slice, and each of them needs the product with "
    "its own element of `b`.": {
        "one number into a slice": [(FOUR + STORE, "        j = col + across * 4\n"
             "        c[row + down * 4 + i, j : j + 4] = x * of_b[0]\n")]},
    "Write the four numbers": {
        "a list of four": [(FOUR, "        four = [x * y for y in of_b]\n")],
        "a tuple from a loop": [(FOUR, "        four = tuple(x * y for y in of_b)\n")]},
    "That is the element of `{b}` alone: it is multiplied with nothing.": {
        "b alone": [(FOUR, "        four = of_b\n")]},
    "Each lane stores 12 elements, and its patch of `{c}` has 16. Within each patch row 3 "
    "is missing.": {"three rows": [("range(4)", "range(3)")]},
    "Each lane stores 4 elements, and its patch of `{c}` has 16. Within each patch row 1 "
    "is missing.": {"one row": [("range(4)", "range(1)")]},
    "A quad has four elements, 0 to 3": {"five rows": [("range(4)", "range(5)")]},
    "That is `{a}[4]` times `{b}[0]`, and `{c}[1, 0]` is `{a}[1]` times `{b}[0]`. Line {store c}, "
    "`{code store c}`: lane 1 begins at `{c}[1, 0]`. A patch begins at a row and a column that are "
    "multiples of 4.": {"rows four apart": [("down * 4 + i, ", "down + 4 * i, ")]},
    "32 bits at a time, 16 times": {
        "scalar reads of b": [
            (", of_b = load4(sa, down * 4), load4(sb, across * 4)", " = load4(sa, down * 4)"),
            (FOUR + STORE,
             "        for j in range(4):\n"
            "            c[row + down * 4 + i, col + across * 4 + j] = x * sb[across * 4 + j]\n")]},
    "32 bits at a time, 4 times": {
        "scalar reads of a": [("of_a, of_b = load4(sa, down * 4), ", "of_b = "),
            ("of_a[i]", "sa[down * 4 + i]")]},
    "8 wavefronts to read `sb`": {
        "read in the loop": [("of_a, of_b = load4(sa, down * 4), ", "of_a = "),
            ("load4(sb, across * 4)\n", "load4(sa, down * 4)\n"),
            (LOOP, f"{LOOP}        of_b = load4(sb, across * 4)\n")]},
    "2 stores are made for an element": {"stores twice": [(STORE, STORE + STORE)]},
    "load4 takes 2 arguments": {
        "a bracket in the wrong place": [("load4(sa, down * 4)", "load4(sa[down * 4])")]},
    "Each lane stores 4 elements, and its patch of `{c}` has 16. Within each patch column 1 is "
    "missing.": {
        "one element for four": [("store4(c, (row + down * 4 + i, col + across * 4), four)",
             "c[row + down * 4 + i, col + across * 4] = x * of_b[0]")]},
    "16 lanes of each warp store nothing.": {
        "the first lanes only": [(STORE, f"        if lane < 16:\n    {STORE}")]},
    "needs the value of `c` before": {
        "reads c": [(STORE, "        for j in range(4):\n"
             "            c[row + down * 4 + i, col + across * 4 + j] += x * of_b[j]\n")]},
    "no `@cuda.jit`": {"a plain function": [("@cuda.jit\n", "")]},
}  # fmt: skip
