"""Wrong answers to `required_shared`: what `check` says, and the changes that earn it."""


RESULT = "2 * side * side * 4"

WRONG = {
    "This is one tile. A block holds two.": {"one tile": [(RESULT, "side * side * 4")]},
    "These are words. A float32 has 4 bytes.": {"words": [(RESULT, "2 * side * side")]},
    "These are the words of one tile, and a block holds two.": {
        "words of one tile": [(RESULT, "side ** 2")]},
    "This is one row of each tile. A tile has as many rows.": {
        "a row of each": [(RESULT, "2 * side * 4")]},
    "This is twice too much: a float32 has 4 bytes, and a block holds two tiles.": {
        "float64": [(RESULT, "2 * side * side * 8")],
        "one tile of twice the side": [(RESULT, "(2 * side) ** 2 * 4")]},
    "These are bits. Memory is counted in bytes.": {"bits": [(RESULT, "2 * side * side * 32")]},
    "This is in KiB, and bytes are asked for.": {"KiB": [(RESULT, "2 * side * side * 4 / 1024")]},
    "bytes of two tiles": {
        "KiB rounded": [(RESULT, "2 * side * side * 4 // 1024")],
        "always 32": [(RESULT, "8192")]},
    "These are three tiles. The elements of c stay in registers.": {
        "three tiles": [(RESULT, "3 * side * side * 4")]},
    "A tile has `side` · `side` words, and not `side` + `side`.": {
        "side plus side": [(RESULT, "2 * (side + side) * 4")]},
    "There is one row too many in each tile.": {"padded": [(RESULT, "2 * side * (side + 1) * 4")]},
    "There is one row too few in each tile.": {
        "one row less": [(RESULT, "2 * side * (side - 1) * 4")]},
    "This is a tile in three dimensions. It has two.": {"cubed": [(RESULT, "2 * side ** 3 * 4")]},
    "The KiB that the driver keeps is not asked for by the launch.": {
        "with the KiB of the driver": [(RESULT, "2 * side * side * 4 + 1024")]},
    "returns nothing": {"nothing": [(RESULT, "None")]},
    "returns '2048', and a number is wanted": {"a text": [(RESULT, "'2048'")]},
    "returns 2 values": {"a tuple": [(RESULT, "side * side * 4, side * side * 4")]},
    "returns True, and a number is wanted": {"true": [(RESULT, "2 * side * side * 4 > 0")]},
    "These are the threads of a block, added to the bytes.": {
        "threads added": [(RESULT, "2 * side * side * 4 + side * side")]},
}  # fmt: skip
