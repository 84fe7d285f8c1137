"""Wrong answers to `gflops`: what `check` says, and the changes that earn it."""

OPERATIONS = "2 * m * n * k"
SECONDS = "us / 10**6"
RETURN = "return operations / seconds / 10**9"

WRONG = {
    "You count one operation per multiply-add. A multiplication and an addition are two.": {
        "no factor 2": [(OPERATIONS, "m * n * k")],
        "no factor 2, in one line": [(RETURN, "return m * n * k / us / 1000")]},
    "You divide by 2^30 = 1,073,741,824. This is a unit of memory, and a GFLOP is 10^9 "
    "operations.": {
        "2^30": [("10**9", "2**30")],
        "1024 three times": [("10**9", "1024 / 1024 / 1024")]},
    "You divide by 2^30 and count one operation per multiply-add, which are two faults.": {
        "no factor 2, and 2^30": [(OPERATIONS, "m * n * k"), ("10**9", "2**30")]},
    "This is right for square matrices alone. The product has m·n elements, and each is a sum of k "
    "products.": {
        "the cube of n": [(OPERATIONS, "2 * n**3")],
        "the cube of m": [(OPERATIONS, "2 * m**3")],
        "the cube of k": [(OPERATIONS, "2 * k**3")]},
    "You use the number of microseconds as if it were seconds.": {
        "no seconds": [(SECONDS, "us")]},
    "Your rate is 1,000 times too small: a second has 10^6 microseconds, and a GFLOP is 10^9 "
    "operations.": {
        "milliseconds": [(SECONDS, "us / 1000")],
        "TFLOP/s": [("10**9", "10**12")]},
    "Your rate is 1,000 times too large: a second has 10^6 microseconds, and a GFLOP is 10^9 "
    "operations.": {
        "nanoseconds": [(SECONDS, "us / 10**9")],
        "MFLOP/s": [("10**9", "10**6")]},
    "You multiply the microseconds by 10^6. A microsecond is shorter than a second.": {
        "the wrong way": [(SECONDS, "us * 10**6")]},
    "You return operations per second. A GFLOP/s is 10^9 of them.": {
        "FLOP/s": [(" / 10**9", "")]},
    "You return the operations in units of 10^9, and nothing is divided by the time.": {
        "no time": [("operations / seconds", "operations")]},
    "You divide the time by the operations. A rate is work divided by time.": {
        "upside down": [("operations / seconds / 10**9", "seconds / operations * 10**9")],
        "upside down, without a unit": [("operations / seconds / 10**9", "seconds / operations")]},
    "You multiply the work by the time. A rate is work divided by time.": {
        "a product": [("operations / seconds", "operations * seconds")]},
    "You count the elements of the result, and each of them is a sum of k products.": {
        "elements": [(OPERATIONS, "m * n")],
        "two per element": [(OPERATIONS, "2 * m * n")]},
    "You add the sizes. Each of the m·n elements needs k products.": {
        "the sum of the sizes": [(OPERATIONS, "2 * (m + n + k)")]},
    "You count k − 1 additions per element. The task counts k of them: each sum begins with 0.": {
        "one addition less": [(OPERATIONS, "m * n * (2 * k - 1)")]},
    "You count four operations per multiply-add. A multiplication and an addition are two.": {
        "four": [(OPERATIONS, "4 * m * n * k")]},
    "The rate is rounded to a whole number.": {
        "rounded": [(RETURN, "return round(operations / seconds / 10**9)")],
        "rounded down": [(RETURN, "return operations / seconds // 10**9")]},
    "returns nothing": {"nothing returned": [("return ", "answer = ")]},
}  # fmt: skip
