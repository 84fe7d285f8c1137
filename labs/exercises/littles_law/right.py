"""Other right answers to `littles_law`: changes of the solution that `check` accepts."""

from labs.exercises.littles_law.wrong import NEEDED, RESULT

RIGHT = {
    "one expression": [(RESULT, "min(100, 100 * (workers * each) / (latency * rate))")],
    "the fraction first": [(RESULT, "100 * min(1, workers * each / needed)")],
    "a test": [(RESULT, "100 if workers * each >= needed else 100 * workers * each / needed")],
    "as many as fit": [(RESULT, "100 * min(workers * each, needed) / needed")],
    "the rate that is reached": [
        (NEEDED, "min(rate, workers * each / latency)"), (RESULT, "100 * needed / rate")],
    "a float": [(RESULT, "min(100.0, workers * each / needed * 100.0)")],
}  # fmt: skip
