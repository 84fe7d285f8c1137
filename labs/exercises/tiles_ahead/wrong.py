"""Wrong answers to `tiles_ahead`: what `check` says, and the changes that earn it."""

CYCLES = "cycles = instructions * warps"
RESULT = "-(-latency // cycles)"

WRONG = {
    "You have rounded down: these iterations end before the load does.": {
        "rounded down": [(RESULT, "latency // cycles")]},
    "You add one to the whole part, also where the iterations last exactly as long as the load.": {
        "one more": [(RESULT, "latency // cycles + 1")]},
    "This is one tile too many: the tile that is multiplied is not ahead.": {
        "the number of buffers": [(RESULT, "-(-latency // cycles) + 1")]},
    "This is no whole number, and a tile is ahead by whole iterations.": {
        "not rounded": [(RESULT, "latency / cycles")]},
    "You count the instructions of one warp. The scheduler starts those of all its warps.": {
        "one warp": [(CYCLES, "cycles = instructions")]},
    "You count the warps alone: each makes all instructions of an iteration.": {
        "the warps alone": [(CYCLES, "cycles = warps")]},
    "You divide the instructions by the warps. The warps share one scheduler, so their "
    "instructions add up.": {
        "instructions shared out": [(CYCLES, "cycles = instructions / warps")]},
    "You add the two numbers. Each warp makes all instructions of an iteration.": {
        "the sum": [(CYCLES, "cycles = instructions + warps")]},
    "You have divided the wrong way round: how many iterations last as long as a load?": {
        "upside down": [(RESULT, "-(-cycles // latency)")]},
    "returns nothing": {"nothing returned": [("return ", "answer = ")]},
    "Your answer is never more than 1, and several short iterations may be needed.": {
        "at most one": [(RESULT, "min(1, -(-latency // cycles))")]},
}  # fmt: skip
