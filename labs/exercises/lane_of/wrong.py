"""Wrong answers to `lane_of`: what `check` says, and the changes that earn it."""

GROUP, PAIR, RESULT = "row % 8", "k // 2", "4 * group + pair"

WRONG = {
    "Lanes end at 31. A lane holds elements of two rows, which are eight apart.": {
        "no remainder": [(GROUP, "row")]},
    "A lane holds two neighbours in a row, and you give it one.": {
        "one element per lane": [(PAIR, "k")]},
    "Each lane gets two elements of a row here, and they are four columns apart. In the picture "
    "they are neighbours.": {
        "the remainder of k": [(PAIR, "k % 4")]},
    "You count the lanes down a column first. Four neighbouring lanes share a row.": {
        "columns first": [(RESULT, "group + 8 * pair")]},
    "Eight lanes would share a row here. A row has eight elements, and each lane holds two.": {
        "eight lanes in a row": [(RESULT, "8 * group + pair")]},
    "Two lanes would share a row here. A row has eight elements, and each lane holds two.": {
        "two lanes in a row": [(RESULT, "2 * group + pair")]},
    "Two neighbouring rows have the same lanes in your map. In the picture these are rows that are "
    "eight apart.": {
        "neighbouring rows": [(GROUP, "row // 2")]},
    "This is the place of the element in its lane's fragment, and the task asks for the lane.": {
        "the number of the square": [(RESULT, "row // 8 * 2 + k % 2")]},
    "This is the map of b: there a lane's two elements are neighbours in a column.": {
        "the map of b": [(RESULT, "4 * (k % 8) + row % 8 // 2")]},
    "returns nothing": {"nothing returned": [("return ", "answer = ")]},
    "The answer is always whole, and this is not.": {
        "a fraction": [(PAIR, "k / 2")]},
    "The rows repeat after eight, and you let them repeat after four.": {
        "four rows": [(GROUP, "row % 4")]},
}  # fmt: skip
