"""Copies, launches and waits in different streams: an answer without an order is not right."""

import pytest

from labs import EXERCISES, check
from labs.checking.variants import changed, function_in
from labs.exercises.to_the_gpu_and_back.wrong import BACK, LAUNCH, A, B
from labs.exercises.without_copies import wrong as managed

STREAMS = "    s, t = cuda.stream(), cuda.stream()\n"
IN_S = (LAUNCH, LAUNCH.replace("block]", "block, s]"))
# b before a, because a copy in the default stream waits for all others.
FIRST = (A, STREAMS)
A_IN_S, A_IN_T = ((B, B + A.replace("(a)", f"(a, stream={one})")) for one in "st")
BACK_IN_S, BACK_IN_T = ((BACK, BACK.replace("()", f"(stream={one})")) for one in "st")
PINNED = (
    "    c = cuda.pinned_array((m, n), np.float32)\n    on_gpu_c.copy_to_host(c, stream=s)\n"
    "{wait}    return c\n"
)
MARK = "    done = cuda.event()\n    done.record({first})\n    done.wait({then})\n"
S_FOR_T, T_FOR_S = (MARK.format(first=one, then=other) for one, other in ("ts", "st"))
WAIT_IN_S = (managed.LAUNCH, STREAMS + managed.LAUNCH.replace("block]", "block, s]"))


def said(name: str, *changes: tuple[str, str]) -> str:
    exercise = EXERCISES[name]
    return str(check(name, function_in(name, changed(exercise, changes))))


@pytest.mark.parametrize(
    "changes",
    [
        (A_IN_S, IN_S, BACK_IN_S),
        (A_IN_S, IN_S),  # c comes back in the default stream, which waits for all others
        (A_IN_T, (LAUNCH, S_FOR_T + IN_S[1]), BACK_IN_S),
        (A_IN_T, (LAUNCH, f"    t.synchronize()\n{IN_S[1]}"), BACK_IN_S),
        (A_IN_S, (LAUNCH, IN_S[1] + T_FOR_S), BACK_IN_T),
        (A_IN_S, IN_S, (BACK, PINNED.format(wait="    s.synchronize()\n"))),
        (A_IN_S, IN_S, (BACK, PINNED.format(wait="    cuda.synchronize()\n"))),
    ],
)
def test_streams_with_an_order_are_right(changes):
    assert ": right." in said("to_the_gpu_and_back", FIRST, *changes)


@pytest.mark.parametrize(
    "words, changes",
    [
        ("a is copied in another stream", (A_IN_T, IN_S, BACK_IN_S)),
        ("a is copied in another stream", (A_IN_T, (LAUNCH, T_FOR_S + IN_S[1]), BACK_IN_S)),
        ("c is copied back in another stream", (A_IN_S, IN_S, BACK_IN_T)),
        ("nothing waits for it", (A_IN_S, IN_S, (BACK, PINNED.format(wait="")))),
        (
            "nothing waits for it",
            (A_IN_S, IN_S, (BACK, PINNED.format(wait="    t.synchronize()\n"))),
        ),
    ],
)
def test_streams_without_an_order_are_named(words, changes):
    verdict = said("to_the_gpu_and_back", FIRST, *changes)
    assert words in verdict
    assert ": right." not in verdict


def test_a_wait_for_another_stream_is_no_wait_for_the_kernel():
    verdict = said("without_copies", WAIT_IN_S, (managed.WAIT, "    t.synchronize()\n"))
    assert "Line 18, t.synchronize(), does not wait for the stream of the launch" in verdict
    assert ": right." in said("without_copies", WAIT_IN_S, (managed.WAIT, "    s.synchronize()\n"))
