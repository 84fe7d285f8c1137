"""The room for a column in a cache of 64 sets with 12 cache lines each."""


def room_in_sets(words, rows):
    held = [0] * 64
    for row in range(rows):
        line = row * words * 4 // 64
        if held[line % 64] < 12:
            held[line % 64] += 1
    return sum(held)
