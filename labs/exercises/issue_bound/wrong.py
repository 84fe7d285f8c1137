"""Wrong answers to `issue_bound`: what `check` says, and the changes that earn it."""

CYCLES = "32 / lanes"
SHARE = "multiply_adds * cycles_of_a_multiply_add / instructions"
RESULT = "min(100, 100 * share)"

WRONG = {
    "No loop can be faster than the peak, and your answer is above 100.": {
        "no limit": [(RESULT, "100 * share")]},
    "This is right for 32 lanes alone. With fewer lanes a multiply-add keeps them busy for "
    "longer.": {
        "the share alone": [(CYCLES, "1")]},
    "With fewer lanes the bound is higher in percent of the peak, because the peak is lower.": {
        "lanes the wrong way round": [(CYCLES, "lanes / 32")]},
    "You have divided the wrong way round: multiply-adds are a part of the instructions.": {
        "upside down": [(SHARE, "instructions * cycles_of_a_multiply_add / multiply_adds")],
        "instructions per multiply-add": [(RESULT, "min(100, 100 / share)")]},
    "This is a fraction, and the task asks for percent.": {
        "a fraction": [(RESULT, "min(1, share)")],
        "a fraction without a limit": [(RESULT, "share")],
        "a fraction with the limit of percent": [(RESULT, "min(100, share)")],
        "a fraction, and the lanes the wrong way round": [(CYCLES, "lanes / 32"),
            (RESULT, "share")],
        "a fraction, and other instructions wait": [(SHARE, "multiply_adds * "
            "cycles_of_a_multiply_add / (instructions - multiply_adds + multiply_adds * "
            "cycles_of_a_multiply_add)"),
            (RESULT, "share")],
        "a fraction for 32 lanes": [(CYCLES, "1"), (RESULT, "share")]},
    "You compare the multiply-adds with the other instructions. The share is of all of them.": {
        "of the others": [(SHARE, "multiply_adds * cycles_of_a_multiply_add "
                           "/ (instructions - multiply_adds + 1e-12)")]},
    "Your bound is half of what is right. A multiply-add counts once among the instructions.": {
        "twice the instructions": [(SHARE, "multiply_adds * cycles_of_a_multiply_add "
                                    "/ (2 * instructions)")]},
    "You count two operations for a multiply-add. Here it is one instruction.": {
        "two operations": [(SHARE, "2 * multiply_adds * cycles_of_a_multiply_add / instructions")]},
    "This is the share of the instructions that are no multiply-adds.": {
        "the other part": [(RESULT, "min(100, 100 - 100 * share)")]},
    "You always take 16 lanes. The number of lanes is given as `lanes`.": {
        "always half rate": [(CYCLES, "2")]},
    "returns nothing": {"nothing returned": [("return ", "answer = ")]},
    "The result is rounded to a whole number of percent.": {
        "rounded down": [(RESULT, "min(100, 100 * multiply_adds * 32 // (lanes * instructions))")],
        "rounded": [(RESULT, "round(min(100, 100 * share))")]},
    "You take the higher of the two limits. The lower one holds.": {
        "the higher limit": [(RESULT, "max(100, 100 * share)")]},
}  # fmt: skip
