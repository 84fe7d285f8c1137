"""Wrong answers to `attainable`: what `check` says, and the changes that earn it."""

OPERATIONS = "2 * BM * BN"
MOVED = "4 * (BM + BN)"
INTENSITY = "operations / moved"
RESULT = "min(peak, intensity * bandwidth)"

WRONG = {
    "The roof is missing: no kernel is faster than the peak.": {
        "no roof": [(RESULT, "intensity * bandwidth")]},
    "This is the peak alone, in all cases. Where bytes are the limit, it cannot be reached. Is "
    "your other ceiling in GFLOP/s, too?": {
        "the peak alone": [(RESULT, "peak")],
        "one ceiling in FLOP/s": [("* bandwidth", "* bandwidth * 1e9")]},
    "You take the higher one of two ceilings. The lower one is the limit.": {
        "the higher ceiling": [("min(", "max(")]},
    "You add the two ceilings. The lower one alone is the limit.": {
        "both ceilings added": [(RESULT, "peak + intensity * bandwidth")]},
    "Your bytes allow half of what is right. A multiply-add is two operations, and a float32 has 4 "
    "bytes.": {
        "one operation": [("2 * BM", "BM")],
        "float64": [(MOVED, "8 * (BM + BN)")]},
    "You count words, and `bandwidth` is in bytes: a float32 has 4.": {
        "words for bytes": [(MOVED, "BM + BN")]},
    "Your bytes allow twice what is right. A multiply-add is two operations, and a float32 has 4 "
    "bytes.": {
        "float16": [(MOVED, "2 * (BM + BN)")],
        "words and one operation": [("2 * BM", "BM"), (MOVED, "BM + BN")]},
    "With your formula a byte serves half an operation, whatever the tile is. For one k a block "
    "reads BM + BN words, and makes BM · BN multiply-adds of them.": {
        "the whole tile moves": [(MOVED, "4 * BM * BN")],
        "multiply-adds of the sides": [(OPERATIONS, "2 * (BM + BN)")]},
    "You count the words of `a` alone, and the block reads `b`, too.": {
        "a alone": [(MOVED, "4 * BM")]},
    "You count the words of `b` alone, and the block reads `a`, too.": {
        "b alone": [(MOVED, "4 * BN")]},
    "You take the tile for a square of BM. Its sides may differ.": {
        "a square of BM": [("* BN\n", "* BM\n"), ("BM + BN", "BM + BM")]},
    "You take the tile for a square of BN. Its sides may differ.": {
        "a square of BN": [("2 * BM", "2 * BN"), ("BM + BN", "BN + BN")]},
    "You have divided the wrong way round. The more operations a byte serves, the more the kernel "
    "may reach.": {
        "bytes per operation": [(INTENSITY, "moved / operations")],
        "bandwidth over intensity": [("intensity * bandwidth", "bandwidth / intensity")]},
    "The intensity is rounded to a whole number.": {
        "rounded down": [(INTENSITY, "operations // moved")],
        "rounded": [(INTENSITY, "round(operations / moved)")]},
    "This is the intensity, and GFLOP/s are asked for.": {"the intensity": [(RESULT, "intensity")]},
    "This is the ridge, where both ceilings meet. Which of them is lower here?": {
        "the ridge": [(RESULT, "peak / bandwidth")]},
    "This is the bandwidth, in GB/s. How many operations does a byte serve?": {
        "the bandwidth": [(RESULT, "min(peak, bandwidth)")]},
    "This is the share of the peak, and GFLOP/s are asked for.": {
        "a share": [(RESULT, "min(1, intensity * bandwidth / peak)")]},
    "returns nothing": {"nothing returned": [("return ", "answer = ")]},
    "Your bytes are 4 · BM + BN: only BM is multiplied by 4. Brackets are missing.": {
        "no brackets around the sides": [(MOVED, "4 * BM + BN")]},
    "Python divides by 4 and then multiplies by BM + BN. Put the bytes into brackets.": {
        "no brackets around the bytes": [("operations / moved", "operations / 4 * (BM + BN)")]},
    "Your bytes allow 8 times what is right. GB/s count bytes, and not bits.": {
        "bits a second": [("* bandwidth", "* 8 * bandwidth")]},
    "Your bytes allow an eighth of what is right. A float32 has 32 bits, which are 4 bytes.": {
        "bits of a word": [(MOVED, "32 * (BM + BN)")]},
    "With your formula a byte serves a sixth of an operation, whatever the tile is. For one k a "
    "block reads BM + BN words, and not three for each element.": {
        "three words an element": [(MOVED, "12 * BM * BN")]},
    "With your formula a byte serves a quarter of an operation, whatever the tile is. A block "
    "reads a word of `a` once for all its BN columns, and one of `b` once for all its BM rows.": {
        "two words a multiply-add": [(MOVED, "8 * BM * BN")]},
    "A side divided by 6 is the intensity of whole matrices, with 12·n² bytes. A block reads BM + "
    "BN words for one k.": {"whole matrices": [(INTENSITY, "BM / 6")]},
    "You count a store of c for every k. What a block stores at the end is left out.": {
        "the stores of c": [(MOVED, "4 * (BM + BN + BM * BN)")]},
    "A GB has 10⁹ bytes here, as a GFLOP has 10⁹ operations: neither needs a factor.": {
        "a GB of 2^30 bytes": [("* bandwidth", "* bandwidth * 2**30 / 1e9")]},
    "You compare intensities. GFLOP/s are asked for: compare the two ceilings.": {
        "intensities compared": [(RESULT, "min(peak / bandwidth, intensity)")]},
    "You add the times of arithmetic and of bytes. The roofline lets both work at once: the lower "
    "ceiling alone is the limit.": {
        "times added": [(RESULT, "1 / (1 / peak + 1 / (intensity * bandwidth))")]},
    "This is in TFLOP/s, and GFLOP/s are asked for.": {"TFLOP/s": [(RESULT, RESULT + " / 1000")]},
    "This is in FLOP/s, and GFLOP/s are asked for.": {"FLOP/s": [(RESULT, RESULT + " * 1e9")]},
    "You take 4,294 GB/s in all cases. The bandwidth is given as `bandwidth`.": {
        "the H200's bandwidth": [("* bandwidth", "* 4_294")]},
    "You take 65,108 GFLOP/s as the roof in all cases. The peak is given as `peak`.": {
        "the H200's peak": [("min(peak", "min(65_108")]},
    "divided by the bandwidth is 0.00781": {
        "an answer that no slip explains": [(RESULT, "min(peak, intensity * bandwidth / 1024)")]},
    "you allow more operations for a byte": {
        "a ceiling far too high": [("* bandwidth", "* 80 * bandwidth / BM")]},
    "You take 10,231 GB/s in all cases. The bandwidth is given as `bandwidth`.": {
        "the bandwidth of the H200's L2": [("* bandwidth", "* 10_231")]},
}  # fmt: skip
