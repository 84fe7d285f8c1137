"""The exercise `resident_blocks`: each wrong formula is refused with the rule that it breaks."""

import pytest

from labs import EXERCISES, check
from labs.resident_blocks.exercise import BY_RULE
from tests.labs.readers import changed, from_text, mutants_of
from utils.machine.occupancy import occupancy

NAME = "resident_blocks"
WARPS = "-(-threads // 32)"
OF_WARP = "-(-registers * 32 // 256) * 256"
OF_BLOCK = "-(-(shared_bytes + 1024) // 128) * 128"
BY_REGISTERS = "4 * (16_384 // registers_of_warp)"
RESULT = "min(64 // warps, 32, warps_by_registers // warps, 233_472 // bytes_of_block)"
FIRST = "    warps = -(-threads // 32)\n"

# What is wrong, the change of the solution, and words of the sentence that name the cause.
WRONG = {
    "no warp slots": (
        [("min(64 // warps, 32", "min(32")],
        ["Warp slots make no difference", "rule 1"],
    ),
    "no block slots": (
        [("64 // warps, 32, ", "64 // warps, ")],
        ["`threads = 32`", "you return 64, and 32 blocks", "Block slots make no difference"],
    ),
    "no registers": (
        [("warps_by_registers // warps, ", "")],
        ["Registers make no difference", "rule 3"],
    ),
    "no shared memory": (
        [(", 233_472 // bytes_of_block", "")],
        ["`shared_bytes = 51200`", "Shared memory makes no difference to your answers: rule 4"],
    ),
    "warp slots alone": ([(RESULT, "64 // warps")], ["This counts warp slots alone"]),
    "registers alone": (
        [(RESULT, "warps_by_registers // warps")],
        ["This counts registers alone"],
    ),
    "shared memory alone": (
        [(RESULT, "233_472 // bytes_of_block")],
        ["This counts shared memory alone"],
    ),
    "warps rounded down": (
        [(WARPS, "threads // 32")],
        ["`threads = 100`", "100 threads are 4 warps, the last of them not full"],
    ),
    "warps rounded down, at least 1": (
        [(WARPS, "max(threads // 32, 1)")],
        ["`threads = 100`", "rounded down and are at least 1"],
    ),
    "one warp more": ([(WARPS, "threads // 32 + 1")], ["A warp more than the block has"]),
    "parts of warps": ([(WARPS, "threads / 32")], ["Parts of a warp are counted"]),
    "threads for warps": ([(WARPS, "threads")], ["You count threads as warps"]),
    "threads for warp slots": (
        [("64 // warps", "2048 // threads")],
        ["You count 2,048 threads", "a whole slot"],
    ),
    "32 warp slots": ([("64 // warps", "32 // warps")], ["you return 4, and 8", "64 warp slots"]),
    "16 block slots": ([(", 32, ", ", 16, ")], ["you return 16, and 32", "32 block slots"]),
    "registers not in units": (
        [(OF_WARP, "registers * 32")],
        ["`registers = 41`", "not rounded up to a multiple of 256"],
    ),
    "registers rounded down": (
        [(OF_WARP, "registers * 32 // 256 * 256")],
        ["rounded down to a multiple of 256"],
    ),
    "one file of registers": (
        [(BY_REGISTERS, "65_536 // registers_of_warp")],
        ["one file of 65,536", "they lie in 4 parts".capitalize()],
    ),
    "one file, not in units": (
        [(BY_REGISTERS, "65_536 // registers_of_warp"), (OF_WARP, "registers * 32")],
        ["Registers are not rounded up, and they come from one file"],
    ),
    "one part of four": (
        [(BY_REGISTERS, "16_384 // registers_of_warp")],
        ["one part of the registers, and the SM has four"],
    ),
    "registers of one thread": (
        [(OF_WARP, "-(-registers // 256) * 256")],
        ["Registers make no difference"],
    ),
    "registers of threads": (
        [("warps_by_registers // warps", "65_536 // (threads * registers)")],
        ["You count the registers of threads"],
    ),
    "registers of a block rounded": (
        [("warps_by_registers // warps", "65_536 // (-(-threads * registers // 256) * 256)")],
        ["The registers of a block are rounded up"],
    ),
    "whole blocks in a part": (
        [(BY_REGISTERS, "16_384 // registers_of_warp // warps * 4 * warps")],
        ["fill each part with whole blocks"],
    ),
    "warps by registers for blocks": (
        [("warps_by_registers // warps", "warps_by_registers")],
        ["The registers have room for so many warps"],
    ),
    "no KiB of the driver": (
        [("(shared_bytes + 1024)", "shared_bytes"), (RESULT, RESULT.replace(
            "233_472 // bytes_of_block", "233_472 // max(bytes_of_block, 1)"))],
        ["The 1,024 bytes of the driver are missing"],
    ),
    "no KiB of the driver, and division by zero": (
        [("(shared_bytes + 1024)", "shared_bytes")],
        ["divides by zero", "233_472 // bytes_of_block"],
    ),
    "1000 bytes for a KiB": (
        [("+ 1024", "+ 1000")],
        ["The driver of an H200 has answered this", "Room for blocks: warp slots"],
    ),
    "block slots as warps": (
        [("64 // warps, 32,", "65 // warps, 32,")],
        ["`threads = 129`", "Room for blocks: warp slots 12, block slots 32, registers 16"],
    ),
    "bytes not in units": (
        [(OF_BLOCK, "shared_bytes + 1024")],
        ["not rounded up to a multiple of 128"],
    ),
    "bytes rounded down": (
        [(OF_BLOCK, "(shared_bytes + 1024) // 128 * 128")],
        ["The bytes of a block are rounded down"],
    ),
    "the KiB taken once": (
        [("233_472 // bytes_of_block", "232_448 // max(bytes_of_block, 1)"),
         ("(shared_bytes + 1024)", "shared_bytes")],
        ["The driver takes 1,024 bytes of each block's"],
    ),
    "shared memory of threads": (
        [("(shared_bytes + 1024)", "(shared_bytes * threads + 1024)")],
        ["`shared_bytes` is for a whole block"],
    ),
    "227 KiB": ([("233_472", "232_448")], ["So many can one block have"]),
    "the largest room": ([(RESULT, RESULT.replace("min", "max"))], ["take the largest room"]),
    "the sum": (
        [(RESULT, RESULT.replace("min(", "sum((") + ")")],
        ["You add the rooms"],
    ),
    "warps": ([(RESULT, f"{RESULT} * warps")], ["These are warps, and blocks are asked for"]),
    "threads": ([(RESULT, f"{RESULT} * threads")], ["These are threads"]),
    "occupancy": ([(RESULT, f"{RESULT} * warps / 64")], ["This is the occupancy, and"]),
    "percent": ([(RESULT, f"100 * {RESULT} * warps / 64")], ["occupancy in percent"]),
    "at least one": (
        [(RESULT, f"max({RESULT}, 1)")],
        ["`threads = 1024`", "never less than 1"],
    ),
    "the whole device": ([(RESULT, f"132 * {RESULT}")], ["for all 132 SMs"]),
    "no return": ([(f"return {RESULT}", RESULT)], ["returns nothing", "Is there a `return`"]),
    "several values": ([(RESULT, RESULT[3:])], ["returns 4 values, and one number"]),
    "not rounded": (
        [("233_472 // bytes_of_block", "233_472 / bytes_of_block")],
        ["`shared_bytes = 51200`", "you return 4.47059, and 4 blocks", "blocks is whole"],
    ),
    "a text": ([(RESULT, "'8'")], ["returns '8', and a number is wanted"]),
    "a name that is not defined": ([("64 // warps", "64 // warp")], ["`warp` is not defined"]),
    "other order": (
        [("(threads, registers,", "(registers, threads,")],
        ["Your parameters stand in another order"],
    ),
    "two parameters": ([(", shared_bytes)", ")")], ["Yours has 2 parameters"]),
    "a loop without end": (
        [(FIRST, "    warps = 0\n    while warps * 32 != threads + 1:\n        warps += 1\n")],
        ["has not ended", "what it tests does not change"],
    ),
    "lists of NumPy": (
        [("def ", "import numpy as np\n\n\ndef "), ("min(64", "np.minimum(64")],
        ["`np` is not known to the check; `math` is"],
    ),
}  # fmt: skip

