"""Other right answers to `room_in_sets`: changes of the solution that `check` accepts."""

HEAD = "def room_in_sets(words, rows):\n"

RIGHT = {
    "a name for the set": [
        ("        if held[line % 64] < 12:\n            held[line % 64] += 1\n",
         "        which = line % 64\n        held[which] = min(held[which] + 1, 12)\n")],
    "cut at the end": [
        ("        if held[line % 64] < 12:\n            held[line % 64] += 1\n",
         "        held[line % 64] += 1\n"),
        ("sum(held)", "sum(min(one, 12) for one in held)")],
    "a dictionary": HEAD + """\
    held = {}
    for row in range(rows):
        which = row * words * 4 // 64 % 64
        held[which] = min(12, held.get(which, 0) + 1)
    return sum(held.values())
""",
    "the room is counted": HEAD + """\
    room = 0
    held = [0 for _ in range(64)]
    for row in range(rows):
        line = row * words * 4 // 64
        if held[line % 64] < 12:
            held[line % 64] += 1
            room += 1
    return room
""",
    "words of a cache line": [("row * words * 4 // 64", "row * words // 16")],
}  # fmt: skip

HARMLESS = {"constant_one_more in `held = [0] * 64`": "a set more is never used"}
