"""Wrong answers to `fix_guard`: what `check` says, and the changes that earn it."""

GUARD = "row < out.shape[0] and col < out.shape[1]"
STORE = "out[row, col] = factor * x[row, col]"

WRONG = {
    "This guard compares the row with the number of columns, or the column with the number of "
    "rows.": {"the starter": [(GUARD, "row < out.shape[1] and col < out.shape[0]")]},
    "This guard lets threads pass whose row or column alone is beyond the edge.": {
        "guard 1": [(GUARD, "row * col < out.size")],
        "guard 2": [(GUARD, "row < out.shape[0] or col < out.shape[1]")],
        "the number of the thread": [(GUARD, "row * out.shape[1] + col < out.size")],
        "no guard": [(GUARD, "True")]},
    "This guard lets the row or the column behind the last one pass: `<=` is `<` and one more.": {
        "guard 4": [(GUARD, "row <= out.shape[0] and col <= out.shape[1]")],
        "one row too many": [(GUARD, "row <= out.shape[0] and col < out.shape[1]")],
        "one column too many": [(GUARD, "row < out.shape[0] and col <= out.shape[1]")]},
    "This guard asks about the column alone.": {"columns only": [(GUARD, "col < out.shape[1]")]},
    "This guard asks about the row alone.": {"rows only": [(GUARD, "row < out.shape[0]")]},
    "among them all of row 15": {
        "the last row": [(GUARD, "row < out.shape[0] - 1 and col < out.shape[1]")]},
    "no thread reads or writes": {"no body": [(STORE, "pass")]},
}
