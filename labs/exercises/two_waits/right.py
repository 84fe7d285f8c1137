"""Other right answers to `two_waits`: changes of the solution that `check` accepts."""

from labs.exercises.two_waits.wrong import END, RETURN, WARM

RIGHT = {
    "without the name end": [(END, ""), (RETURN, "    return (device.now() - start) * 10**6\n")],
    "several launches first": [(WARM, "    for _ in range(3):\n        device.launch()\n")],
    "the difference has a name": [
        (RETURN, "    seconds = end - start\n    return 1e6 * seconds\n")],
    "a launch behind the clock": [
        (RETURN, "    device.launch()\n    return (end - start) * 1_000_000\n")],
    "another name": [("start", "begin")],
    "microseconds at once": [
        ("start = device.now()", "start = device.now() * 10**6"),
        ("end = device.now()", "end = device.now() * 10**6"),
        (RETURN, "    return end - start\n")],
    "microseconds in the difference": [(RETURN, "    return 1e6 * end - 1e6 * start\n")],
    "plain floats": [
        ("start = device.now()", "start = float(device.now())"),
        ("end = device.now()", "end = float(device.now())")],
    "a sum with a negative start": [
        ("start = device.now()", "start = -device.now()"),
        (RETURN, "    return (end + start) * 10**6\n")],
    "NumPy's difference": [
        (RETURN, "    return numpy.diff([start, end])[0] * 10**6\n"),
        ("def two_waits", "import numpy\n\n\ndef two_waits")],
}  # fmt: skip
