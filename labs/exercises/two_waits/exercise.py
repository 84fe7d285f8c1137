"""A measurement without waits, with four places for two of them."""

from labs.host.benchmark.waits import examine_waits
from labs.host.exercise import HostExercise

EXERCISE = HostExercise(
    name="two_waits",
    lesson="01",
    kind="repair",
    title="Two waits, four places",
    text=(
        "`two_waits(device)` should return the microseconds from the second launch until its "
        "kernel has ended, and no other work may be in this time. Four places are offered. Put a "
        "wait at two of them, and change nothing else.",
        "The device has three methods. `launch()` puts a kernel into the queue and returns. "
        "`synchronize()` waits until the queue is empty. `now()` reads the host's clock, in "
        "seconds. The check calls your function with models of a device.",
    ),
    hints=(
        "Which kernel may still be at work when the clock starts, and which one when it stops?",
        "A wait belongs before each reading of the clock. Is there work of another kernel in the "
        "time if you wait after the reading?",
    ),
    after="The clock starts with an empty queue, and it stops when the queue is empty again.",
    parameters=("device",),
    promises=(
        "the time of one launch and its kernel, within 0.1 %, on six devices",
        "no wait for an empty queue",
    ),
    examine=examine_waits,
)
