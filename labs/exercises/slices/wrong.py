"""Wrong answers to `slices`: what `check` says, and the changes that earn it."""

COUNTS = "(1, 2, 3, 4, 6, 8, 12)"
WAVES = "-(-tiles * count // sms)"
TIME = "waves * (-(-steps // count) + 2)"
ADDED = "            if count > 1:\n                time += 4\n"
LONGEST = "-(-steps // count)"
KEPT = "if best == 0 or time < least"
LAST = "    return best\n"

WRONG = {
    "Of equals this is the largest number, and the smallest is asked for.": {
        "the largest of equals": [(KEPT, "if best == 0 or time <= least")]},
    "Your function never cuts a tile. Waves are `tiles * count` shared out to the SMs, then "
    "rounded up; and a slice has fewer steps than a tile. Compare your estimates with these: "
    "{numbers}": {
        "never cut": [(LAST, "    return 1\n")],
        "waves that are not whole": [(WAVES, "tiles * count / sms")],
        "waves rounded down": [(WAVES, "tiles * count // sms")],
        "waves of whole tiles, times the slices": [(WAVES, "-(-tiles // sms) * count")],
        "whole tiles": [(LONGEST, "steps")],
        "true division everywhere": [(WAVES, "tiles * count / sms"), (LONGEST, "steps / count")]},
    "This is always the largest number of slices. Where more than one wave comes of it, or a slice "
    "has few steps, that is slow.": {"always the most": [(KEPT, "if best == 0 or time")]},
    "This is the largest number of slices that fits into one wave. Count the beginnings and the "
    "adding, too; and more than one wave can be worth it.": {
        "as many as fit": [(TIME, "-count if tiles * count <= sms else 0"), (ADDED, "")]},
    "The last wave is left out where it is part empty, and there is at least one: your division "
    "rounds down.": {"at least one wave": [(WAVES, "max(1, tiles * count // sms)")]},
    "There is one step more than needed in a slice where steps divide: `steps // count + 1`.": {
        "one step more": [(LONGEST, "(steps // count + 1)")]},
    "Where a division leaves no rest, there is one wave and one step more than needed: `// sms + "
    "1` and `// count + 1`.": {
        "one wave and one step more": [(WAVES, "tiles * count // sms + 1"),
            (LONGEST, "(steps // count + 1)")]},
    "There is one wave more than needed where the last one is full: `// sms + 1`.": {
        "one wave more": [(WAVES, "tiles * count // sms + 1")]},
    "The number of slices makes no difference to your waves. Cut tiles are more: `tiles` times the "
    "number of slices.": {
        "no waves": [(WAVES, "1")],
        "waves of whole tiles": [(WAVES, "-(-tiles // sms)")]},
    "The 2 steps with which a slice begins are missing in your estimate, or count once. They count "
    "in each wave.": {
        "no beginning": [(" + 2)", ")")],
        "one beginning": [(TIME, f"waves * {LONGEST} + 2")]},
    "The 4 steps for adding make no difference to your answers: they are missing, or count for a "
    "tile that is not cut, too.": {
        "nothing added": [(ADDED, "")],
        "added for one slice": [(ADDED, "            time += 4\n")]},
    "The 4 steps count for each slice in your estimate. They count once.": {
        "added for each slice": [("time += 4", "time += 4 * count")]},
    "The 4 steps count for each slice behind the first in your estimate. They count once.": {
        "added for each but the first": [("time += 4", "time += 4 * (count - 1)")]},
    "The 4 steps count in each wave in your estimate. They count once.": {
        "added in each wave": [("time += 4", "time += 4 * waves")]},
    "The 4 steps count in each wave in your estimate, and for a tile that is not cut, too. They "
    "count once, and only where tiles are cut.": {
        "added in each wave, and always": [(TIME, "waves * (-(-steps // count) + 2 + 4)"),
            (ADDED, "")]},
    "A slice has `steps // count` steps in your estimate. Where steps do not divide, the longest "
    "slice has one more, and its wave ends with it.": {
        "steps rounded down": [(LONGEST, "steps // count")]},
    "A slice has `steps / count` steps in your estimate. Where steps do not divide, the longest "
    "slice has more, and its wave ends with it.": {
        "steps not rounded": [(LONGEST, "steps / count")]},
    "12 slices are not tried.": {"12 left out": [(COUNTS, "(1, 2, 3, 4, 6, 8)")]},
    "Every number from 1 to 12 is tried, and the task names seven.": {
        "every number": [(COUNTS, "range(1, 13)")]},
    "Every number from 1 to 12 is tried, and the task names seven. And the 4 steps count for a "
    "tile that is not cut, too, or are missing.": {
        "every number, and nothing added": [(COUNTS, "range(1, 13)"), (ADDED, "")],
        "every number, and added always": [(COUNTS, "range(1, 13)"),
            (ADDED, "            time += 4\n")]},
    "Every number from 1 to 11 is tried, and the task names seven.": {
        "every number up to 11": [(COUNTS, "range(1, 12)")]},
    "11 is none of the numbers to try: 1, 2, 3, 4, 6, 8 and 12.": {
        "every number, and twice the beginning": [(COUNTS, "range(1, 13)"),
            (" + 2)", " + 2 + 2)")]},
    "More slices are tried than a tile has steps.": {
        "more slices than steps": [("if count <= steps:", "if True:")]},
    "As many slices as a tile has steps are not tried: `<` stands where `<=` is meant.": {
        "fewer slices than steps": [("count <= steps:", "count < steps:")]},
    "Only powers of two are tried.": {"powers of two": [(COUNTS, "(1, 2, 4, 8)")]},
    "One slice, a tile that is not cut, is not tried.": {
        "from two on": [(COUNTS, "(2, 3, 4, 6, 8, 12)")]},
    "This has the longest estimated time, and the shortest is asked for.": {
        "the longest": [("time < least", "time > least")]},
    "This is the shortest time. The number of slices that has it is asked for.": {
        "the time": [(LAST, "    return least\n")]},
    "This is the shortest time, and of more slices than a tile has steps, too. The number of "
    "slices that has it is asked for.": {
        "the time of more slices than steps": [("if count <= steps:", "if True:"),
            (LAST, "    return least\n")]},
    "102 is none of the numbers to try": {
        "the time of a part of the numbers": [(COUNTS, "(1, 2, 3, 4, 6, 8)"),
            (LAST, "    return least\n")]},
    "This is the place in the list, from 0 on. The number of slices at that place is asked for.": {
        "the place": [(LAST, f"    return {COUNTS}.index(best)\n")]},
    "This is the number of waves. The number of slices is asked for.": {
        "the waves": [(LAST, "    return -(-tiles * best // sms)\n")]},
    "This is the number of all slices. The number of slices of one tile is asked for.": {
        "all slices": [(LAST, "    return tiles * best\n")]},
    "For `tiles": {"tiles and SMs exchanged": [(WAVES, "-(-sms * count // tiles)")]},
    "returns nothing": {"nothing returned": [(LAST, "    best\n")]},
    "is whole, and this is not": {"a float": [(LAST, "    return best / 2\n")]},
    "steps": {
        "a loop without an end": [
            (LAST, "    while best:\n        least += 1\n    return best\n")]},
    "There is one wave more than needed where the last one is full: `// sms + 1`. And a slice has "
    "`steps // count` steps, where the longest one has more if steps do not divide.": {
        "one wave more, and steps rounded down": [(WAVES, "tiles * count // sms + 1"),
            (LONGEST, "steps // count")]},
}  # fmt: skip
