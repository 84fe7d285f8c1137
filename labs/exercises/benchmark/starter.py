"""A benchmark with four faults, to be repaired."""


def benchmark(device, m, n, k):
    repetitions = 20
    start = device.now()
    for _ in range(repetitions):
        device.launch()
    seconds = (device.now() - start) / repetitions
    return 2 * m * n * k / seconds / 2**30
