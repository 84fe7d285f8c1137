"""Wrong answers to `enough_blocks`: what `check` says, and the changes that earn it."""

BLOCKS = "(elements + threads - 1) // threads"

WRONG = {
    "This rounds down: the elements behind the last full block get no thread.": {
        "rounded down": [(BLOCKS, "elements // threads")],
        "cut to a whole number": [(BLOCKS, "int(elements / threads)")]},
    "If the array fills all blocks, this starts one block whose threads have no element.": {
        "always one more": [(BLOCKS, "elements // threads + 1")],
        "one more, in the sum": [(BLOCKS, "(elements + threads) // threads")]},
    "This rounds to the nearest number. A last block that is less than half full gets lost.": {
        "rounded": [(BLOCKS, "round(elements / threads)")],
        "half a block more": [(BLOCKS, "(elements + threads // 2) // threads")]},
    "Does a division need rounding": {
        "not rounded": [(BLOCKS, "elements / threads")],
        "not rounded, and one less": [(BLOCKS, "(elements + threads - 1) / threads")]},
    "This is the number of elements. A block has `threads` threads.": {
        "one block per element": [(BLOCKS, "elements")]},
    "This is the number of threads that are started, and not that of their blocks.": {
        "the threads": [(BLOCKS, f"{BLOCKS} * threads")]},
    "This is the number of threads that have no element.": {
        "the idle threads": [(BLOCKS, f"{BLOCKS} * threads - elements")]},
    "This is the number of elements behind the last full block. How many blocks are needed?": {
        "the rest": [(BLOCKS, "elements % threads")]},
    "This is right for blocks of 256 threads. Blocks have other sizes, too: `threads` says it.": {
        "256 by hand": [(BLOCKS, "(elements + 255) // 256")]},
    "This is 4 for every array. How many blocks do `elements` elements need?": {
        "a constant": [(BLOCKS, "4")]},
    "One element behind the last full block needs a block, too.": {
        "one too few in the sum": [(BLOCKS, "(elements + threads - 2) // threads")],
        "a rest of one gets lost": [(BLOCKS, "elements // threads + (elements % threads > 1)")]},
    "An array that is shorter than a block needs a block, too.": {
        "less than one block": [(BLOCKS, "0 if elements < threads else -(-elements // threads)")]},
    "A small rest gets lost: 1 element of a block of 1,024 is less than a thousandth of it.": {
        "nearly a block more": [(BLOCKS, "int(elements / threads + 0.999)")]},
    "which is a float, and a launch takes only whole numbers of type int": {
        "NumPy's ceil": [
            (BLOCKS, "np.ceil(elements / threads)"),
            ("def enough_blocks", "import numpy as np\n\n\ndef enough_blocks")],
        "a float of it": [(BLOCKS, f"float({BLOCKS})")]},
    "Divide the elements by the threads, and not the other way round.": {
        "upside down": [(BLOCKS, "(threads + elements - 1) // elements")],
        "upside down, rounded down": [(BLOCKS, "threads // elements")]},
    "returns nothing": {"nothing": [(f"return {BLOCKS}", BLOCKS)]},
    "is not defined": {"a name that is not defined": [("elements + threads", "n + threads")]},
}  # fmt: skip
