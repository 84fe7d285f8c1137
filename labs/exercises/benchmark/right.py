"""Other right answers to `benchmark`: changes of the solution that `check` accepts."""

from labs.exercises.benchmark.wrong import MEDIAN, RETURN, TIMED, WARM

RIGHT = {
    "more repetitions": [("range(15)", "range(50)")],
    "seven": [("range(15)", "range(7)")],
    "an even number": [("range(15)", "range(10)")],
    "waits for the first launch": [(WARM, WARM + "    device.synchronize()\n")],
    "several launches to warm up": [(WARM, "    for _ in range(3):\n        device.launch()\n")],
    "no first launch, but the median": [(WARM, "")],
    "the exact count of the operations": [("2 * m * n * k", "m * n * (2 * k - 1)")],
    "a float": [("10**9", "1e9")],
    "two names": [
        (TIMED, "        start = device.now()\n        device.launch()\n"
         "        device.synchronize()\n        end = device.now()\n"
         "        times.append(end - start)\n"),
    ],
    "reads the clock behind the launch, too": [
        ("        device.launch()\n        device.synchronize()\n        times",
         "        device.launch()\n        launched = device.now()\n"
         "        device.synchronize()\n        times"),
    ],
    "sorted by hand": [(MEDIAN, "sorted(times)[len(times) // 2]")],
    "NumPy": [("import statistics", "import numpy as np"), (MEDIAN, "np.median(times)")],
    "readings, then differences": [
        ("        start = device.now()\n", "        starts.append(device.now())\n"),
        ("        times.append(device.now() - start)\n", "        ends.append(device.now())\n"),
        ("    times = []\n", "    starts, ends = [], []\n"),
        (MEDIAN, "statistics.median([end - start for start, end in zip(starts, ends)])"),
    ],
    "until a second has passed": [
        ("    for _ in range(15):\n", "    begin = device.now()\n"
         "    while device.now() - begin < 1:\n"),
    ],
    "milliseconds all the way": [
        ("times.append(device.now() - start)", "times.append(1000 * (device.now() - start))"),
        ("10**9", "10**6"),
    ],
    "a whole number": [(RETURN, f"return round({RETURN.removeprefix('return ')})")],
    "every second difference": [
        ("import statistics", "import statistics\nimport numpy as np"),
        (TIMED, "        times.append(device.now())\n        device.launch()\n"
         "        device.synchronize()\n        times.append(device.now())\n"),
        (MEDIAN, "statistics.median(np.diff(np.array(times, float))[::2])"),
    ],
    "the first launch timed apart": [
        (WARM, "    start = device.now()\n    device.launch()\n    device.synchronize()\n"
         "    first = device.now() - start\n"),
    ],
    "a function of its own": [
        ("import statistics\n", "import statistics\n\n\ndef once(device):\n"
         "    start = device.now()\n    device.launch()\n    device.synchronize()\n"
         "    return device.now() - start\n"),
        (TIMED, "        times.append(once(device))\n"),
    ],
}  # fmt: skip

# Slips that change nothing that counts.
HARMLESS = {
    "constant_one_more in `for _ in range(15):`": "16 repetitions",
    "constant_one_less in `for _ in range(15):`": "14 repetitions",
}
