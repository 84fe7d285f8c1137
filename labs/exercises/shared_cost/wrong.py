"""Wrong answers to `shared_cost`: what `check` says, and the changes that earn it."""

READS = "grain + word_of_a"
STORES = "(1 + grain) / 32"
RESULT = "(reads + stores) / grain"

WRONG = {
    "The stores are missing.": {"reads alone": [(RESULT, "reads / grain")]},
    "This is the cost of one step, which has `grain` multiply-adds.": {
        "one step": [(RESULT, "reads + stores")],
        "the stores per step": [(RESULT, "reads / grain + stores")],
        "the reads per step": [(RESULT, "reads + stores / grain")]},
    "The stores are for 32 steps, and you count them in each.": {
        "all stores in each step": [(STORES, "1 + grain")],
        "one step, all stores": [(STORES, "1 + grain"), (RESULT, "reads + stores")]},
    "There is one tile of a, so one word of it is read and one is stored.": {
        "a tile of a for each tile of b": [(READS, "grain + grain * word_of_a")],
        "as many words of a stored": [(STORES, "2 * grain / 32")],
        "both for each tile of b": [(READS, "grain + grain * word_of_a"),
            (STORES, "2 * grain / 32")]},
    "The words of a and of b are exchanged: the tiles of b have `grain` words per step.": {
        "exchanged": [(READS, "1 + grain * word_of_a")]},
    "Each word of b costs a wavefront, and there are `grain` of them in a step.": {
        "one word of b": [(READS, "1 + word_of_a")]},
    "A word of a costs `word_of_a` wavefronts.": {
        "a word of a costs one": [(READS, "grain + 1")],
        "a word of a costs half": [(READS, "grain + 0.5")]},
    "Each store costs one wavefront, also that of a word of a.": {
        "the cost also of the store": [(STORES, "(word_of_a + grain) / 32")]},
    "The store of the tile of a is missing.": {"stores of b alone": [(STORES, "grain / 32")]},
    "The stores of the tiles of b are missing: there are `grain` of them.": {
        "two stores": [(STORES, "2 / 32")], "one store": [(STORES, "1 / 32")]},
    "You have divided the wrong way round: several multiply-adds share the wavefronts.": {
        "upside down": [(RESULT, "grain / (reads + stores)")],
        "times the grain": [(RESULT, "(reads + stores) * grain")]},
    "The tiles have 32 steps of k.": {
        "16 steps": [(STORES, "(1 + grain) / 16")],
        "a store for each of 32 rows": [(STORES, "(1 + grain) / 1024")]},
    "You divide by the words that are read, and not by the multiply-adds.": {
        "per word": [(RESULT, "(reads + stores) / (grain + 1)")]},
    "The result is rounded to a whole number of wavefronts.": {
        "rounded": [(RESULT, "round((reads + stores) / grain)")],
        "rounded down": [(RESULT, "(reads + stores) // grain")]},
    "returns nothing": {"nothing returned": [("return ", "answer = ")]},
}  # fmt: skip
