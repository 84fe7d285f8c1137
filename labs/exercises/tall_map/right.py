"""Other right answers to `tall_map`: changes of the solution that `check` accepts."""

from labs.exercises.tall_map.wrong import mapped

RIGHT = {
    "a z-order": mapped("lane >> 1 & 1 | lane >> 2 & 6", "lane & 1 | lane >> 1 & 2"),
    "by divisions": mapped("lane // 2 % 8", "lane // 16 * 2 + lane % 2"),
    "a's bits exchanged": mapped("lane & 1 | lane >> 1 & 6", "lane >> 1 & 1 | lane >> 3 & 2"),
}

HARMLESS = {
    f"constant_one_more in `{name} = cuda.shared.array({words}, float32, alignment=16)`":
        "a spare word"
    for name, words in (("sa", 32), ("sb", 16))
}  # fmt: skip
