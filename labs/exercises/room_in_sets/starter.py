"""The room for a column in a cache without sets."""


def room_in_sets(words, rows):
    room = 0
    for row in range(rows):
        line = row * words * 4 // 64
        if room < 768:
            room += 1
    return room
