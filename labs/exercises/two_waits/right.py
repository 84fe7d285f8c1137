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
}  # fmt: skip
