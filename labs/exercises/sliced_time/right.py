"""Other right answers to `sliced_time`: changes of the solution that `check` accepts."""

from labs.exercises.sliced_time.wrong import RETURN, STAGES

RIGHT = {
    "in one line": [(RETURN, "b + (a + kernel + c + (slices - 1) * max(a, kernel, c)) / slices")],
    "a list": [(STAGES, f"[{STAGES}]")],
    "named stages": [
        (f"stages = {STAGES}", "first, second, third = a / slices, kernel / slices, c / slices"),
        (RETURN, "b + first + second + third + (slices - 1) * max(first, second, third)")],
    "the slowest as a whole": [
        (RETURN, "b + max(a, kernel, c) + sum(stages) - max(stages)")],
    "slice by slice": [
        (f"return {RETURN}", "time = b + stages[0] + stages[1] + stages[2]\n"
         "    for _ in range(1, slices):\n        time += max(stages)\n    return time")],
    "stage by stage": [
        (f"stages = {STAGES}\n    return {RETURN}", "copied = computed = back = b\n"
         "    for _ in range(slices):\n        copied += a / slices\n"
         "        computed = max(computed, copied) + kernel / slices\n"
         "        back = max(back, computed) + c / slices\n    return back")],
    "a part of the slowest": [
        (RETURN, "b + (a + kernel + c) / slices + max(a, kernel, c) * (1 - 1 / slices)")],
    "a comparison": [
        (f"return {RETURN}", "slowest = stages[0]\n    for one in stages:\n"
         "        if one > slowest:\n            slowest = one\n"
         "    return b + sum(stages) + (slices - 1) * slowest")],
}  # fmt: skip
