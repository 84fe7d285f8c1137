"""The exercise `to_the_gpu_and_back`: each wrong function gets the words that name its cause."""

import pytest

from labs import EXERCISES, check
from tests.labs.readers import changed, from_text, mutants_of

NAME = "to_the_gpu_and_back"
A = "    on_gpu_a = cuda.to_device(a)\n"
B = "    on_gpu_b = cuda.to_device(b)\n"
C = "    on_gpu_c = cuda.device_array((m, n), np.float32)\n"
LAUNCH = "    kernel[grid, block](on_gpu_a, on_gpu_b, on_gpu_c)\n"
BACK = "    return on_gpu_c.copy_to_host()\n"
GRID = "    grid = -(-n // 32), -(-m // 8)  # blocks: -(-n // 32) is n / 32, rounded up\n"
ON_HOST = "    c = np.zeros((m, n), np.float32)\n"

# What is wrong, the change of the solution, and words of the sentence that name the cause.
WRONG = {
    "nothing": ([(A + B + C + LAUNCH + BACK, "    pass\n")], ["never launched"]),
    "on the CPU": ([(A + B + C + LAUNCH + BACK, "    return a @ b\n")], ["never launched"]),
    "all in the launch": (
        [(A + B + C, ON_HOST), ("on_gpu_a, on_gpu_b, on_gpu_c", "a, b, c"),
         (BACK, "    return c\n")],
        ["kernel[grid, block](a, b, c)", "a and b come back", "c goes to the device",
         "6 copies with 51,200 bytes", "3 copies with 25,600"],
    ),
    "a in the launch": (
        [(A, ""), ("(on_gpu_a,", "(a,")],
        ["a is in the memory of the host", "a comes back, and the host has it", "4 copies"],
    ),
    "b in the launch": ([(B, ""), ("on_gpu_b,", "b,")], ["b comes back", "4 copies"]),
    "c in the launch": (
        [(C, ON_HOST), (", on_gpu_c)", ", c)"), (BACK, "    return c\n")],
        ["c goes to the device, and nobody reads it there", "4 copies with 40,960 bytes"],
    ),
    "copies that the launch does not get": (
        [("(on_gpu_a, on_gpu_b,", "(a, b,")],
        ["a and b are in the memory of the host",
         "on_gpu_a and on_gpu_b, on the device, are not used: the launch gets a and b"],
    ),
    "one copy that the launch does not get": (
        [("(on_gpu_a,", "(a,")],
        ["on_gpu_a, on the device, is not used: the launch gets a. In all 5 copies"],
    ),
    "copies that are not kept": (
        [(A + B + C, f"    cuda.to_device(a)\n    cuda.to_device(b)\n{ON_HOST}"),
         ("on_gpu_a, on_gpu_b, on_gpu_c", "a, b, c"), (BACK, "    return c\n")],
        ["Lines 11 and 12: what cuda.to_device returns is not kept", "8 copies"],
    ),
    "copy_to_host of NumPy's array": (
        [(A + B + C, f"    cuda.to_device(a)\n    cuda.to_device(b)\n{ON_HOST}"),
         ("on_gpu_a, on_gpu_b, on_gpu_c", "a, b, c"), (BACK, "    return c.copy_to_host()\n")],
        ["Line 15 raises AttributeError", "That is an array of NumPy's",
         "to_device(x) does not change x", "that copy is lost"],
    ),
    "zeros sent to the device": (
        [(C, "    on_gpu_c = cuda.to_device(np.zeros((m, n), np.float32))\n")],
        ["Line 13", "c goes to the device, 15,360 bytes", "the kernel stores every element"],
    ),
    "uninitialised c sent to the device": (
        [(C, "    on_gpu_c = cuda.to_device(np.empty((m, n), np.float32))\n")],
        ["c goes to the device, 15,360 bytes"],
    ),
    "c filled from the host": (
        [(C, f"{C}    on_gpu_c[:] = np.zeros((m, n), np.float32)\n")],
        ["c goes to the device, 15,360 bytes"],
    ),
    "c filled by a number": (
        [(C, f"{C}    on_gpu_c[:] = 0\n")],
        ["one element goes to the device"],
    ),
    "a comes back": (
        [(BACK, f"    on_gpu_a.copy_to_host(a)\n{BACK}")],
        ["on_gpu_a.copy_to_host(a)", "a comes back to the host, 3,840 bytes", "has them already"],
    ),
    "all come back": (
        [(BACK, f"    on_gpu_a.copy_to_host()\n    on_gpu_b.copy_to_host()\n{BACK}")],
        ["a comes back to the host", "5 copies"],
    ),
    "b twice": (
        [(B, B + B)],
        ["Lines 12 and 13", "b goes to the device 2 times, 12,800 bytes in place of 6,400"],
    ),
    "c back twice": (
        [(BACK, f"    on_gpu_c.copy_to_host()\n{BACK}")],
        ["c comes back to the host 2 times", "30,720 bytes in place of 15,360"],
    ),
    "c as an array and by its elements": (
        [(BACK, f"    print(on_gpu_c[0, 0])\n{BACK}")],
        ["one element comes back to the host, 4 bytes"],
    ),
    "a row by row": (
        [(A, "    on_gpu_a = cuda.device_array((m, a.shape[1]), np.float32)\n"
             "    for i in range(m):\n        on_gpu_a[i].copy_to_device(a[i])\n")],
        ["an array of shape 20 goes to the device, 48 times 80 bytes"],
    ),
    "forgets copy_to_host": (
        [(BACK, "    return on_gpu_c\n")],
        ["lies on the device", "c has not come back"],
    ),
    "no return": ([(BACK, "    on_gpu_c.copy_to_host()\n")], ["returns None", "return"]),
    "returns all": (
        [(BACK, "    return on_gpu_a, on_gpu_b, on_gpu_c.copy_to_host()\n")],
        ["returns a tuple"],
    ),
    "returns a": (
        [(BACK, "    on_gpu_c.copy_to_host()\n    return a\n")],
        ["the result has the shape 48×20", "48×80"],
    ),
    "returns an old c": (
        [(C, ON_HOST + C), (BACK, "    on_gpu_c.copy_to_host()\n    return c\n")],
        ["Every element of the result is 0", "made on the host"],
    ),
    "c of float64": (
        [("(m, n), np.float32)", "(m, n))")],
        ["the kernel gets c as float64", "30,720 bytes", "As float32 it is 15,360 bytes"],
    ),
    "a as float64": (
        [("to_device(a)", "to_device(a.astype(np.float64))")],
        ["a as float64: 7,680 bytes", "3,840 bytes"],
    ),
    "c as half": ([("np.float32", "np.float16")], ["c as float16"]),
    "result as float64": (
        [(BACK, "    return on_gpu_c.copy_to_host().astype(np.float64)\n")],
        ["The result is float64"],
    ),
    "back before the launch": (
        [(LAUNCH + BACK, f"    c = on_gpu_c.copy_to_host()\n{LAUNCH}    return c\n")],
        ["c = on_gpu_c.copy_to_host()", "comes back before the kernel is launched"],
    ),
    "there after the launch": (
        [(A, "    on_gpu_a = cuda.device_array((m, a.shape[1]), np.float32)\n"),
         (LAUNCH, f"{LAUNCH}    on_gpu_a.copy_to_device(a)\n")],
        ["a goes to the device after the kernel has run"],
    ),
    "never there": (
        [(A, "    on_gpu_a = cuda.device_array((m, a.shape[1]), np.float32)\n")],
        ["a never goes to the device"],
    ),
    "a only as memory": (
        [("cuda.to_device(a)", "cuda.device_array_like(a)")],
        ["a never goes to the device"],
    ),
    "rounded down": (
        [("-(-n // 32)", "n // 32")],
        ["64 threads wide and 48 high", "80 columns", "768 of its 3,840"],
    ),
    "exchanged grid": (
        [(GRID, "    grid = -(-m // 8), -(-n // 32)\n")],
        ["192 threads wide and 24 high", "48 rows"],
    ),
    "grid and block exchanged": (
        [("kernel[grid, block]", "kernel[block, grid]")],
        ["32×8 blocks of 3×6 threads", "exchanged"],
    ),
    "one block": ([(GRID, "    grid = 1, 1\n")], ["32 threads wide and 8 high"]),
    "one dimension": ([(GRID, "    grid = 100\n")], ["3,200 threads wide and 8 high"]),
    "exchanged arrays": (
        [("(on_gpu_a, on_gpu_b,", "(on_gpu_b, on_gpu_a,")],
        ["the kernel gets arrays of 20×80, 48×20 and 48×80", "a of 48×20"],
    ),
    "c first": (
        [("(on_gpu_a, on_gpu_b, on_gpu_c)", "(on_gpu_c, on_gpu_a, on_gpu_b)")],
        ["the kernel gets arrays of 48×80"],
    ),
    "c transposed": ([("(m, n), np", "(n, m), np")], ["20×80 and 80×48"]),
    "two arguments": ([(", on_gpu_c)", ")")], ["launched with 2 arguments", "c of 48×80"]),
    "no brackets": (
        [("kernel[grid, block]", "kernel")],
        ["raises TypeError", "kernel[grid, block]"],
    ),
    "no such method": ([(".copy_to_host", ".to_host")], ["raises AttributeError", "to_host"]),
    "copies of no array": ([("to_device(a)", "to_device(A)")], ["NameError"]),
    "two launches": ([(LAUNCH, LAUNCH + LAUNCH)], ["launched 2 times"]),
    "a launch for each row": (
        [(LAUNCH, f"    for i in range(m):\n    {LAUNCH}")],
        ["launched 48 times"],
    ),
    "managed": (
        [("cuda.device_array(", "cuda.managed_array("), (".copy_to_host()", "")],
        ["c lies in managed or mapped memory"],
    ),
    "mapped": (
        [(A, "    with cuda.mapped(a) as on_gpu_a:\n        pass\n")],
        ["No copy of a was seen", "share"],
    ),
    "kept from the first call": (
        [("def to_the", "kept = {}\n\n\ndef to_the"),
         (A + B, "    if (m, n) not in kept:\n"
                 "        kept[m, n] = cuda.to_device(a), cuda.to_device(b)\n"
                 "    on_gpu_a, on_gpu_b = kept[m, n]\n")],
        ["second result is that of the first call"],
    ),
    "result halved": (
        [(BACK, "    return on_gpu_c.copy_to_host() / np.float32(2)\n")],
        ["3,810 of 3,840 elements are wrong", "c[0, 0] is -56, and -112 is right"],
    ),
}  # fmt: skip

