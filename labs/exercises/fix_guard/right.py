"""Other right answers to `fix_guard`: changes of the solution that `check` accepts."""

from labs.exercises.fix_guard.wrong import GUARD

RIGHT = {
    "the shape of x": [("out.shape", "x.shape")],
    "two guards": [(f"if {GUARD}:", "if row >= out.shape[0] or col >= out.shape[1]:\n"
                    "        return\n    if True:")],
    "the column first": [(GUARD, "col < out.shape[1] and row < out.shape[0]")],
}  # fmt: skip
