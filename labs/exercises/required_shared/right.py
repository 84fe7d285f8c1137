"""Other right answers to `required_shared`: changes of the solution that `check` accepts."""

from labs.exercises.required_shared.wrong import RESULT

FORMULAS = (
    "8 * side ** 2",
    "4 * (side * side + side ** 2)",
    "2.0 * side * side * 4",
    "sum(8 * side for row in range(side))",
    "2 * pow(side, 2) * 4",
)
RIGHT = {formula: [(RESULT, formula)] for formula in FORMULAS}
