"""The lane that holds an element of a."""


def lane_of(row, k):
    group = row % 8
    pair = k // 2
    return 4 * group + pair
