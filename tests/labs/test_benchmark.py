"""Benchmarks that students write: each fault is named, with what the clock has seen."""

import statistics

import pytest

from labs import EXERCISES, check
from labs.benchmark.timed import TASKS
from tests.labs.readers import changed, from_text, mutants_of
from utils.measuring.queue_model import ModelDevice

NAME = "benchmark"
WARM = "    device.launch()  # compiles\n"
FLUSH = "        device.flush()\n        device.synchronize()\n"
TIMED = (
    "        start = device.now()\n        device.launch()\n        device.synchronize()\n"
    "        times.append(device.now() - start)\n"
)
WAIT = "        device.launch()\n        device.synchronize()\n        times"
NO_WAIT = "        device.launch()\n        times"
RETURN = "return 2 * m * n * k / statistics.median(times) / 10**9"
MEDIAN = "statistics.median(times)"


def body(text: str):
    """A benchmark with this body, four spaces deep."""
    return from_text(NAME, f"import statistics\nimport time\n\n\n"
                     f"def benchmark(device, m, n, k):\n{text}")  # fmt: skip


STARTER = EXERCISES[NAME].starter_text.partition("k):\n")[2]

# What is wrong: the changes of the solution, or a text, and words of the cause.
WRONG = {
    "nobody waits": (
        [(WAIT, NO_WAIT)],
        ["the clock is read too early", "8.1 us", "2.01 ms later", "Nobody waits"],
    ),
    "waits before the launch": (
        [(WAIT, "        device.synchronize()\n" + NO_WAIT)],
        ["read too early", "before the launch"],
    ),
    "waits when the clock has been read": (
        [(TIMED, "        start = device.now()\n        device.launch()\n"
          "        times.append(device.now() - start)\n        device.synchronize()\n")],
        ["read too early", "when the clock has been read", "line"],
    ),
    "the names of two methods alone": (
        [("device.synchronize()\n        times", "device.synchronize\n        times")],
        ["read too early"],
    ),
    "the clock starts behind the launch": (
        [("start = device.now()\n        device.launch()",
          "device.launch()\n        start = device.now()")],
        ["No launch lies between", "line 12", "lines 13 and 15"],
    ),
    "the whole loop, first launch and all": (
        STARTER.replace("    seconds", "    device.synchronize()\n    seconds")
        .replace("2**30", "1e9"),
        ["`device.launch()`: the first launch compiles", "310 ms are the compiler's"],
    ),
    "no first launch, and the mean": (
        [(WARM, ""), (MEDIAN, "statistics.mean(times)")],
        ["the first launch compiles", "310 ms"],
    ),
    "no first launch, and the sum": (
        [(WARM, ""), (MEDIAN, "sum(times) * 15")],
        ["the first launch compiles"],
    ),
    "one launch alone": (
        "    start = device.now()\n    device.launch()\n    device.synchronize()\n"
        "    return 2 * m * n * k / (device.now() - start) / 1e9\n",
        ["the first launch compiles", "310 ms"],
    ),
    "no flush": (
        [(FLUSH, "        device.synchronize()\n")],
        ["15 of the 15 launches", "in the cache", "1.2 ms", "2 ms", "never flushed"],
    ),
    "one flush before the loop": (
        [(FLUSH, ""), ("    times = []", "    device.flush()\n    device.synchronize()\n"
                       "    times = []")],
        ["14 of the 15 launches", "not flushed before each"],
    ),
    "the flush is timed": (
        [(FLUSH, ""), ("        start = device.now()\n",
                       "        start = device.now()\n        device.flush()\n")],
        ["`device.flush()`: the flush lies between", "1.5 ms", "2 ms"],
    ),
    "nobody waits for the flush": (
        [(FLUSH, "        device.flush()\n")],
        ["the clock starts while the flush", "is still at work", "1.5 ms later"],
    ),
    "nobody waits for the first launch": (
        [(WARM, "    device.launch()\n"), (FLUSH, ""), ("range(15)", "range(1)")],
        ["the clock starts while an earlier launch"],
    ),
    "many launches in one time": (
        [(FLUSH, ""), ("        device.launch()\n", "        for _ in range(10):\n"
          "            device.launch()\n"), (MEDIAN, "statistics.median(times) * 10")],
        ["in the cache"],
    ),
    "2^30": ([("10**9", "2**30")], ["2^30 = 1,073,741,824", "too small", "1.074"]),
    "1024 three times": ([("10**9", "1024**3")], ["2^30 = 1,073,741,824"]),
    "1024 twice": ([("10**9", "1024**2 / 1000")], ["2^20 = 1,048,576"]),
    "1024 once": ([("10**9", "1024 / 10**6")], ["2^10 = 1024"]),
    "no factor 2": ([("2 * m", "m")], ["one for each multiply-add", "1,212,186,624"]),
    "four for a multiply-add": ([("2 * m", "4 * m")], ["four for each multiply-add"]),
    "no factor 2, and 2^30": (
        [("2 * m", "m"), ("10**9", "2**30")], ["one for each multiply-add", "2^30"],
    ),
    "three for a multiply-add": ([("2 * m", "3 * m")], ["Your times are right", "1.5 times"]),
    "as if it were square": (
        [("m * n * k", "n**3")], ["2·n·n·n", "1056·1888·608"],
    ),
    "the elements of c": ([(" * k /", " /")], ["2·m·n", "multiply-adds"]),
    "the sum of the sizes": ([("2 * m * n * k", "2 * (m + n + k)")], ["2·(m + n + k)"]),
    "the mean": (
        [(MEDIAN, "statistics.mean(times)")],
        ["the mean of 15 times", "5.01 ms", "2.35 ms", "near 2.01 ms"],
    ),
    "the mean by hand": (
        [(MEDIAN, "(sum(times) / len(times))")], ["the mean of 15 times"],
    ),
    "the least": ([(MEDIAN, "min(times)")], ["the least of 15 times", "higher clock", "1.89 ms"]),
    "the greatest": ([(MEDIAN, "max(times)")], ["the greatest of 15 times", "5.01 ms"]),
    "the sum": ([(MEDIAN, "sum(times)")], ["the sum of all 15 times"]),
    "the last alone": (
        [(MEDIAN, "times[-1]"), ("range(15)", "range(9)")], ["the last of 9 times alone"],
    ),
    "the mean, and 2^30": (
        [(MEDIAN, "statistics.mean(times)"), ("10**9", "2**30")], ["the mean of 15", "2^30"],
    ),
    "the least, without the factor 2": (
        [(MEDIAN, "min(times)"), ("2 * m", "m")], ["the least of 15", "one for each multiply-add"],
    ),
    "milliseconds for seconds": (
        [(MEDIAN, "(1000 * statistics.median(times))")],
        ["1,000 times too small", "the clock gives seconds"],
    ),
    "as if the clock gave milliseconds": (
        [("10**9", "10**6")], ["1,000 times too large", "the clock gives seconds"],
    ),
    "TFLOP/s": ([("10**9", "10**12")], ["1,000 times too small"]),
    "FLOP/s": ([(" / 10**9", "")], ["1,000,000,000 times too large"]),
    "a slip in the zeros": ([("10**9", "10**8")], ["10 times too large"]),
    "2^30 and milliseconds": ([("10**9", "2**30 * 1000")], ["2^30", "1,000 times too large"]),
    "returns the time": ([(RETURN, "return statistics.median(times)")], ["You return the time"]),
    "returns milliseconds": (
        [(RETURN, "return 1000 * statistics.median(times)")],
        ["You return the time", "2.01 milliseconds"],
    ),
    "returns the operations": ([(RETURN, "return 2 * m * n * k / 10**9")], ["nothing is divided"]),
    "upside down": (
        [(RETURN, "return statistics.median(times) / (2 * m * n * k) * 10**9")],
        ["stands on its head"],
    ),
    "multiplied with the time": (
        [("k / stat", "k * stat")], ["multiply the operations with the time"],
    ),
    "the earlier minus the later": (
        [("device.now() - start", "start - device.now()")], ["negative"],
    ),
    "returns nothing": ([("    return", "    rate =")], ["returns nothing"]),
    "returns two": ([("    return 2", "    return times, 2")], ["the rate is one number"]),
    "returns a text": (
        [(RETURN, "return f'{2 * m * n * k / statistics.median(times) / 10**9:.0f} GFLOP/s'")],
        ["GFLOP/s'", "one number"],
    ),
    "three times": ([("range(15)", "range(3)")], ["You timed 3 launches", "Among so few"]),
    "six times": ([("range(15)", "range(6)")], ["You timed 6 launches"]),
    "no time at all": ([("range(15)", "range(0)")], ["StatisticsError"]),
    "divides by nothing": (
        [("range(15)", "range(0)"), (MEDIAN, "(sum(times) / len(times))")],
        ["ZeroDivisionError", "line 16"],
    ),
    "one start for all": (
        [(TIMED, "        device.launch()\n        device.synchronize()\n"
          "        times.append(device.now() - start)\n"), (FLUSH, ""),
         ("    times = []\n", "    device.synchronize()\n    times, start = [], device.now()\n")],
        ["read here once", "each of your 15 times", "holds 15 launches"],
    ),
    "one start for all, and the flush": (
        [(TIMED, "        device.launch()\n        device.synchronize()\n"
          "        times.append(device.now() - start)\n"),
         ("    times = []\n", "    times, start = [], device.now()\n")],
        ["`device.flush()`: the flush lies between"],
    ),
    "a flush behind the launch": (
        [(FLUSH, ""), (TIMED, TIMED + "        device.flush()\n")],
        ["is still at work", "line 14, `device.flush()`"],
    ),
    "two launches": (
        [("        device.launch()\n", "        device.launch()\n        device.launch()\n")],
        ["15 of the 30 launches", "in the cache"],
    ),
    "a launch before the clock starts": (
        [("        start =", "        device.launch()\n        start =")],
        ["the clock starts while an earlier launch of line 12"],
    ),
    "a launch between flush and clock": (
        [("        start =", "        device.launch()\n        device.synchronize()\n"
          "        start =")],
        ["15 of the 15 launches", "in the cache", "not flushed before each"],
    ),
    "a sleep in place of waiting": (
        [(WAIT, "        device.launch()\n        time.sleep(0.001)\n        times"),
         ("import statistics", "import statistics\nimport time")],
        ["read too early", "Nobody waits"],
    ),
    "one time alone in the list": (
        [("        times.append", "    times.append")], ["You timed 1 launch."],
    ),
    "returns in the loop": ([("    return", "        return")], ["You timed 1 launch."]),
    "divides by the number again": (
        [(MEDIAN, "(statistics.median(times) / 15)")], ["Your times are right", "15 times"],
    ),
    "the ninth decile": (
        [(MEDIAN, "sorted(times)[13]")], ["Your times are right", "0.456 times"],
    ),
    "without its import": ([("import statistics\n", "")], ["NameError", "statistics"]),
    "not a number": ([(MEDIAN, "float('nan')")], ["returns nan"]),
    "another clock": (
        [("device.now()", "time.perf_counter()"), ("import statistics", "import statistics, time")],
        ["was read 0 times", "is a model"],
    ),
    "never launches": ([("device.launch()", "device.launch")], ["`launch()` is never called"]),
    "another spelling": (
        [("synchronize", "synchronise")],
        ["AttributeError", "no synchronise", "synchronize()"],
    ),
    "an argument too many": ([("device.launch()", "device.launch(m, n, k)")], ["TypeError"]),
    "a loop without an end": (
        "    device.launch()\n    while True:\n        m += 1\n", ["has not ended"],
    ),
    "two parameters": (
        [("(device, m, n, k)", "(device, n)")], ["4 arguments", "2 parameters"],
    ),
}  # fmt: skip

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


