"""The exercise `without_copies`: each wrong function gets the words that name its cause."""

import pytest

from labs import EXERCISES, check
from tests.labs.readers import changed, mutants_of

NAME = "without_copies"
A = "    both_a = cuda.managed_array(a.shape, np.float32)\n"
B = "    both_b = cuda.managed_array(b.shape, np.float32)\n"
C = "    both_c = cuda.managed_array((m, n), np.float32)\n"
FILL_A, FILL_B = "    both_a[:] = a\n", "    both_b[:] = b\n"
LAUNCH = "    kernel[grid, block](both_a, both_b, both_c)\n"
WAIT = "    cuda.synchronize()\n"
BACK = "    return both_c\n"

# What is wrong, the change of the solution, and words of the sentence that name the cause.
WRONG = {
    "no launch": ([(LAUNCH, "")], ["never launched"]),
    "two launches": ([(LAUNCH, LAUNCH + LAUNCH)], ["launched 2 times"]),
    "does not wait": (
        [(WAIT, "")],
        ["Nothing waits for the kernel after its launch", "may still run", "still missing"],
    ),
    "waits before the launch": (
        [(LAUNCH + WAIT, WAIT + LAUNCH)],
        ["cuda.synchronize(), waits before the launch", "Nothing waits"],
    ),
    "a not filled": ([(FILL_A, "")], ["a has no numbers yet", "Nobody has stored the elements"]),
    "b not filled": ([(FILL_B, "")], ["b has no numbers yet"]),
    "filled after the launch": (
        [(FILL_A + FILL_B + LAUNCH, LAUNCH + FILL_A + FILL_B)],
        ["a has no numbers yet when the kernel is launched"],
    ),
    "the name in place of the elements": (
        [(FILL_A, "    both_a = a\n")],
        ["both_a is an array of NumPy's, and no managed one",
         "3,840 bytes to the device, and back", "both_a = a stores nothing"],
    ),
    "two names in place of the elements": (
        [(FILL_A, "    both_a = a\n"), (FILL_B, "    both_b = b\n")],
        ["both_a and both_b are arrays of NumPy's, and no managed ones", "10,240 bytes",
         "both_a = a stores nothing", "both_b = b stores nothing"],
    ),
    "the managed arrays are not launched": (
        [("(both_a, both_b,", "(a, b,")],
        ["a and b are arrays of NumPy's, and no managed ones"],
    ),
    "c of NumPy": (
        [(C, "    both_c = np.zeros((m, n), np.float32)\n")],
        ["both_c is an array of NumPy's", "15,360 bytes"],
    ),
    "a copied": (
        [(A, "    both_a = cuda.to_device(a)\n"), (FILL_A, "")],
        ["both_a = cuda.to_device(a)", "a goes to the device by a copy, 3,840 bytes"],
    ),
    "c copied back": (
        [(BACK, "    return both_c.copy_to_host()\n")],
        ["c comes back to the host by a copy", "No copy is wanted"],
    ),
    "c on the device, copied": (
        [("both_c = cuda.managed_array", "both_c = cuda.device_array"),
         (BACK, "    return both_c.copy_to_host()\n")],
        ["c comes back to the host by a copy"],
    ),
    "c on the device": (
        [("both_c = cuda.managed_array", "both_c = cuda.device_array")],
        ["lies on the device"],
    ),
    "c of float64": ([("(m, n), np.float32)", "(m, n))")], ["gets c as float64", "30,720 bytes"]),
    "a of float64": ([("a.shape, np.float32)", "a.shape)")], ["gets a as float64"]),
    "all of float64": ([(", np.float32", "")], ["gets a as float64: 7,680 bytes"]),
    "no return": ([(BACK, "")], ["returns None"]),
    "returns a": ([(BACK, "    return both_a\n")], ["the result has the shape 48×20"]),
    "c before the launch": (
        [(C, f"{C}    c = both_c.copy()\n"), (BACK, "    return c\n")],
        ["Every element of the result is 0"],
    ),
    "b in place of a": ([(FILL_A, "    both_a[:] = b[0, 0]\n")], ["elements are wrong"]),
    "rounded down": ([("-(-m // 8)", "m // 8")], ["33 columns and 41 rows", "40 high"]),
    "grid and block exchanged": (
        [("kernel[grid, block]", "kernel[block, grid]")],
        ["32×8 blocks of 3×6 threads", "exchanged"],
    ),
    "one block": ([("grid = -(-n // 32), -(-m // 8)", "grid = 1, 1")], ["32 threads wide"]),
    "exchanged arrays": ([("(both_a, both_b,", "(both_b, both_a,")], ["gets arrays of 20×80"]),
    "shape of c": ([("(m, n), np", "(n, m), np")], ["gets arrays of", "80×48"]),
    "no shape": (
        [("a.shape, np.float32", "a, np.float32")],
        ["The shape is an array of shape (48, 20); it must be whole numbers"],
    ),
    "no brackets": ([("kernel[grid, block]", "kernel")], ["raises TypeError"]),
}  # fmt: skip

# Other ways that are as good.
RIGHT = {
    "a copy on the host": [(BACK, "    return both_c.copy()\n")],
    "as NumPy's": [(BACK, "    return np.asarray(both_c)\n")],
    "waits for a stream": [
        (C, f"{C}    stream = cuda.stream()\n"),
        ("[grid, block]", "[grid, block, stream]"),
        (WAIT, "    stream.synchronize()\n")],
    "waits for an event": [
        (WAIT, "    done = cuda.event()\n    done.record()\n    done.synchronize()\n")],
    "np.copyto": [(FILL_A + FILL_B, "    np.copyto(both_a, a)\n    np.copyto(both_b, b)\n")],
    "waits twice": [(WAIT, WAIT + WAIT)],
}  # fmt: skip


# Small slips by rule that change nothing: more threads than are needed.
HARMLESS = (
    "constant_one_more in `block = 32, 8",
    "constant_one_less in `grid = ",
)


def said(function) -> str:
    return str(check(NAME, function))


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_function_is_told_its_cause(what):
    changes, words = WRONG[what]
    told = said(changed(NAME, *changes))
    assert "not yet" in told
    missing = [word for word in words if word.casefold() not in told.casefold()]
    assert not missing, told


@pytest.mark.parametrize("what", RIGHT)
def test_other_right_functions_pass(what):
    assert "right" in (told := said(changed(NAME, *RIGHT[what]))).splitlines()[0], told


def test_the_starter_copies_and_is_told_so():
    told = said(EXERCISES[NAME].starter)
    assert "a goes to the device by a copy, 3,840 bytes" in told


def test_the_solution_copies_nothing():
    verdict = check(NAME, EXERCISES[NAME].solution)
    assert verdict.passed
    assert verdict.counts == {"copies": 0, "bytes": 0}


@pytest.mark.slow
def test_small_slips_are_refused():
    for what, function in mutants_of(NAME):
        told = said(function)
        assert ("not yet" in told) != what.startswith(HARMLESS), (what, told)
