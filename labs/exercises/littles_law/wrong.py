"""Wrong answers to `littles_law`: what `check` says, and the changes that earn it."""

NEEDED = "latency * rate"
RESULT = "min(100, 100 * workers * each / needed)"

WRONG = {
    "No belt is faster than its full rate, and your answer is above 100.": {
        "no limit": [(RESULT, "100 * workers * each / needed")]},
    "You leave out the boxes of each worker: one worker can have several under way.": {
        "the workers alone": [(RESULT, "min(100, 100 * workers / needed)")]},
    "You leave out the workers: each of them has boxes under way.": {
        "the boxes of one": [(RESULT, "min(100, 100 * each / needed)")]},
    "What is under way is workers times boxes, not their sum.": {
        "a sum": [(RESULT, "min(100, 100 * (workers + each) / needed)")]},
    "You leave out the rate: a belt that takes more boxes per second needs more of them under "
    "way.": {
        "the latency alone": [(NEEDED, "latency")]},
    "You leave out the latency: the longer a box rides, the more must be under way.": {
        "the rate alone": [(NEEDED, "rate")]},
    "What must be under way is latency times rate. You divide one by the other.": {
        "latency by rate": [(NEEDED, "latency / rate")],
        "rate by latency": [(NEEDED, "rate / latency")]},
    "What must be under way is latency times rate, not their sum.": {
        "latency plus rate": [(NEEDED, "latency + rate")]},
    "You have divided the wrong way round: the share is what is under way, divided by what is "
    "needed.": {
        "upside down": [(RESULT, "min(100, 100 * needed / (workers * each))")]},
    "This is a fraction, and the task asks for percent.": {
        "a fraction": [(RESULT, "min(1, workers * each / needed)")],
        "a fraction without a limit": [(RESULT, "workers * each / needed")],
        "a fraction with the limit of percent": [(RESULT, "min(100, workers * each / needed)")]},
    "This is the rate in boxes per second, and the task asks for the share of the full rate.": {
        "a rate": [(RESULT, "min(rate, workers * each / latency)")]},
    "You take the higher of the two limits. The lower one holds.": {
        "the higher limit": [(RESULT, "max(100, 100 * workers * each / needed)")]},
    "The result is rounded to a whole number of percent.": {
        "rounded down": [(RESULT, "min(100, 100 * workers * each // needed)")],
        "rounded": [(RESULT, "round(min(100, 100 * workers * each / needed))")]},
    "returns nothing": {"nothing returned": [("return ", "answer = ")]},
}  # fmt: skip
