"""Other right answers to `turned_tile`: changes of the solution that `check` accepts."""

from labs.exercises.turned_tile.wrong import FOUR, LOOP, STORE

RIGHT = {
    "four lines for the four rows": [
        (LOOP, "".join(f"    tile[z + {j}, down] = four[{j}]\n" for j in range(4)))],
    "four names": [
        (FOUR, "    p, q, r, s = load4(x, (first + down, z))\n"),
        (LOOP, "    tile[z, down], tile[z + 1, down] = p, q\n"
         "    tile[z + 2, down], tile[z + 3, down] = r, s\n")],
    "the quad of the tile in a variable": [
        (STORE, "    quad = load4(tile, (z, across))\n"
         "    store4(out, (z, first + across), quad)\n")],
    "other names": [("(x, out)", "(source, turned)"), ("load4(x", "load4(source"),
                    ("store4(out", "store4(turned")],
}  # fmt: skip

# The tile may have more rows than are used, and the virtual GPU does not look at `alignment`.
_TILE = "tile = cuda.shared.array((8, 128), float32, alignment=16)"
HARMLESS = {f"constant_one_more in `{_TILE}`": "a spare row"}
