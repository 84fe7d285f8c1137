"""Wrong answers to `benchmark`: what `check` says, and the changes that earn it."""


from labs.checking.variants import file_beside

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
HEAD = "import statistics\nimport time\n\n\ndef benchmark(device, m, n, k):\n"
STARTER = file_beside(__file__, "starter").partition("k):\n")[2]

WRONG = {
    "the clock is read too early": {"nobody waits": [(WAIT, NO_WAIT)]},
    "before the launch": {
        "waits before the launch": [(WAIT, "        device.synchronize()\n" + NO_WAIT)]},
    "when the clock has been read": {
        "waits when the clock has been read": [(TIMED,
             "        start = device.now()\n        device.launch()\n"
             "        times.append(device.now() - start)\n        device.synchronize()\n")]},
    "read too early": {
        "the names of two methods alone": [
            ("device.synchronize()\n        times", "device.synchronize\n        times")],
        "a sleep in place of waiting": [
            (WAIT, "        device.launch()\n        time.sleep(0.001)\n        times"),
            ("import statistics", "import statistics\nimport time")]},
    "No launch lies between": {
        "the clock starts behind the launch": [("start = device.now()\n        device.launch()",
             "device.launch()\n        start = device.now()")]},
    "`device.launch()`: the first launch compiles": {
        "the whole loop, first launch and all": (
            HEAD + STARTER.replace("    seconds", "    device.synchronize()\n    seconds")
            .replace("2**30", "1e9"))},
    "the first launch compiles": {
        "no first launch, and the mean": [(WARM, ""), (MEDIAN, "statistics.mean(times)")],
        "no first launch, and the sum": [(WARM, ""), (MEDIAN, "sum(times) * 15")],
        "one launch alone": (
            HEAD + "    start = device.now()\n    device.launch()\n    device.synchronize()\n"
            "    return 2 * m * n * k / (device.now() - start) / 1e9\n")},
    "15 of the 15 launches": {"no flush": [(FLUSH, "        device.synchronize()\n")]},
    "not flushed before each": {
        "one flush before the loop": [(FLUSH, ""),
            ("    times = []", "    device.flush()\n    device.synchronize()\n" "    times = []")],
        "a launch between flush and clock": [("        start =",
             "        device.launch()\n        device.synchronize()\n" "        start =")]},
    "`device.flush()`: the flush lies between": {
        "the flush is timed": [(FLUSH, ""), ("        start = device.now()\n",
             "        start = device.now()\n        device.flush()\n")],
        "one start for all, and the flush": [(TIMED,
             "        device.launch()\n        device.synchronize()\n"
             "        times.append(device.now() - start)\n"),
            ("    times = []\n", "    times, start = [], device.now()\n")]},
    "the clock starts while the flush": {
        "nobody waits for the flush": [(FLUSH, "        device.flush()\n")]},
    "the clock starts while an earlier launch": {
        "nobody waits for the first launch": [(WARM, "    device.launch()\n"), (FLUSH, ""),
            ("range(15)", "range(1)")]},
    "in the cache": {
        "many launches in one time": [(FLUSH, ""), ("        device.launch()\n",
             "        for _ in range(10):\n" "            device.launch()\n"),
            (MEDIAN, "statistics.median(times) * 10")]},
    "2^30 = 1,073,741,824": {
        "2^30": [("10**9", "2**30")],
        "1024 three times": [("10**9", "1024**3")]},
    "2^20 = 1,048,576": {"1024 twice": [("10**9", "1024**2 / 1000")]},
    "2^10 = 1024": {"1024 once": [("10**9", "1024 / 10**6")]},
    "one for each multiply-add": {
        "no factor 2": [("2 * m", "m")],
        "no factor 2, and 2^30": [("2 * m", "m"), ("10**9", "2**30")],
        "the least, without the factor 2": [(MEDIAN, "min(times)"), ("2 * m", "m")]},
    "four for each multiply-add": {"four for a multiply-add": [("2 * m", "4 * m")]},
    "Your times are right": {
        "three for a multiply-add": [("2 * m", "3 * m")],
        "divides by the number again": [(MEDIAN, "(statistics.median(times) / 15)")],
        "the ninth decile": [(MEDIAN, "sorted(times)[13]")]},
    "1056·1888·608": {"as if it were square": [("m * n * k", "n**3")]},
    "multiply-adds": {"the elements of c": [(" * k /", " /")]},
    "2·(m + n + k)": {"the sum of the sizes": [("2 * m * n * k", "2 * (m + n + k)")]},
    "the mean of 15 times": {
        "the mean": [(MEDIAN, "statistics.mean(times)")],
        "the mean by hand": [(MEDIAN, "(sum(times) / len(times))")]},
    "the least of 15 times": {"the least": [(MEDIAN, "min(times)")]},
    "the greatest of 15 times": {"the greatest": [(MEDIAN, "max(times)")]},
    "the sum of all 15 times": {"the sum": [(MEDIAN, "sum(times)")]},
    "the last of 9 times alone": {
        "the last alone": [(MEDIAN, "times[-1]"), ("range(15)", "range(9)")]},
    "the mean of 15": {
        "the mean, and 2^30": [(MEDIAN, "statistics.mean(times)"), ("10**9", "2**30")]},
    "the clock gives seconds": {
        "milliseconds for seconds": [(MEDIAN, "(1000 * statistics.median(times))")],
        "as if the clock gave milliseconds": [("10**9", "10**6")]},
    "1,000 times too small": {"TFLOP/s": [("10**9", "10**12")]},
    "1,000,000,000 times too large": {"FLOP/s": [(" / 10**9", "")]},
    "10 times too large": {"a slip in the zeros": [("10**9", "10**8")]},
    "1,000 times too large": {"2^30 and milliseconds": [("10**9", "2**30 * 1000")]},
    "You return the time": {
        "returns the time": [(RETURN, "return statistics.median(times)")],
        "returns milliseconds": [(RETURN, "return 1000 * statistics.median(times)")]},
    "nothing is divided": {"returns the operations": [(RETURN, "return 2 * m * n * k / 10**9")]},
    "stands on its head": {
        "upside down": [(RETURN, "return statistics.median(times) / (2 * m * n * k) * 10**9")]},
    "multiply the operations with the time": {
        "multiplied with the time": [("k / stat", "k * stat")]},
    "negative": {"the earlier minus the later": [("device.now() - start", "start - device.now()")]},
    "returns nothing": {"returns nothing": [("    return", "    rate =")]},
    "the rate is one number": {"returns two": [("    return 2", "    return times, 2")]},
    "one number": {
        "returns a text": [
            (RETURN, "return f'{2 * m * n * k / statistics.median(times) / 10**9:.0f} GFLOP/s'")]},
    "You timed 3 launches": {"three times": [("range(15)", "range(3)")]},
    "You timed 6 launches": {"six times": [("range(15)", "range(6)")]},
    "StatisticsError": {"no time at all": [("range(15)", "range(0)")]},
    "ZeroDivisionError": {
        "divides by nothing": [("range(15)", "range(0)"), (MEDIAN, "(sum(times) / len(times))")]},
    "each of your 15 times": {
        "one start for all": [(TIMED, "        device.launch()\n        device.synchronize()\n"
             "        times.append(device.now() - start)\n"), (FLUSH, ""), ("    times = []\n",
             "    device.synchronize()\n    times, start = [], device.now()\n")]},
    "line 14, `device.flush()`": {
        "a flush behind the launch": [(FLUSH, ""), (TIMED, TIMED + "        device.flush()\n")]},
    "15 of the 30 launches": {
        "two launches": [
            ("        device.launch()\n", "        device.launch()\n        device.launch()\n")]},
    "the clock starts while an earlier launch of line 12": {
        "a launch before the clock starts": [
            ("        start =", "        device.launch()\n        start =")]},
    "You timed 1 launch.": {
        "one time alone in the list": [("        times.append", "    times.append")],
        "returns in the loop": [("    return", "        return")]},
    "statistics": {"without its import": [("import statistics\n", "")]},
    "returns nan": {"not a number": [(MEDIAN, "float('nan')")]},
    "was read 0 times": {
        "another clock": [("device.now()", "time.perf_counter()"),
            ("import statistics", "import statistics, time")]},
    "`launch()` is never called": {"never launches": [("device.launch()", "device.launch")]},
    "AttributeError": {"another spelling": [("synchronize", "synchronise")]},
    "TypeError": {"an argument too many": [("device.launch()", "device.launch(m, n, k)")]},
    "has not ended": {
        "a loop without an end": HEAD + ("    device.launch()\n    while True:\n        m += 1\n")},
    "2 parameters": {"two parameters": [("(device, m, n, k)", "(device, n)")]},
}  # fmt: skip
