"""Wrong answers to `law_of_schedulers`: what `check` says, and the changes that earn it."""

WARPS = "threads // 32"
FULLEST = "(warps + 3) // 4"
LIMIT = "100 * warps / (4 * fullest)"
BY_LAW = "100 * threads * chains / 512"
RESULT = f"min({LIMIT}, by_law)"

WRONG = {
    "Two warps are on two schedulers, and the other two schedulers have none.": {
        "the starter": [(RESULT, "min(100, by_law)")],
        "not rounded": [(FULLEST, "warps / 4")],
        "threads on schedulers": [(WARPS, "threads")]},
    "No SM is faster than its peak, and your answer is above 100.": {
        "no limit": [(RESULT, "by_law")]},
    "The warps are not divided evenly: the fullest scheduler has one more. Round up.": {
        "rounded down": [(FULLEST, "max(1, warps // 4)")]},
    "Your limit does not depend on the chains, and that is right. But too little can be under way, "
    "too: keep the law.": {
        "the limit alone": [(RESULT, LIMIT)]},
    "You multiply the two limits. The lower one of them holds.": {
        "a product": [(RESULT, f"{LIMIT} * min(100, by_law) / 100")]},
    "You take the higher of the two limits. The lower one holds.": {
        "the higher limit": [(RESULT, f"max({LIMIT}, by_law)")]},
    "In your law each scheduler with a warp works to the end. But some have fewer warps than "
    "others. They finish early, and then they have nothing to do.": {
        "schedulers with a warp": [(RESULT, "min(25 * min(4, warps), by_law)")],
        "four belts added": [
            (RESULT, "sum([min(25, 25 * ((warps + 3 - s) // 4) * chains / 4)"
                     " for s in range(4)])")]},
    "You have divided the wrong way round: the SM does fewer warps than it could.": {
        "upside down": [(LIMIT, "100 * (4 * fullest) / warps")]},
    "Your law has lost the chains: each thread has as many multiply-adds under way as it has "
    "chains.": {
        "no chains": [(BY_LAW, "100 * threads / 512")]},
    "This is a fraction, and the task asks for percent.": {
        "a fraction": [(RESULT, f"min({LIMIT}, by_law) / 100")]},
    "Your limit is that of the emptiest scheduler. The SM waits for the fullest one.": {
        "the emptiest": [(RESULT, "min(100 * 4 * (warps // 4) / warps, by_law)")]},
    "returns nothing": {"nothing returned": [("return ", "answer = ")]},
    "The result is rounded to a whole number of percent.": {
        "rounded": [(RESULT, f"round({RESULT})")],
        "whole numbers": [(LIMIT, "100 * warps // (4 * fullest)"),
                          (BY_LAW, "100 * threads * chains // 512")]},
}  # fmt: skip
