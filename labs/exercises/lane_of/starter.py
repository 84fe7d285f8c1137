"""The lane that holds an element of a."""


def lane_of(row, k):
    # About 1 to 3 lines.
    pass
