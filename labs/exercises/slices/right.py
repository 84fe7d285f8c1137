"""Other right answers to `slices`: changes of the solution that `check` accepts."""

from labs.exercises.slices.wrong import COUNTS, KEPT, LAST, LONGEST, WAVES

RIGHT = {
    "ceil of math": [
        (WAVES, "math.ceil(tiles * count / sms)"),
        ("def slices", "import math\n\n\ndef slices"),
    ],
    "a remainder": [(LONGEST, "(steps + count - 1) // count")],
    "backwards": [
        (COUNTS, "(12, 8, 6, 4, 3, 2, 1)"),
        (KEPT, "if best == 0 or time <= least"),
    ],
    "a list": [
        (COUNTS, "[1, 2, 3, 4, 6, 8, 12]"),
    ],
    "a dictionary": [
        ("best, least = 0, 0", "times = {}"),
        (KEPT, "if True"),
        ("best, least = count, time", "times[count] = time"),
        (LAST, "    return min(times, key=times.get)\n"),
    ],
    "an early value": [
        ("best, least = 0, 0", "best, least = 1, -(-tiles // sms) * (steps + 2)"),
        (KEPT, "if time < least"),
    ],
}

HARMLESS = {
    f"{rule} in `best, least = 0, 0`": "what `least` holds at first is never compared"
    for rule in ("names_exchanged", "constant_one_more", "constant_one_less")
}
