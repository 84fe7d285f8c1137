"""Other right answers to `least_ms`: changes of the solution that `check` accepts."""

from labs.exercises.least_ms.wrong import CYCLES_OF_ONE, MULTIPLY_ADDS, RETURN

RIGHT = {
    "in one line": [
        (RETURN, "return n * n * n / 32 * max(instructions / 4, lines) / sms / (mhz * 1e3)")],
    "two times, and the longer one": [
        (RETURN, "return max(multiply_adds * instructions / 4, multiply_adds * lines) "
                 "/ (1000 * mhz)")],
    "cycles per second": [(RETURN, "seconds = cycles / (mhz * 10**6)\n    return 1000 * seconds")],
    "an if": [
        (CYCLES_OF_ONE, "instructions / 4 if instructions / 4 > lines else lines")],
    "a whole division that is exact": [(MULTIPLY_ADDS, "(n**3 // 32) / sms")],
    "lanes with a name": [(MULTIPLY_ADDS, "n**3 / WARP / sms"),
                          ("    multiply_adds =", "    WARP = 32\n    multiply_adds =")],
}  # fmt: skip