def handed_in(given):
    return body(given) if isinstance(given, str) else changed(NAME, *given)


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_benchmark_is_refused_with_its_cause(what):
    given, words = WRONG[what]
    cause = "\n".join(check(NAME, handed_in(given), patience=1).causes)
    assert [word for word in words if word.casefold() not in cause.casefold()] == [], cause


@pytest.mark.parametrize("what", RIGHT)
def test_another_right_benchmark_passes(what):
    verdict = check(NAME, changed(NAME, *RIGHT[what]))
    assert verdict.passed, str(verdict)


def test_two_faults_of_the_arithmetic_are_two_sentences():
    given, _ = WRONG["the mean, and 2^30"]
    mean, unit = check(NAME, handed_in(given)).causes
    assert "mean" in mean
    assert "2^30" in unit


def test_no_cause_names_the_cure_of_a_wrong_average():
    for what in ("the mean", "the least", "the greatest", "the sum", "the last alone"):
        assert "median" not in str(check(NAME, handed_in(WRONG[what][0])))


def test_the_answer_of_each_device_is_that_of_the_model():
    for task in TASKS:
        device = ModelDevice(task.speeds)
        answer = EXERCISES[NAME].solution(device, task.m, task.n, task.k)
        assert answer == pytest.approx(task.gflops, rel=0.01)


