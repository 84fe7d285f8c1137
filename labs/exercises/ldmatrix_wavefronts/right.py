"""Other right answers to `ldmatrix_wavefronts`: changes of the solution that `check` accepts."""

from labs.exercises.ldmatrix_wavefronts.wrong import CHUNKS, GROUP, HEAD, RESULT, WHOLE

HARMLESS = {"constant_one_more in `rows_per_group = [0] * 8`": "a group more stays empty"}

RIGHT = {
    "different groups": [
        (WHOLE, "    return 8 // len({row * (columns // 8) % 8 for row in range(8)})\n")],
    "the greatest common divisor": [
        (HEAD, f"import math\n\n\n{HEAD}"), (WHOLE, "    return math.gcd(columns // 8, 8)\n")],
    "a common divisor": [
        (WHOLE, "    wavefronts = 1\n    for power in (2, 4, 8):\n"
                "        if columns % (8 * power) == 0:\n            wavefronts = power\n"
                "    return wavefronts\n")],
    "bytes and banks": [
        (CHUNKS, "columns * 2"), (GROUP, "row * chunks // 4 % 32 // 4")],
    "bits": [(GROUP, "row * chunks & 7")],
    "the lowest bit": [(RESULT, "min(chunks & -chunks, 8)")],
}  # fmt: skip
