"""A measurement that waits for nothing, with four places for a wait."""


def two_waits(device):
    device.launch()  # compiles
    # place 1
    start = device.now()
    # place 2
    device.launch()
    # place 3
    end = device.now()
    # place 4
    return (end - start) * 10**6
