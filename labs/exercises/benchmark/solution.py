"""The rate of a kernel whose arrays come from memory: the median of launches timed alone."""

import statistics


def benchmark(device, m, n, k):
    device.launch()  # compiles
    times = []
    for _ in range(15):
        device.flush()
        device.synchronize()
        start = device.now()
        device.launch()
        device.synchronize()
        times.append(device.now() - start)
    return 2 * m * n * k / statistics.median(times) / 10**9
