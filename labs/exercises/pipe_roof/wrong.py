"""Wrong answers to `pipe_roof`: what `check` says, and the changes that earn it."""

OPERATIONS = "2 * 32 * multiply_adds"
MOVED = "128 * (rows + broadcasts)"
RESULT = "min(peak, operations / moved * bandwidth)"

WRONG = {
    "A broadcast brings 4 bytes. How long does the pipe work for it?": {
        "the starter": [(MOVED, "128 * rows + 4 * broadcasts")]},
    "You have left the broadcasts out, and each of them takes a wavefront.": {
        "no broadcasts": [(MOVED, "128 * rows")]},
    "You have left the rows out, and each of them takes a wavefront.": {
        "no rows": [(MOVED, "128 * broadcasts")]},
    "You count 32 bytes for a broadcast, the sector of its word. The pipe is busy with it for a "
    "whole cycle.": {
        "a sector for a broadcast": [(MOVED, "128 * rows + 32 * broadcasts")]},
    "You count 4 bytes for a row, too. The pipe is busy with a row for a whole cycle.": {
        "four bytes for all": [(MOVED, "4 * (rows + broadcasts)")]},
    "You count 32 wavefronts for a broadcast. All lanes want the same word, and one is enough.": {
        "a wavefront per lane": [(MOVED, "128 * rows + 32 * 128 * broadcasts")]},
    "You count rows and broadcasts together as one wavefront.": {
        "one wavefront": [(MOVED, "128")]},
    "You take the larger of the two counts. The loads come one after the other: add them.": {
        "the larger count": [(MOVED, "128 * max(rows, broadcasts)")]},
    "You multiply rows and broadcasts. Each load takes a wavefront of its own: add them.": {
        "a product": [(MOVED, "128 * max(1, rows) * max(1, broadcasts)")]},
    "Your operations are those of one lane, and a warp has 32.": {
        "one lane": [(OPERATIONS, "2 * multiply_adds")]},
    "A multiply-add is two operations, and you count one.": {
        "one operation": [(OPERATIONS, "32 * multiply_adds")]},
    "The roof is missing: no kernel is faster than the peak.": {
        "no roof": [(RESULT, "operations / moved * bandwidth")]},
    "You take the higher one of two ceilings. The lower one is the limit.": {
        "the higher ceiling": [("min(", "max(")]},
    "You have divided the wrong way round: more operations per byte allow more.": {
        "upside down": [("operations / moved", "moved / operations")]},
    "This is the intensity, and GFLOP/s are asked for.": {
        "the intensity": [(RESULT, "operations / moved")]},
    "Only the rows are multiplied by 128. Brackets are missing.": {
        "no brackets": [(MOVED, "128 * rows + broadcasts")]},
    "returns nothing": {"nothing returned": [("return ", "answer = ")]},
}  # fmt: skip
