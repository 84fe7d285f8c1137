"""The number of slices along k for the tiles of c, by an estimate of the time."""


def slices(tiles, sms, steps):
    best, least = 0, 0
    for count in (1, 2, 3, 4, 6, 8, 12):
        if count <= steps:
            waves = -(-tiles * count // sms)
            time = waves * (-(-steps // count) + 2)
            if count > 1:
                time += 4
            if best == 0 or time < least:
                best, least = count, time
    return best
