"""Other right answers to `eight_elements`: changes of the solution that `check` accepts."""

from labs.exercises.eight_elements.wrong import ADD, TEST, ZERO, load

INDEX = "i + j * BLOCK"
FIRST_LOAD = "    total = x[i] if i < x.size else float32(0)\n"

HARMLESS = {"constant_one_more in `if tid == 0:`": "thread 1 may store the sum as well"}

RIGHT = {
    "a range with a step": load(
        f"{ZERO}    for k in range(i, i + 8 * BLOCK, BLOCK):\n        if k < x.size:\n"
        "            total += x[k]\n"),
    "a range to the end": load(
        f"{ZERO}    for k in range(i, min(x.size, (cuda.blockIdx.x + 1) * 8 * BLOCK), BLOCK):\n"
        "        total += x[k]\n"),
    "a while loop": load(
        f"{ZERO}    end = min(i + 8 * BLOCK, x.size)\n    while i < end:\n        total += x[i]\n"
        "        i += BLOCK\n"),
    "four pairs": load(
        f"{ZERO}    for j in range(4):\n        if i < x.size:\n            total += x[i]\n"
        "        if i + BLOCK < x.size:\n            total += x[i + BLOCK]\n"
        "        i += 2 * BLOCK\n"),
    "written out": load(FIRST_LOAD + "".join(
        (TEST + ADD)[4:].replace("    " * 3, "    " * 2).replace("j", str(j))
        for j in range(1, 8))),
    "a zero instead": [
        (TEST + ADD, f"        total += x[{INDEX}] if {INDEX} < x.size else float32(0)\n")],
    "it breaks at the end": [
        (TEST + ADD, f"        if {INDEX} >= x.size:\n            break\n"
         f"        total += x[{INDEX}]\n")],
}  # fmt: skip
