"""Wrong answers to `best_block`: what `check` says, and the changes that earn it."""

SIZES = "range(32, 1024 + 1, 32)"
BYTES = "bytes_per_thread * threads"
KEPT = "best, most = threads, blocks * threads"
TEST = "blocks * threads >= most"
LAST = "    return best\n"

WRONG = {
    "Of equals this is the smallest, and the largest is asked for.": {
        "the smallest of equals": [(TEST, "blocks * threads > most")],
        "ends before 1024, the smallest of equals": [(SIZES, "range(32, 1024, 32)"),
            (TEST, "blocks * threads > most")]},
    "This has the most resident blocks. The most resident threads are asked for.": {
        "the most blocks": [(TEST, "blocks >= most"), (KEPT, "best, most = threads, blocks")]},
    "This has the most resident blocks, and shared memory makes too little difference to them. Two "
    "things are still wrong: what is compared, and the bytes of a block.": {
        "the most blocks, bytes of a thread": [(BYTES, "bytes_per_thread"),
            (TEST, "blocks >= most"), (KEPT, "best, most = threads, blocks")]},
    "This is always the smallest size. It has the most resident blocks; the most resident threads "
    "are asked for.": {
        "the most blocks, the smallest of equals": [(TEST, "blocks > most"),
            (KEPT, "best, most = threads, blocks")],
        "returns in the loop": [("            " + KEPT, "            return threads")]},
    "1024 threads are not tried: a `range` ends before its second number.": {
        "ends before 1024": [(SIZES, "range(32, 1024, 32)")]},
    "Only powers of two are tried. The driver tries every multiple of 32.": {
        "powers of two": [(SIZES, "(32, 64, 128, 256, 512, 1024)")]},
    "Only square blocks are tried. The driver tries every multiple of 32.": {
        "squares": [(SIZES, "(64, 256, 1024)")]},
    "Sizes that are no multiple of 32 are tried, too.": {"every size": [(SIZES, "range(1, 1025)")]},
    "Only multiples of 64 are tried.": {"multiples of 64": [(SIZES, "range(64, 1025, 64)")]},
    "Only multiples of 128 are tried.": {"multiples of 128": [(SIZES, "range(128, 1025, 128)")]},
    "The search ends at 512 threads.": {"up to 512": [(SIZES, "range(32, 513, 32)")]},
    "Shared memory makes too little difference to your answers: a block asks for "
    "`bytes_per_thread` bytes for each of its threads.": {
        "bytes of a thread": [(BYTES, "bytes_per_thread")],
        "no shared memory": [(BYTES, "0")],
        "bytes of warps": [(BYTES, f"{BYTES} // 32")],
        "bytes over threads": [(BYTES, "bytes_per_thread // threads")]},
    "`bytes_per_thread` are bytes already. You multiply them by 4.": {
        "bytes times 4": [(BYTES, f"4 * {BYTES}")]},
    "With 384 threads an SM holds 1 block, 384 threads": {
        "from 512 on": [(SIZES, "range(512, 1025, 32)")]},
    "With 1,024 threads an SM holds 2 blocks, 2,048": {
        "no multiple of 32": [(SIZES, "range(33, 1025, 32)")]},
    "`registers` is not used: you count 32 for every kernel.": {
        "32 registers": [("threads, registers, bytes_per", "threads, 32, bytes_per")]},
    "are right": {
        "arguments exchanged": [
            ("blocks(threads, registers, bytes_p", "blocks(registers, threads, bytes_p")]},
    "This has the fewest resident threads, and the most are asked for.": {
        "the fewest": [(TEST, "blocks * threads <= most"),
            ("best, most = 0, 0", "best, most = 0, 10**9")]},
    "These are the resident threads of the best block. Its own threads are asked for.": {
        "the resident threads": [(LAST, "    return most\n")]},
    "These are the resident blocks of the best size. Its threads are asked for.": {
        "the resident blocks": [(LAST, "    return most // best\n")]},
    "These are the warps of the best block, and threads are asked for.": {
        "warps": [(LAST, "    return best // 32\n")]},
    "This is the best block rounded down to a square. The driver's suggestion is asked for; the "
    "square comes after it.": {
        "a square": [(LAST, "    return 4 ** math.floor(math.log(best, 4))\n"),
            ("def resident", "import math\n\n\ndef resident")]},
    "This is the side of a square block, and threads are asked for.": {
        "the side": [(LAST, "    return 2 ** math.floor(math.log(best, 4))\n"),
            ("def resident", "import math\n\n\ndef resident")]},
    "This is the next size after the best.": {"the next size": [(LAST, "    return best + 32\n")]},
    "This is the largest block that fits, and a smaller one can have more resident threads. Do you "
    "compare threads with threads?": {
        "threads against blocks": [(KEPT, "best, most = threads, blocks")],
        "the largest that fits": [(TEST, "blocks > 0"), (KEPT, "best = threads")]},
    "This is always the largest size.": {"always 1024": [(LAST, "    return 1024\n")]},
    "No size was kept.": {"nothing kept": [(TEST, "blocks * threads < most")]},
    "returns nothing": {"no return": [(LAST, "")]},
    "`residents` is not defined": {
        "no function of one's own": [("blocks = resident_blocks", "blocks = residents")]},
    "Finish `resident_blocks` first: `best_block` calls it, and it is not right yet": {
        "a wrong function": [("64 // warps, 32, ", "64 // warps, ")],
        "an unfinished function": [("    return min(64 // warps, 32, warps_by_registers // warps, "
             "233_472 // bytes_of_block)\n", "")]},
    "never ends": {
        "a loop without end": [
            (f"for threads in {SIZES}:", "threads = 32\n    while threads <= 1024:")]},
}  # fmt: skip
