"""Other right answers to `whole_rows`: changes of the solution that `check` accepts."""

from labs.exercises.whole_rows.wrong import ALL, BODY, FREE, LOOP, ROOM, STORE, TEST, WRITE

RIGHT = {
    "a barrier of the block": [("cuda.syncwarp()", "cuda.syncthreads()")],
    "words one by one, rows of 33": [
        (ROOM, ROOM.replace("48", "33")),
        (STORE, "        for j in range(4):\n"
         "            rows[down, across * 4 + j] = mine[i, j]\n"),
    ],
    "rows of 80 words": [(ROOM, ROOM.replace("48", "80"))],
    "the whole tile at once": [
        (ROOM, ROOM.replace("(4, 48)", "(16, 36)")),
        (BODY, "    for i in range(4):\n        store4(rows, (down * 4 + i, across * 4), "
         f"{ALL})\n    cuda.syncwarp()\n    for r in range(16):\n"
         "        if row + r < c.shape[0] and col + lane < c.shape[1]:\n"
         "            c[row + r, col + lane] = rows[r, lane]\n"),
    ],
    "two buffers and one barrier": [
        (ROOM, ROOM.replace("(4, 48)", "(8, 48)")),
        ("(down, across * 4), (mine", "(i % 2 * 4 + down, across * 4), (mine"),
        ("rows[r, lane]", "rows[i % 2 * 4 + r, lane]"),
        (FREE, ""),
    ],
    "names for row and column": [
        (TEST + WRITE, "            y, z = row + r * 4 + i, col + lane\n"
         "            if y < c.shape[0] and z < c.shape[1]:\n"
         "                c[y, z] = rows[r, lane]\n"),
    ],
    "the column is tested once": [
        (LOOP + TEST + WRITE, "        if col + lane < c.shape[1]:\n"
         "            for r in range(4):\n"
         "                if row + r * 4 + i < c.shape[0]:\n"
         "                    c[row + r * 4 + i, col + lane] = rows[r, lane]\n"),
    ],
}  # fmt: skip

# What is longer than it must be, and another alignment: the virtual GPU does not look at it.
HARMLESS = {
    "constant_one_more in `rows = cuda.shared.array(": "a spare row",
    "constant_one_more in `mine = cuda.local.array(": "longer",
}
