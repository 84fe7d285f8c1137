"""Other right answers to `law_of_schedulers`: changes of the solution that `check` accepts."""

from labs.exercises.law_of_schedulers.wrong import FULLEST, LIMIT, RESULT, WARPS

RIGHT = {
    "math.ceil": [
        ('"""\n\n\ndef', '"""\n\nimport math\n\n\ndef'), (FULLEST, "math.ceil(warps / 4)")],
    "minus floor": [(FULLEST, "-(-warps // 4)")],
    "in threads": [(LIMIT, "100 * threads / (128 * fullest)")],
    "warps of a division": [(WARPS, "threads / 32"), (FULLEST, "-(-threads // 128)")],
    "a test": [(f"    return {RESULT}", f"    limit = {LIMIT}\n    if by_law < limit:\n"
                                        "        return by_law\n    return limit")],
    "scheduler by scheduler": [(FULLEST, "max([(warps + 3 - s) // 4 for s in range(4)])")],
    "a quotient and a remainder": [
        (FULLEST, "warps // 4 + 1 if warps % 4 else warps // 4")],
    "a factor": [(LIMIT, "25 * warps / fullest")],
    "the fullest scheduler's law": [
        (RESULT, "min(1, fullest * chains / 4) * 100 * warps / (4 * fullest)")],
}  # fmt: skip
