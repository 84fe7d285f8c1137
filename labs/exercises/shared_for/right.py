"""Other right answers to `shared_for`: changes of the solution that `check` accepts."""

from labs.exercises.shared_for.wrong import LAST, TAKEN

RIGHT = {
    "in one line": [
        (f"    taken = {TAKEN}\n", ""), (LAST, f"    return {TAKEN} - 1024 - static_bytes\n")],
    "rounded after the driver": [
        (TAKEN, "233_472 // blocks"),
        (LAST, "    return (taken - 1024) // 128 * 128 - static_bytes\n")],
    "with a remainder": [
        (TAKEN, "233_472 // blocks"),
        (LAST, "    return taken - taken % 128 - (1024 + static_bytes)\n")],
    "portions of 128": [(TAKEN, "1824 // blocks * 128")],
    "with math": [
        (TAKEN, "math.floor(233_472 / blocks / 128) * 128"),
        ("def shared_for", "import math\n\n\ndef shared_for")],
    "KiB": [(TAKEN, "228 * 1024 // blocks // 128 * 128")],
    "int": [(TAKEN, "int(233_472 / blocks / 128) * 128")],
    "a search": [
        (f"    taken = {TAKEN}\n",
         "    taken = 0\n    while (taken + 128) * blocks <= 233_472:\n        taken += 128\n")],
}  # fmt: skip

HARMLESS = {
    "constant_one_more in `taken = 233_472 // blocks // 128 * 128`": (
        "233,473 has no other multiple of 128 in any share"
    ),
}
