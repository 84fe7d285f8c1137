"""Wrong answers to `busy_share`: what `check` says, and the changes that earn it."""

MOVED = "max(dram / 4_294, l2 / 10_231)"
LONGEST = "max(operations / 65_108, moved, wavefronts / 258, instructions / 1_045)"
RESULT = "100 * 1000 * seconds / ms"
ADDED = "operations / 65_108 + moved + wavefronts / 258 + instructions / 1_045"
BYTES_ADDED = (MOVED, "dram / 4_294 + l2 / 10_231")

WRONG = {
    "You add the times of all resources. They work at the same time: the longest one counts.": {
        "a sum": [BYTES_ADDED, (LONGEST, ADDED)]},
    "You take the shortest of the times. The busiest resource has the longest one.": {
        "the shortest": [(MOVED, MOVED.replace("max", "min")),
                         (LONGEST, LONGEST.replace("max", "min"))]},
    "You take the mean of the times. The busiest resource has the longest one.": {
        "the mean": [BYTES_ADDED, (LONGEST, f"({ADDED}) / 5")]},
    "You take the largest count, and its rate may be the highest, too. Compare times.": {
        "the largest count": [
            (LONGEST, "max(operations, dram, l2, wavefronts, instructions) / 65_108")]},
    "You leave the operations out. Arithmetic is the fifth resource.": {
        "no arithmetic": [("operations / 65_108, ", "")]},
    "You leave DRAM out.": {"no DRAM": [(MOVED, "l2 / 10_231")]},
    "You leave L2 out.": {"no L2": [(MOVED, "dram / 4_294")]},
    "You leave the bytes of DRAM and L2 out.": {"no bytes": [("moved, ", "")]},
    "The wavefronts do not count in your result. The pipe serves 258 · 10⁹ of them per second.": {
        "no wavefronts": [("wavefronts / 258, ", "")],
        "wavefronts by bytes": [("wavefronts / 258", "wavefronts / 33_068")]},
    "You leave the instructions out. Each of them takes an issue slot.": {
        "no instructions": [(", instructions / 1_045", "")]},
    "You take arithmetic alone. Four other resources may be busy for longer.": {
        "arithmetic alone": [(LONGEST, "operations / 65_108")]},
    "You add the times of DRAM and L2. Both work at the same time.": {
        "bytes added": [BYTES_ADDED]},
    "You count a multiply-add twice: `operations` counts its product and its sum already.": {
        "operations doubled": [("operations / 65_108", "2 * operations / 65_108")]},
    "You multiply the wavefronts by 128. Their rate counts wavefronts, and not bytes.": {
        "bytes of wavefronts": [("wavefronts / 258", "128 * wavefronts / 258")]},
    "You count the instructions of 32 lanes. An instruction of a warp is issued once.": {
        "lanes": [("instructions / 1_045", "32 * instructions / 1_045")]},
    "This is a fraction, and percent are asked for.": {
        "a fraction": [(RESULT, "1000 * seconds / ms")]},
    "You divide seconds by milliseconds. Bring both to the same unit.": {
        "seconds by milliseconds": [(RESULT, "100 * seconds / ms")]},
    "You divide seconds by milliseconds, and percent are asked for.": {
        "both units": [(RESULT, "seconds / ms")]},
    "Counts and rates are both in 10⁹: leave this factor out.": {
        "rates in units": [(RESULT, "100 * 1000 * seconds / 1e9 / ms")],
        "rates in units, seconds by milliseconds": [(RESULT, "100 * seconds / 1e9 / ms")],
        "rates in units, a fraction": [(RESULT, "1000 * seconds / 1e9 / ms")],
        "rates in units, neither": [(RESULT, "seconds / 1e9 / ms")],
        "counts in units": [(RESULT, "100 * 1000 * seconds * 1e9 / ms")]},
    "This is the time of the busiest resource. What share of `ms` is it?": {
        "milliseconds": [(RESULT, "1000 * seconds")],
        "seconds": [(RESULT, "seconds")]},
    "You have divided the wrong way round. The share is the busy time over the whole time.": {
        "upside down": [(RESULT, "100 * ms / (1000 * seconds)")]},
    "This is the share of the time in which the busiest resource is free.": {
        "the free share": [(RESULT, "100 - 100 * 1000 * seconds / ms")]},
    "The share is rounded to a whole number.": {
        "rounded": [(RESULT, "round(100 * 1000 * seconds / ms)")],
        "rounded down": [(RESULT, "100 * 1000 * seconds // ms")]},
    "returns nothing": {"nothing returned": [("return ", "answer = ")]},
}  # fmt: skip
