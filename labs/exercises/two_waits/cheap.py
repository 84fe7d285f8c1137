"""Submissions to `two_waits` that ignore the idea of the task."""

from labs.exercises.two_waits.wrong import STARTER, waits_at

HEAD = "def two_waits(device):\n"

CHEAP = {
    "the starter": STARTER,
    "a wait at every place": waits_at(1, 2, 3, 4),
    "a constant": HEAD + "    return 1208\n",
    "a constant after launches for show": waits_at(1, 3).replace("(end - start) * 10**6", "1208"),
    "the clock of the launch alone": waits_at(1),
    "all launches in one time": (
        HEAD + "    start = device.now()\n    device.launch()\n    device.launch()\n"
        "    device.synchronize()\n    return (device.now() - start) / 2 * 10**6\n"
    ),
}
