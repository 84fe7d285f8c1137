"""Wrong answers to `two_fences`: what `check` says, and the changes that earn it."""

LEAVE = "    words[block] = x[block]\n"
FENCE = "    cuda.threadfence()\n"
DRAW = "    if cuda.atomic.add(drawn, pair, 1) == 1:\n"
SECOND = "        cuda.threadfence()\n"
ADD = "        total = words[2 * pair] + words[2 * pair + 1]\n"
STORE = "        out[pair] = total\n"
GRID = "    cuda.cg.this_grid().sync()\n"
SPIN = "while cuda.atomic.add(drawn, pair, 0) < 2:\n"

WRONG = {
    "For the other block, no fence keeps the store of line {other_line} and the number of line "
    "{add} in order: it may see the number, and still the old word.": {
        "no fence": [(LEAVE + FENCE, LEAVE), (SECOND, "")],
        "place 3 alone": [(LEAVE + FENCE, LEAVE)],
        "place 1 alone": [(LEAVE + FENCE, FENCE + LEAVE), (SECOND, "")],
        "places 1 and 3": [(LEAVE + FENCE, FENCE + LEAVE)],
        "places 1 and 4": [(LEAVE + FENCE, FENCE + LEAVE), (SECOND + ADD, ADD + SECOND)],
        "places 3 and 4": [(LEAVE + FENCE, LEAVE), (ADD, ADD + SECOND)],
        "places 3 and 5": [(LEAVE + FENCE, LEAVE), (STORE, STORE + SECOND)]},
    "is a fence for the threads of its own block. The two words are handed from block to block": {
        "fences of the block": [("threadfence()", "threadfence_block()")],
        "a fence of the block at place 3": [(SECOND, SECOND.replace("()", "_block()"))]},
    "is a barrier of one block. It keeps nothing in order for another block": {
        "barriers for fences": [("threadfence()", "syncthreads()")],
        "a barrier at place 2": [(LEAVE + FENCE, LEAVE + "    cuda.syncthreads()\n")]},
    "no fence is between the two: it may load a word before it draws": {
        "place 2 alone": [(SECOND, "")],
        "places 1 and 2": [(LEAVE, FENCE + LEAVE), (SECOND, "")],
        "places 2 and 4": [(SECOND + ADD, ADD + SECOND)],
        "places 2 and 5": [(SECOND, ""), (STORE, STORE + SECOND)]},
    "the block that comes second passes 5 fences": {
        "all places": [(LEAVE, FENCE + LEAVE), (ADD, ADD + SECOND), (STORE, STORE + SECOND)]},
    "the block that comes second passes 3 fences": {
        "places 1, 2 and 3": [(LEAVE, FENCE + LEAVE)]},
    "`cuda.threadfence` in line": {"no brackets": [("threadfence()", "threadfence")]},
    "is a barrier of the whole grid: there each block waits for all others.": {
        "a barrier of the grid at place 2": [(LEAVE + FENCE, LEAVE + GRID)],
        "a barrier of the grid beside the fences": [(DRAW, GRID + DRAW)]},
    "a block waits for other blocks": {
        "block 0 of a pair waits": [
            (DRAW, f"    cuda.atomic.add(drawn, pair, 1)\n    if block % 2 == 0:\n        {SPIN}"
             "            pass\n")]},
    "block 0 does not add when it draws 1": {
        "the block with the odd number": [
            (DRAW, "    cuda.atomic.add(drawn, pair, 1)\n    if block % 2 == 1:\n")]},
    "The block that comes first adds, and the other one has not left its word yet.": {
        "the first number": [("== 1", "== 0")]},
    "No block draws the number 2: the two of a pair draw 0 and 1.": {
        "the number of blocks": [("== 1", "== 2")]},
}  # fmt: skip
