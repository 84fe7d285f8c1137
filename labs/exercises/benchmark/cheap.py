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
ONE_LAUNCH = """    start = device.now()
    device.launch()
    return 2 * m * n * k / (device.now() - start) / 1e9
"""
FLUSH = "        device.flush()\n        device.synchronize()\n"

CHEAP = {
    "a constant": HEAD + "    return 1208.0\n",
    "launches for show, and a table of answers": (
        HEAD + FOR_SHOW + "    return {1056: 1208.2, 2048: 237.9, 512: 624.9}[m]\n"
    ),
    "a table of answers": HEAD + "    return {1056: 1208.2, 2048: 237.9, 512: 624.9}[m]\n",
    "one launch, the first": HEAD + ONE_LAUNCH,
    "the starter": file_beside(__file__, "starter"),
    "the clock of the launches alone": [
        (FLUSH, ""),
        ("        device.launch()\n        device.synchronize()\n", "        device.launch()\n"),
        ("statistics.median(times)", "statistics.mean(times)"),
    ],
}