# Other ways that are as good.
RIGHT = {
    "like another array": [(C, "    c = np.empty((m, n), np.float32)\n"
                               "    on_gpu_c = cuda.device_array_like(c)\n")],
    "into an array of the host": [(BACK, f"{ON_HOST}    on_gpu_c.copy_to_host(c)\n    return c\n")],
    "by np.asarray": [(BACK, "    return np.asarray(on_gpu_c)\n")],
    "with a needless wait": [(LAUNCH, f"{LAUNCH}    cuda.synchronize()\n")],
    "into memory that is there": [
        (A, "    on_gpu_a = cuda.device_array((m, a.shape[1]), np.float32)\n"
            "    on_gpu_a.copy_to_device(a)\n")],
    "hints in the launch": [
        (A + B + C, ON_HOST),
        ("on_gpu_a, on_gpu_b, on_gpu_c", "cuda.In(a), cuda.In(b), cuda.Out(c)"),
        (BACK, "    return c\n")],
    "other blocks": [("block = 32, 8", "block = 16, 16"),
                     (GRID, "    grid = -(-n // 16), -(-m // 16)\n")],
    "one line": [(A + B, "    on_gpu_a, on_gpu_b = map(cuda.to_device, (a, b))\n")],
    "pinned": [(BACK, "    c = cuda.pinned_array((m, n), np.float32)\n"
                      "    return on_gpu_c.copy_to_host(c)\n")],
    "in a stream": [("[grid, block]", "[grid, block, cuda.stream()]")],
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


def test_the_starter_is_right_and_copies_twice_as_often():
    verdict = check(NAME, EXERCISES[NAME].starter)
    assert not verdict.passed
    assert verdict.counts == {"copies": 6, "bytes": 51200}


def test_the_solution_copies_each_array_once():
    assert check(NAME, EXERCISES[NAME].solution).counts["copies"] == 3


@pytest.mark.parametrize("given", [None, 3, "to_the_gpu_and_back", lambda a, b: a])
def test_what_is_no_such_function_is_refused(given):
    assert "not yet" in said(given)


def test_what_is_seen_does_not_hold_the_words_of_another_language():
    """A sentence about a text of its own, in a file without a name."""
    told = said(from_text(NAME, "def to_the_gpu_and_back(kernel, a, b):\n    return kernel(a)\n"))
    assert "Line 2 raises TypeError" in told


@pytest.mark.slow
def test_small_slips_are_refused():
    for what, function in mutants_of(NAME):
        told = said(function)
        assert ("not yet" in told) != what.startswith(HARMLESS), (what, told)