def test_faults_are_larger_than_what_the_check_forgives():
    for task in TASKS:
        speeds = task.speeds
        assert speeds.cold_s / speeds.hot_s > 1.1
        assert speeds.launch_s < 0.02 * speeds.cold_s
        assert statistics.mean(speeds.noise) > 1.1
        assert min(speeds.noise) < 0.95


def test_a_median_over_the_first_launch_is_remarked():
    verdict = check(NAME, changed(NAME, *RIGHT["no first launch, but the median"]))
    assert "The median leaves it out" in str(verdict)


def test_the_starter_is_told_its_four_faults_one_after_the_other():
    repairs = [
        ("is read too early", "    seconds", "    device.synchronize()\n    seconds"),
        ("compiles", "    start", "    device.launch()\n    device.synchronize()\n    start"),
        ("in the cache", STARTER, EXERCISES[NAME].solution_text.partition("k):\n")[2]
         .replace("10**9", "2**30")),
        ("2^30", "2**30", "10**9"),
    ]  # fmt: skip
    text = STARTER
    for words, old, new in repairs:
        (cause,) = check(NAME, body(text)).causes
        assert words in cause, cause
        text = new if old == STARTER else text.replace(old, new)
    assert check(NAME, body(text)).passed


# Slips that change nothing that counts.
HARMLESS = {
    "constant_one_more in `for _ in range(15):`": "16 repetitions",
    "constant_one_less in `for _ in range(15):`": "14 repetitions",
}


def test_every_small_slip_is_refused_or_harmless():
    passed = {what for what, given in mutants_of(NAME) if check(NAME, given, patience=1).passed}
    assert passed == set(HARMLESS)
