"""Other right answers to `shared_cost`: changes of the solution that `check` accepts."""

from labs.exercises.shared_cost.wrong import READS, RESULT, STORES

RIGHT = {
    "one expression": [(RESULT, "1 + word_of_a / grain + (1 + grain) / (32 * grain)")],
    "32 steps together": [
        (READS, "32 * grain + 32 * word_of_a"), (STORES, "grain + 1"),
        (RESULT, "(reads + stores) / (32 * grain)")],
    "a loop over the tiles of b": [
        (f"    reads = {READS}\n", "    reads = word_of_a\n    for tile in range(grain):\n"
         "        reads += 1\n")],
    "each part alone": [(RESULT, "reads / grain + stores / grain")],
}  # fmt: skip
