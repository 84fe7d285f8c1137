"""Wrong answers to `least_ms`: what `check` says, and the changes that earn it."""

MULTIPLY_ADDS = "n**3 / 32 / sms"
CYCLES_OF_ONE = "max(instructions / 4, lines)"
RETURN = "return cycles / mhz / 1000"

WRONG = {
    "You add the two times. The SM does both at the same time, so the longer one counts.": {
        "a sum": [(CYCLES_OF_ONE, "instructions / 4 + lines")]},
    "You take the shorter of the two times. The product ends when the longer one is over.": {
        "the shorter one": [(CYCLES_OF_ONE, "min(instructions / 4, lines)")]},
    "You leave the cache lines out: here they take longer than the instructions.": {
        "instructions alone": [(CYCLES_OF_ONE, "instructions / 4")]},
    "You leave the instructions out: here they take longer than the cache lines.": {
        "cache lines alone": [(CYCLES_OF_ONE, "lines")]},
    "You count one instruction per cycle. An SM starts up to four of them.": {
        "one scheduler": [(CYCLES_OF_ONE, "max(instructions, lines)")]},
    "You count four cache lines per cycle. An SM gets one of them.": {
        "four cache lines per cycle": [(CYCLES_OF_ONE, "max(instructions, lines) / 4")]},
    "You multiply the instructions by 4. Four of them start in the same cycle.": {
        "four cycles": [(CYCLES_OF_ONE, "max(instructions * 4, lines)")]},
    "You count the multiply-adds of single lanes. One instruction of a warp makes 32 of them.": {
        "no warps": [(MULTIPLY_ADDS, "n**3 / sms")]},
    "You let one SM do all the work. The SMs share it.": {
        "one SM": [(MULTIPLY_ADDS, "n**3 / 32")]},
    "You let one SM do all the work, lane by lane. The SMs share it, and a warp has 32 lanes.": {
        "one SM, no warps": [(MULTIPLY_ADDS, "n**3")]},
    "You multiply by the number of SMs. They share the work.": {
        "SMs the wrong way round": [(MULTIPLY_ADDS, "n**3 / 32 * sms")]},
    "You count the elements of the result. Each of them is a sum of n products.": {
        "elements": [(MULTIPLY_ADDS, "n**2 / 32 / sms")]},
    "You count two operations per multiply-add. Here it is one instruction.": {
        "two operations": [(MULTIPLY_ADDS, "2 * n**3 / 32 / sms")]},
    "You return cycles. Divide them by the cycles per millisecond.": {
        "cycles": [(RETURN, "return cycles")]},
    "You return microseconds. The task asks for milliseconds.": {
        "microseconds": [(RETURN, "return cycles / mhz")]},
    "You return seconds. The task asks for milliseconds.": {
        "seconds": [(RETURN, "return cycles / mhz / 10**6")]},
    "You multiply by the clock. A faster clock makes the time shorter.": {
        "the clock the wrong way round": [(RETURN, "return cycles * mhz / 1000")],
        "cycles times the clock": [(RETURN, "return cycles * mhz")]},
    "The time is rounded to a whole number.": {
        "rounded": [(RETURN, "return round(cycles / mhz / 1000)")],
        "rounded down": [(RETURN, "return cycles // mhz // 1000")]},
    "The cycles of a multiply-add are rounded down. On average they need not be whole.": {
        "whole cycles": [(CYCLES_OF_ONE, "max(instructions // 4, lines)")]},
    "The multiply-adds of an SM are rounded down. On average they need not be whole.": {
        "whole multiply-adds": [(MULTIPLY_ADDS, "n**3 // 32 // sms")]},
    "The time is rounded. Return it as it is.": {
        "two digits": [(RETURN, "return round(cycles / mhz / 1000, 2)")],
        "three digits": [(RETURN, "return round(cycles / mhz / 1000, 3)")]},
    "You divide by 132 SMs, those of an H200. Divide by `sms`.": {
        "SMs of one GPU": [(MULTIPLY_ADDS, "n**3 / 32 / 132")]},
    "You take the clock of an H200, 1980 MHz. Take `mhz`.": {
        "the clock of one GPU": [(RETURN, "return cycles / 1980 / 1000")]},
    "returns nothing": {"nothing returned": [("return ", "answer = ")]},
}  # fmt: skip
