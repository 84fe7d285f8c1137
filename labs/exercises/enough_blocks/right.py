"""Other right answers to `enough_blocks`: changes of the solution that `check` accepts."""

from labs.exercises.enough_blocks.wrong import BLOCKS

RIGHT = {
    "the negative of a floor": [(BLOCKS, "-(-elements // threads)")],
    "ceil": [
        (BLOCKS, "math.ceil(elements / threads)"),
        ("def enough_blocks", "import math\n\n\ndef enough_blocks"),
    ],
    "one less": [(BLOCKS, "(elements - 1) // threads + 1")],
    "the rest asked for": [
        (f"    return {BLOCKS}\n",
         "    blocks = elements // threads\n    if elements % threads != 0:\n"
         "        blocks += 1\n    return blocks\n")],
    "a truth value added": [(BLOCKS, "elements // threads + (elements % threads > 0)")],
    "divmod": [
        (f"    return {BLOCKS}\n",
         "    full, rest = divmod(elements, threads)\n    return full + min(rest, 1)\n")],
}  # fmt: skip
