"""Wrong answers to `two_waits`: what `check` says, and the changes that earn it."""

from labs.checking.variants import file_beside

WARM = "    device.launch()  # compiles\n"
START = "    start = device.now()\n"
LAUNCH = "    device.launch()\n"
WAIT = "    device.synchronize()\n"
END = "    end = device.now()\n"
RETURN = "    return (end - start) * 10**6\n"
STARTER = file_beside(__file__, "starter")


def waits_at(*places: int) -> str:
    """Return the starter with a wait at each of these places, which count from 1."""
    text = STARTER
    for place in places:
        text = text.replace(f"    # place {place}\n", WAIT)
    return text


WRONG = {
    "`synchronize()` is never called": {
        "nobody waits": STARTER,
        "the method is named and not called": [("synchronize()", "synchronize")]},
    "when the clock has been read": {
        "place 4 alone": waits_at(4),
        "places 1 and 4": waits_at(1, 4)},
    "Nobody waits between the launch and this reading": {"place 1 alone": waits_at(1)},
    "before the launch": {
        "place 2 alone": waits_at(2),
        "places 1 and 2": waits_at(1, 2),
        "places 2 and 4": waits_at(2, 4)},
    "is still at work": {
        "place 3 alone": waits_at(3),
        "places 3 and 4": waits_at(3, 4),
        "places 2 and 3": waits_at(2, 3)},
    "the queue is empty already": {
        "all places": waits_at(1, 2, 3, 4),
        "places 1, 2 and 3": waits_at(1, 2, 3),
        "places 1, 3 and 4": waits_at(1, 3, 4)},
    "compiles the kernel": {
        "no first launch": [(WARM, "")]},
    "holds 2 launches": {
        "the first launch in the time": [(WARM, ""), (LAUNCH, LAUNCH + LAUNCH)],
        "one launch more in the time": [(LAUNCH, LAUNCH + LAUNCH)]},
    "No launch lies between": {
        "the clock starts behind the launch": [(START + LAUNCH, LAUNCH + START)]},
    "`now()`, was read": {
        "the end is not read": [(END, ""), (RETURN, "    return start\n")]},
    "the earlier reading comes first": {
        "the wrong way round": [(RETURN, "    return (start - end) * 10**6\n")]},
    "returns nothing": {"nothing returned": [(RETURN, "    (end - start) * 10**6\n")]},
    "the time is one number": {
        "both readings": [(RETURN, "    return start, end\n")]},
    "times as much": {
        "milliseconds": [("10**6", "10**3")],
        "seconds": [(" * 10**6", "")]},
    "`launch()` is never called": {
        "never launched": [(WARM, ""), (LAUNCH, "")]},
    "two readings of the clock that you subtract": {
        "behind the launch, and microseconds at once": [
            (START + LAUNCH, LAUNCH + START), (RETURN, "    return 1e6 * end - 1e6 * start\n")]},
    "the clock is read too early": {
        "place 4 alone, and microseconds at once": waits_at(4).replace(
            RETURN, "    return 1e6 * end - 1e6 * start\n")},
}  # fmt: skip
