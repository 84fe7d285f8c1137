"""The exercise `best_block`: each wrong search is refused with what it looks for instead."""

import pytest

from labs import EXERCISES, check
from labs.best_block.exercise import H200
from tests.labs.readers import changed, from_text, mutants_of
from utils.machine.occupancy import best_block_size

NAME = "best_block"
SIZES = "range(32, 1024 + 1, 32)"
BYTES = "bytes_per_thread * threads"
KEPT = "best, most = threads, blocks * threads"
TEST = "blocks * threads >= most"
LAST = "    return best\n"

WRONG = {
    "the smallest of equals": (
        [(TEST, "blocks * threads > most")],
        ["`registers = 32`", "you return 64, and 1,024 threads are right", "Of equals"],
    ),
    "the most blocks": (
        [(TEST, "blocks >= most"), (KEPT, "best, most = threads, blocks")],
        ["the most resident blocks"],
    ),
    "the most blocks, the smallest of equals": (
        [(TEST, "blocks > most"), (KEPT, "best, most = threads, blocks")],
        ["always the smallest size", "the most resident blocks"],
    ),
    "ends before 1024": (
        [(SIZES, "range(32, 1024, 32)")],
        ["1024 threads are not tried", "ends before its second number"],
    ),
    "ends before 1024, the smallest of equals": (
        [(SIZES, "range(32, 1024, 32)"), (TEST, "blocks * threads > most")],
        ["are right"],
    ),
    "powers of two": (
        [(SIZES, "(32, 64, 128, 256, 512, 1024)")],
        ["Only powers of two are tried"],
    ),
    "squares": ([(SIZES, "(64, 256, 1024)")], ["Only square blocks are tried"]),
    "every size": ([(SIZES, "range(1, 1025)")], ["no multiple of 32 are tried, too"]),
    "multiples of 64": ([(SIZES, "range(64, 1025, 64)")], ["Only multiples of 64"]),
    "multiples of 128": ([(SIZES, "range(128, 1025, 128)")], ["Only multiples of 128"]),
    "up to 512": ([(SIZES, "range(32, 513, 32)")], ["The search ends at 512"]),
    "bytes of a thread": ([(BYTES, "bytes_per_thread")], ["Shared memory makes no difference"]),
    "no shared memory": ([(BYTES, "0")], ["Shared memory makes no difference"]),
    "bytes times 4": ([(BYTES, f"4 * {BYTES}")], ["You multiply them by 4"]),
    "bytes of warps": ([(BYTES, f"{BYTES} // 32")], ["Shared memory makes no difference"]),
    "bytes over threads": (
        [(BYTES, "bytes_per_thread // threads")],
        ["Shared memory makes no difference"],
    ),
    "from 512 on": (
        [(SIZES, "range(512, 1025, 32)")],
        ["With 384 threads an SM holds 1 block, 384 threads", "With 1,024 threads", "0 blocks"],
    ),
    "no multiple of 32": (
        [(SIZES, "range(33, 1025, 32)")],
        ["you return 993", "multiples of 32", "With 1,024 threads an SM holds 2 blocks, 2,048"],
    ),
    "32 registers": (
        [("threads, registers, bytes_per", "threads, 32, bytes_per")],
        ["`registers` is not used"],
    ),
    "arguments exchanged": (
        [("blocks(threads, registers, bytes_p", "blocks(registers, threads, bytes_p")],
        ["are right"],
    ),
    "the fewest": (
        [(TEST, "blocks * threads <= most"), ("best, most = 0, 0", "best, most = 0, 10**9")],
        ["the fewest resident threads"],
    ),
    "the resident threads": ([(LAST, "    return most\n")], ["the resident threads of the best"]),
    "the resident blocks": (
        [(LAST, "    return most // best\n")],
        ["the resident blocks of the best size"],
    ),
    "warps": ([(LAST, "    return best // 32\n")], ["the warps of the best block"]),
    "a square": (
        [(LAST, "    return 4 ** math.floor(math.log(best, 4))\n"),
         ("def resident", "import math\n\n\ndef resident")],
        ["rounded down to a square"],
    ),
    "the side": (
        [(LAST, "    return 2 ** math.floor(math.log(best, 4))\n"),
         ("def resident", "import math\n\n\ndef resident")],
        ["the side of a square block"],
    ),
    "the next size": ([(LAST, "    return best + 32\n")], ["the next size after the best"]),
    "the largest that fits": (
        [(TEST, "blocks > 0"), (KEPT, "best = threads")],
        ["the largest block that fits"],
    ),
    "always 1024": ([(LAST, "    return 1024\n")], ["always the largest size"]),
    "nothing kept": ([(TEST, "blocks * threads < most")], ["No size was kept"]),
    "returns in the loop": (
        [("            " + KEPT, "            return threads")],
        ["always the smallest size"],
    ),
    "no return": ([(LAST, "")], ["returns nothing"]),
    "no function of one's own": (
        [("blocks = resident_blocks", "blocks = residents")],
        ["`residents` is not defined"],
    ),
    "an unfinished function": (
        [("    return min(64 // warps, 32, warps_by_registers // warps, "
          "233_472 // bytes_of_block)\n", "")],
        ["`None`, the value of a function without `return`", "cannot be computed with"],
    ),
    "a loop without end": (
        [(f"for threads in {SIZES}:", "threads = 32\n    while threads <= 1024:")],
        ["has not ended"],
    ),
}  # fmt: skip

