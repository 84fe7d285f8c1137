"""Other right answers to `wide_tiles`: changes of the solution that `check` accepts."""

from labs.exercises.wide_tiles.wrong import CLEAR, LOAD_A, LOAD_B, READS

RIGHT = {
    "other names for the quads": [
        (LOAD_A, LOAD_A.replace("four", "of_row")), (LOAD_B, LOAD_B.replace("four", "quad"))],
    "the tile of b first": [(LOAD_A + LOAD_B, LOAD_B + LOAD_A)],
    "the place in variables": [
        (LOAD_A, "        down, z = t // 2, t % 2 * 4\n"
         "        four = load4(a, (row + down, start + z))\n"
         "        for j in range(4):\n            sa[z + j, down] = four[j]\n")],
    "a for loop over the steps": [
        ("        z = uint32(0)\n        while z < 8:\n", "        for z in range(8):\n"),
        ("            z = uint32(z + 1)\n", "")],
    "columns of c in two halves": [
        ("t // 16 * 8, t % 16 * 8", "t // 16 * 8, t % 16 * 4"),
        ("(z, x + i))", "(z, x + 16 * i))"), ("col + x + 4)", "col + x + 64)")],
    "rows without a gap": [("(8, 132)", "(8, 128)")],
    "one loop for the sums": [
        (CLEAR, "    for e in range(64):\n        sums[e // 8, e % 8] = float32(0)\n")],
    "a loop for each array": [
        (READS, "            for i in (0, 4):\n"
         "                p, q, r, s = load4(sa, (z, y + i))\n"
         "                of_a[i], of_a[i + 1], of_a[i + 2], of_a[i + 3] = p, q, r, s\n"
         "            for j in (0, 4):\n"
         "                p, q, r, s = load4(sb, (z, x + j))\n"
         "                of_b[j], of_b[j + 1], of_b[j + 2], of_b[j + 3] = p, q, r, s\n")],
}  # fmt: skip

_SPARE = "a spare row or element"
_LOCALS = "of_a, of_b = cuda.local.array(8, float32), cuda.local.array(8, float32)"
HARMLESS = {
    f"constant_one_more in `{name} = cuda.shared.array((8, {words}), float32, alignment=16)`":
        _SPARE
    for name, words in (("sa", 132), ("sb", 128))
} | {
    "constant_one_more in `sums = cuda.local.array((8, 8), float32)`": _SPARE,
    f"constant_one_more in `{_LOCALS}`": _SPARE,
    f"names_exchanged in `{_LOCALS}`": "both arrays are alike",
    "names_exchanged in `y, x = t // 16 * 8, t % 16 * 8`": "c's rows and columns have equal shares",
    "indices_exchanged in `sums[i, j] = float32(0)`": "all 64 are set",
    "float64 in `sums[i, j] = float32(0)`": "it is stored as float32",
    "constant_one_less in `for i in range(0, 8, 4):`": "the loop takes the same two steps",
}  # fmt: skip
