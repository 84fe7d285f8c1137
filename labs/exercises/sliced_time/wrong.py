"""Wrong answers to `sliced_time`: what `check` says, and the changes that earn it."""

STAGES = "a / slices, kernel / slices, c / slices"
RETURN = "b + sum(stages) + (slices - 1) * max(stages)"

WRONG = {
    "This is the time without slices, in which nothing runs beside anything else.": {
        "one after the other": [(RETURN, "b + a + kernel + c")],
        "slices one after the other": [(RETURN, "b + slices * sum(stages)")]},
    "You count one step of the slowest stage too much: slice 0 has passed it already.": {
        "as many steps as slices": [("(slices - 1)", "slices")]},
    "You always take the kernel as the slowest stage. It may be a copy.": {
        "always the kernel": [("max(stages)", "stages[1]")],
        "the kernel in one line": [(RETURN, "b + a / slices + kernel + c / slices")]},
    "You leave out the stages that the first slice passes before and after the slowest one.": {
        "the slowest stage alone": [(RETURN, "b + max(a, kernel, c)")],
        "the longest of the first slice": [("sum(stages)", "max(stages)")]},
    "You leave out the copy of b, which comes before all slices.": {
        "no b": [("b + sum", "sum")]},
    "You cut the copy of b, too. All slices need the whole of b.": {
        "b in slices": [("b + sum", "b / slices + sum")]},
    "You take the fastest stage, and the slowest one sets the pace.": {
        "the fastest": [("max(", "min(")]},
    "You let the copy of b run beside the slices. It comes before them.": {
        "b beside the slices": [(RETURN, "max(b, sum(stages) + (slices - 1) * max(stages))")]},
    "This is the time of one slice. The others come after it.": {
        "one slice": [(RETURN, "b + sum(stages)")],
        "one slice, and b too": [(RETURN, "(b + a + kernel + c) / slices")]},
    "You do not divide the stages by the number of slices.": {
        "whole stages": [(STAGES, "a, kernel, c")]},
    "You leave out the way of the last slice of c back to the host.": {
        "no last c": [("sum(stages)", "stages[0] + stages[1]")]},
    "You leave out the first slice of a: the kernel cannot begin before it is there.": {
        "no first a": [("sum(stages)", "stages[1] + stages[2]")]},
    "You let the copies in both directions take turns. They are different stages, which work at "
    "the same time.": {
        "one stage for both copies": [("max(stages)", "max(stages[1], stages[0] + stages[2])")]},
    "The time is rounded to a whole number.": {
        "rounded": [(RETURN, f"round({RETURN})")]},
    "returns nothing": {"nothing returned": [("return ", "answer = ")]},
}  # fmt: skip
