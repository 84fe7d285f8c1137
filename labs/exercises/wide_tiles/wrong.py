"""Wrong answers to `wide_tiles`: what `check` says, and the changes that earn it."""

CLEAR = "    for i in range(8):\n        for j in range(8):\n            sums[i, j] = float32(0)\n"
FILL = "sa[t % 2 * 4 + j, t // 2] = four[j]"
FOUR_A = "        four = load4(a, (row + t // 2, start + t % 2 * 4))\n"
LOAD_A = f"{FOUR_A}        for j in range(4):\n            {FILL}\n"
LOAD_B = """        four = load4(b, (start + t // 32, col + t % 32 * 4))
        store4(sb, (t // 32, t % 32 * 4), four)
"""
READS = """            for i in range(0, 8, 4):
                of_a[i], of_a[i + 1], of_a[i + 2], of_a[i + 3] = load4(sa, (z, y + i))
                of_b[i], of_b[i + 1], of_b[i + 2], of_b[i + 3] = load4(sb, (z, x + i))
"""
LOADED = "        cuda.syncthreads()  # both tiles are complete\n"
USED = "        cuda.syncthreads()  # nobody needs them any more\n"

WRONG = {
    "The sums of a thread are added to before anything is stored in them.": {
        "the sums not set": [(CLEAR, "")]},
    "Only the terms of the last tile are in the sum: each turn forgets the tiles before.": {
        "the sums set at each tile": [
            (CLEAR, ""), (FOUR_A, CLEAR.replace("    for i", "        for i")
             .replace("        for j", "            for j")
             .replace("            sums", "                sums") + FOUR_A)]},
    "Every block loads the rows of `{a}` that the first blocks need.": {
        "without row": [("(row + t // 2,", "(t // 2,")]},
    "Every block loads the columns of `{b}` that the first blocks need.": {
        "without col": [("col + t % 32 * 4", "t % 32 * 4")]},
    "Every turn loads the first tile of `{a}` again.": {
        "a without start": [("start + t % 2 * 4", "t % 2 * 4")]},
    "Every turn loads the first tile of `{b}` again.": {
        "b without start": [("(start + t // 32,", "(t // 32,")]},
    "The tile of `{a}` has two quads in a row, and that of `{b}` has 32.": {
        "the quads of a counted as those of b": [
            ("(row + t // 2, start + t % 2 * 4)", "(row + t // 32, start + t % 32 * 4)")]},
    "`sa` has a row for each of the 8 steps of k: rows and columns of the tile are exchanged in "
    "it.": {
        "a not turned": [("sa[t % 2 * 4 + j, t // 2]", "sa[t // 2, t % 2 * 4 + j]")],
        "read as if not turned": [("load4(sa, (z, y + i))", "load4(sa, (y + i, z))")]},
    "The four words of `{a}` belong in four rows of `sa`, so one `store4` cannot store them.": {
        "a stored with store4": [(f"        for j in range(4):\n            {FILL}\n",
             "        store4(sa, (t % 2 * 4, t // 2), four)\n")]},
    "Four words at once begin at a multiple of 4: quad q begins at word 4·q.": {
        "the number of a quad for a column of a": [("start + t % 2 * 4", "start + t % 2")],
        "the number of a quad for a column of b": [("col + t % 32 * 4", "col + t % 32")],
        "the number of a quad for a column of sb": [("(t // 32, t % 32 * 4)", "(t // 32, t % "
        "32)")]},
    "A thread needs eight words of `sa` and eight of `sb` in each step, and one `load4` has "
    "four.": {
        "only four of each": [("range(0, 8, 4)", "range(0, 4, 4)")]},
    "The rows of a thread begin at `y`, and its columns at `x`.": {
        "x and y exchanged": [("(z, y + i)", "(z, x + i)"),
                              ("load4(sb, (z, x + i))", "load4(sb, (z, y + i))")],
        "x and y exchanged in the last store": [("(row + y + i, col + x + 4)",
                                                 "(row + x + i, col + y + 4)")]},
    "The rows of `{a}` that a block needs begin at `row`, and the columns of `{b}` at `col`.": {
        "col for row": [("(row + t // 2,", "(col + t // 2,")]},
    "Both reads of `sa` take the same four words.": {
        "the second quad of a is the first": [("(z, y + i)", "(z, y)")]},
    "Both reads of `sb` take the same four words.": {
        "the second quad of b is the first": [("load4(sb, (z, x + i))", "load4(sb, (z, x))")]},
    "loads 32 bits of `{a}`": {
        "a word by word": [(FOUR_A, ""),
            ("four[j]\n", "a[row + t // 2, start + t % 2 * 4 + j]\n")]},
    "loads 32 bits of `sa`": {
        "reads word by word": [(READS, "            for i in range(8):\n                of_a[i] = "
             "sa[z, y + i]\n                of_b[i] = sb[z, x + i]\n")]},
    "loads from global memory": {
        "b from global memory": [("load4(sb, (z, x + i))", "load4(b, (start + z, col + x + i))")]},
    "The 8 warps of a block fill the tiles together, and nothing makes them wait for each other "
    "before the tiles are read.": {"no barrier after the loads": [(LOADED, "")]},
    "Nothing makes the threads wait after line {other_line}: a fast one loads the next tile over "
    "words that a slow one still needs.": {"no barrier after the sums": [(USED, "")]},
    "Not all rows of `sa` are filled: each thread has four words, for four rows.": {
        "three words": [("range(4)", "range(3)")], "one row": [("4 + j, t // 2]", "4, t // 2]")]},
    "All four words of `{a}` that a thread stores are the first one of its tuple.": {
        "the first word four times": [("t // 2] = four[j]", "t // 2] = four[0]")]},
    "A term is the product of a word of `{a}` and one of `{b}`; here both are of one matrix.": {
        "a times a": [("of_a[i] * of_b[j]", "of_a[i] * of_a[j]")]},
    "On a GPU this is certain only with `alignment=16`.": {
        "without alignment": [("132), float32, alignment=16", "132), float32")]},
    "A quad has four elements, 0 to 3.": {"five words": [("range(4)", "range(5)")]},
}  # fmt: skip