BY_MAX = """    sizes = [threads for threads in range(1024, 0, -32)]
    return max(sizes, key=lambda t: t * resident_blocks(t, registers, bytes_per_thread * t))
"""
DOWNWARDS = """    best, most, threads = 0, -1, 1024
    while threads > 0:
        blocks = resident_blocks(threads, registers, shared_bytes=threads * bytes_per_thread)
        resident = threads * blocks
        if resident > most:
            best = threads
            most = resident
        threads -= 32
    return best
"""
PAIRS = """    pairs = []
    pairs = [
        (t * resident_blocks(t, registers, t * bytes_per_thread), t) for t in range(32, 1025, 32)
    ]
    return max(pairs)[1]
"""
BODIES = {"max": BY_MAX, "downwards": DOWNWARDS, "pairs": PAIRS}


@pytest.mark.parametrize(
    "what",
    [pytest.param(what, marks=[pytest.mark.slow] * (what == "every size")) for what in WRONG],
)
def test_a_wrong_search_is_refused_with_its_cause(what):
    changes, words = WRONG[what]
    (cause,) = check(NAME, changed(NAME, *changes)).causes
    assert [word for word in words if word not in cause] == [], cause


def with_body(body):
    head, _, _ = EXERCISES[NAME].solution_text.partition("    best, most = 0, 0\n")
    return from_text(NAME, head + body)


@pytest.mark.parametrize("what", BODIES)
def test_another_right_search_passes(what):
    verdict = check(NAME, with_body(BODIES[what]))
    assert verdict.passed, str(verdict)


def test_sizes_may_be_counted_in_warps():
    counted = changed(
        NAME,
        (SIZES, "range(1, 33)"),
        ("for threads in", "for warps in"),
        ("        blocks = ", "        threads = 32 * warps\n        blocks = "),
    )
    assert check(NAME, counted).passed


# Sizes are multiples of 32 up to 1024, so these change nothing; and any first values are replaced.
HARMLESS = {
    "constant_one_more in `warps = -(-threads // 32)`",
    "constant_one_more in `best, most = 0, 0`",
    "constant_one_less in `best, most = 0, 0`",
    "names_exchanged in `best, most = 0, 0`",
    "constant_one_more in `for threads in range(32, 1024 + 1, 32):`",
    "size_one_less in `if blocks * threads >= most:`",
}


@pytest.mark.slow
def test_every_small_slip_of_the_search_is_refused_or_changes_nothing():
    passed = {what for what, function in mutants_of(NAME) if check(NAME, function).passed}
    # Slips in the function that it calls are those of `resident_blocks`.
    assert {what for what in passed if "_of_" not in what and "_by_" not in what} == HARMLESS


def test_the_cases_are_the_calculators_and_hold_the_drivers():
    for case in EXERCISES[NAME].all_cases:
        registers, per_thread = case.given
        assert best_block_size(H200, registers, lambda t, one=per_thread: one * t) == case.right
    assert len(EXERCISES[NAME].all_cases) >= 50
