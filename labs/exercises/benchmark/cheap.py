"""Submissions to `benchmark` that ignore the idea of the task."""

from labs.checking.variants import file_beside

HEAD = """import statistics


def benchmark(device, m, n, k):
"""
FOR_SHOW = """    for _ in range(8):
        device.flush()
        device.synchronize()
        start = device.now()
        device.launch()
        device.synchronize()
        seconds = device.now() - start
"""

CHEAP = {
    "a constant": HEAD + "    return 1208.0\n",
    "launches for show, and a table of answers": (
        HEAD + FOR_SHOW + "    return {1056: 1208.2, 2048: 237.9, 512: 624.9}[m]\n"
    ),
    "a table of answers": HEAD + "    return {1056: 1208.2, 2048: 237.9, 512: 624.9}[m]\n",
    "the last time alone": HEAD + FOR_SHOW + "    return 2 * m * n * k / seconds / 1e9\n",
    "the starter": file_beside(__file__, "starter"),
    "the mean": [("statistics.median(times)", "statistics.mean(times)")],
}
