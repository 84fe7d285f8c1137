"""Wrong answers to `room_in_sets`: what `check` says, and the changes that earn it."""

from labs.checking.variants import file_beside

HEAD = "def room_in_sets(words, rows):\n"
TEST = "if held[line % 64] < 12:"
LINE = "row * words * 4 // 64"
RETURN = "return sum(held)"

WRONG = {
    "Row 1 begins 4,096 bytes after row 0": {
        "the starter": file_beside(__file__, "starter"),
        "without a loop": HEAD + "    return min(rows, 768)\n",
        "the row instead of the cache line": [("held[line % 64]", "held[row % 64]")]},
    "You count 12 for every set that the column uses, but some of these sets get fewer.": {
        "12 for each set, at most all rows": HEAD + """\
    used = {row * words * 4 // 64 % 64 for row in range(rows)}
    return min(rows, 12 * len(used))
"""},
    "All 5 cache lines are in different sets.": {
        "counted anew": [
            ("    held = [0] * 64\n    for row in range(rows):\n",
             "    for row in range(rows):\n        held = [0] * 64\n")]},
    "You cut the row to whole cache lines before you multiply. Multiply first, and divide then.": {
        "cut first": [(LINE, "row * (words // 16)")]},
    "You count a word as one byte, and it has 4.": {
        "bytes forgotten": [(LINE, "row * words // 64")]},
    "You take the number of the byte modulo 64. A set follows from the number of the cache line.": {
        "bytes instead of cache lines": [(LINE, "row * words * 4")]},
    "You take the number of the word modulo 64. A set follows from the number of the cache line.": {
        "words instead of cache lines": [(LINE, "row * words")]},
    "Each set takes 13 cache lines, and it has room for 12.": {
        "one too many": [("< 12", "<= 12")]},
    "The remainder decides to which set a cache line belongs. There are 64 sets, and not 12.": {
        "sets and room exchanged": [("held[line % 64]", "held[line % 12]"), ("< 12", "< 64")],
        "modulo 12": [("held[line % 64]", "held[line % 12]")]},
    "You count the sets that the column uses. Each of them has room for 12 cache lines.": {
        "the sets": [("return sum(held)", "return sum(1 for one in held if one)")],
        "one cache line per set": [("< 12", "< 1")]},
    "You count room that the column does not need: it has only as many cache lines as rows.": {
        "12 for each set": [("return sum(held)", "return 12 * sum(1 for one in held if one)")]},
    "This is how many cache lines have no room.": {
        "the lost ones": [(RETURN, "return rows - sum(held)")]},
    "You count all cache lines of the column, also those that have no room.": {
        "no limit": [(TEST, "if True:")],
        "all rows": HEAD + "    return rows\n"},
    "This is the fullest set alone. Add up all sets.": {
        "the largest": [("sum(held)", "max(held)")]},
    "You stop at the first cache line without room. Later ones may belong to other sets.": {
        "break": [("            held[line % 64] += 1\n",
                   "            held[line % 64] += 1\n        else:\n            break\n")]},
    "The column has one word in each row, no more and no fewer.": {
        "a row too many": [("range(rows)", "range(rows + 1)")],
        "a row too few": [("range(rows)", "range(rows - 1)")]},
    "returns nothing": {"nothing returned": [("return ", "answer = ")]},
}  # fmt: skip
