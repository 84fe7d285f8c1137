"""Other right answers to `waiting_blocks`: changes of the solution that `check` accepts."""

from labs.exercises.waiting_blocks.wrong import FITS, LAST, SLOTS

RIGHT = {
    "in one line": [
        (FITS, ""), (LAST, "    return blocks if blocks <= slots else slots - 1\n")],
    "the other case first": [
        (LAST, "    return blocks\n"),
        (FITS, "    if blocks > slots:\n        return slots - 1\n")],
    "below one more": [("blocks <= slots", "blocks < slots + 1")],
    "without a name": [(SLOTS, ""), ("<= slots", "<= sms * per_sm"),
                       ("return slots", "return per_sm * sms")],
    "an else": [(LAST, "    else:\n        return slots - 1\n")],
}  # fmt: skip