BY_HAND = """import math


def resident_blocks(threads, registers, shared_bytes):
    warps = math.ceil(threads / 32)
    blocks = 0
    while True:
        more = blocks + 1
        portions = math.ceil(registers / 8)
        in_a_part = 64 // portions
        taken = math.ceil((shared_bytes + 1024) / 128)
        if more > 32 or more * warps > 64 or more * warps > 4 * in_a_part or more * taken > 1824:
            return blocks
        blocks = more
"""
IN_STEPS = """def up(amount, unit):
    return (amount + unit - 1) // unit * unit


def resident_blocks(threads, registers, shared_bytes):
    warps = up(threads, 32) // 32
    rooms = [64 // warps, 32]
    rooms = (*rooms, 1) if False else rooms
    by_registers = int(16384 / up(registers * 32, 256)) * 4 // warps
    by_memory = 228 * 1024 // up(shared_bytes + 1024, 128)
    least = rooms[0]
    for room in (rooms[1], by_registers, by_memory):
        if room < least:
            least = room
    return least
"""
RIGHT = {
    "math.ceil": [
        (WARPS, "math.ceil(threads / 32)"), ("def ", "import math\n\n\ndef "),
    ],
    "rounded up by adding": [(WARPS, "(threads + 31) // 32")],
    "portions of 8": [(OF_WARP, "-(-registers // 8) * 8 * 32")],
    "other names": [("threads", "t"), ("shared_bytes", "s"), ("registers,", "r,"),
                    ("-registers", "-r")],
    "floats": [("64 // warps", "math.floor(64 / warps)"), ("def ", "import math\n\n\ndef ")],
    "if for min": [(f"return {RESULT}", f"rooms = {RESULT}\n    if rooms < 1:\n        return 0\n"
                    "    return rooms")],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_formula_is_refused_with_its_cause(what):
    changes, words = WRONG[what]
    (cause,) = check(NAME, changed(NAME, *changes)).causes
    assert [word for word in words if word not in cause] == [], cause


@pytest.mark.parametrize("what", RIGHT)
def test_another_right_formula_passes(what):
    verdict = check(NAME, changed(NAME, *RIGHT[what]))
    assert verdict.passed, str(verdict)


@pytest.mark.slow
def test_a_function_that_puts_block_after_block_passes():
    assert check(NAME, from_text(NAME, BY_HAND)).passed


def test_a_function_with_another_function_and_a_loop_passes():
    verdict = check(NAME, from_text(NAME, IN_STEPS.replace(
        "    rooms = (*rooms, 1) if False else rooms\n", "")))  # fmt: skip
    assert verdict.passed, str(verdict)


# For whole numbers in the range of the task these change nothing: 16,385 and 233,473 are no
# multiples of the units that they are divided by, and up to 255 registers portions of 255 or 257
# are as many as portions of 256.
HARMLESS = {
    "constant_one_more in `warps_by_registers = 4 * (16_384 // registers_of_warp)`",
    "constant_one_more in `return min(64 // warps, 32, warps_by_registers // warps, "
    "233_472 // bytes_of_block)`",
    "constant_one_more in `registers_of_warp = -(-registers * 32 // 256) * 256`",
    "constant_one_less in `registers_of_warp = -(-registers * 32 // 256) * 256`",
}


@pytest.mark.slow
def test_every_small_slip_is_refused_or_changes_nothing():
    passed = {what for what, function in mutants_of(NAME) if check(NAME, function).passed}
    assert passed == HARMLESS


def test_each_rule_is_shown_by_what_the_calculator_says():
    for (threads, registers, shared_bytes), blocks, _ in BY_RULE:
        assert occupancy((9, 0), threads, registers, shared_bytes).blocks == blocks


def test_the_cases_hold_every_answer_of_the_driver_without_a_carve_out():
    assert len(EXERCISES[NAME].all_cases) == 882 + len(BY_RULE)
