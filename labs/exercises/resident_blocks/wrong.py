"""Wrong answers to `resident_blocks`: what `check` says, and the changes that earn it."""

WARPS = "-(-threads // 32)"
OF_WARP = "-(-registers * 32 // 256) * 256"
OF_BLOCK = "-(-(shared_bytes + 1024) // 128) * 128"
BY_REGISTERS = "4 * (16_384 // registers_of_warp)"
RESULT = "min(64 // warps, 32, warps_by_registers // warps, 233_472 // bytes_of_block)"
FIRST = "    warps = -(-threads // 32)\n"

WRONG = {
    "Warp slots make no difference to your answers: rule 1.": {
        "no warp slots": [("min(64 // warps, 32", "min(32")]},
    "Block slots make no difference to your answers: rule 2.": {
        "no block slots": [("64 // warps, 32, ", "64 // warps, ")]},
    "Registers make no difference to your answers: rule 3.": {
        "no registers": [("warps_by_registers // warps, ", "")],
        "registers of one thread": [(OF_WARP, "-(-registers // 256) * 256")]},
    "You share the warps of a block evenly between the 4 parts. One part may hold more of them "
    "than another.": {
        "a share per part": [
            (BY_REGISTERS, "16_384 // (registers_of_warp * -(-warps // 4))"),
            ("warps_by_registers // warps, ", "warps_by_registers, ")]},
    "Shared memory makes no difference to your answers: rule 4.": {
        "no shared memory": [(", 233_472 // bytes_of_block", "")]},
    "This counts warp slots alone. Four resources can run out.": {
        "warp slots alone": [(RESULT, "64 // warps")]},
    "This counts registers alone. Four resources can run out.": {
        "registers alone": [(RESULT, "warps_by_registers // warps")]},
    "This counts shared memory alone. Four resources can run out.": {
        "shared memory alone": [(RESULT, "233_472 // bytes_of_block")]},
    "100 threads are 4 warps, the last of them not full": {
        "warps rounded down": [(WARPS, "threads // 32")]},
    "Warps are rounded down and are at least 1. A last warp that is not full counts, too.": {
        "warps rounded down, at least 1": [(WARPS, "max(threads // 32, 1)")]},
    "A warp more than the block has: a full one is no reason for a further one.": {
        "one warp more": [(WARPS, "threads // 32 + 1")]},
    "Parts of a warp are counted. A block takes whole warps.": {
        "parts of warps": [(WARPS, "threads / 32")]},
    "You count threads as warps. A warp has 32 threads.": {
        "threads for warps": [(WARPS, "threads")]},
    "The SM has 64 warp slots. You count 2,048 threads, and a last warp that is not full takes a "
    "whole slot.": {"threads for warp slots": [("64 // warps", "2048 // threads")]},
    "you return 4, and 8": {"32 warp slots": [("64 // warps", "32 // warps")]},
    "you return 16, and 32": {"16 block slots": [(", 32, ", ", 16, ")]},
    "The registers of a warp are not rounded up to a multiple of 256.": {
        "registers not in units": [(OF_WARP, "registers * 32")]},
    "The registers of a warp are rounded down to a multiple of 256, and not up.": {
        "registers rounded down": [(OF_WARP, "registers * 32 // 256 * 256")]},
    "You give registers from one file of 65,536. They lie in 4 parts, and what is left over in a "
    "part is of no use to a warp of another one.": {
        "one file of registers": [(BY_REGISTERS, "65_536 // registers_of_warp")]},
    "Registers are not rounded up, and they come from one file of 65,536 in place of 4 parts.": {
        "one file, not in units": [(BY_REGISTERS, "65_536 // registers_of_warp"),
            (OF_WARP, "registers * 32")]},
    "You count one part of the registers, and the SM has four.": {
        "one part of four": [(BY_REGISTERS, "16_384 // registers_of_warp")]},
    "You count the registers of threads. They are given to whole warps, also where the last is not "
    "full.": {
        "registers of threads": [
            ("warps_by_registers // warps", "65_536 // (threads * registers)")]},
    "The registers of a block are rounded up. Each warp's are, and they come from the 4 parts.": {
        "registers of a block rounded": [
            ("warps_by_registers // warps", "65_536 // (-(-threads * registers // 256) * 256)")]},
    "You fill each part with whole blocks. The warps of one block may lie in several parts.": {
        "whole blocks in a part": [
            (BY_REGISTERS, "16_384 // registers_of_warp // warps * 4 * warps")]},
    "The registers have room for so many warps, and a block has several: divide by them.": {
        "warps by registers for blocks": [("warps_by_registers // warps", "warps_by_registers")]},
    "The 1,024 bytes of the driver are missing.": {
        "no KiB of the driver": [("(shared_bytes + 1024)", "shared_bytes"), (RESULT,
             RESULT.replace("233_472 // bytes_of_block", "233_472 // max(bytes_of_block, 1)"))]},
    "233_472 // bytes_of_block": {
        "no KiB of the driver, and division by zero": [("(shared_bytes + 1024)", "shared_bytes")]},
    "The driver of an H200 has answered this": {"1000 bytes for a KiB": [("+ 1024", "+ 1000")]},
    "Room for blocks: warp slots 12, block slots 32, registers 16": {
        "block slots as warps": [("64 // warps, 32,", "65 // warps, 32,")]},
    "The bytes of a block are not rounded up to a multiple of 128.": {
        "bytes not in units": [(OF_BLOCK, "shared_bytes + 1024")]},
    "The bytes of a block are rounded down to a multiple of 128, and not up.": {
        "bytes rounded down": [(OF_BLOCK, "(shared_bytes + 1024) // 128 * 128")]},
    "The driver takes 1,024 bytes of each block's, and not once of the SM's.": {
        "the KiB taken once": [("233_472 // bytes_of_block", "232_448 // max(bytes_of_block, 1)"),
            ("(shared_bytes + 1024)", "shared_bytes")]},
    "`shared_bytes` is for a whole block, and you multiply it by the threads.": {
        "shared memory of threads": [("(shared_bytes + 1024)", "(shared_bytes * threads + 1024)")]},
    "You count 232,448 bytes. So many can one block have; the SM has 233,472.": {
        "227 KiB": [("233_472", "232_448")]},
    "You take the largest room. The resource that runs out first decides.": {
        "the largest room": [(RESULT, RESULT.replace("min", "max"))]},
    "You add the rooms. The resource that runs out first decides.": {
        "the sum": [(RESULT, RESULT.replace("min(", "sum((") + ")")]},
    "These are warps, and blocks are asked for.": {"warps": [(RESULT, f"{RESULT} * warps")]},
    "These are threads, and blocks are asked for.": {"threads": [(RESULT, f"{RESULT} * threads")]},
    "This is the occupancy, and blocks are asked for.": {
        "occupancy": [(RESULT, f"{RESULT} * warps / 64")]},
    "This is the occupancy in percent, and blocks are asked for.": {
        "percent": [(RESULT, f"100 * {RESULT} * warps / 64")]},
    "This is never less than 1. Where a block does not fit, 0 is right.": {
        "at least one": [(RESULT, f"max({RESULT}, 1)")]},
    "This is for all 132 SMs, and one SM is asked for.": {
        "the whole device": [(RESULT, f"132 * {RESULT}")]},
    "Is there a `return`": {"no return": [(f"return {RESULT}", RESULT)]},
    "returns 4 values, and one number": {"several values": [(RESULT, RESULT[3:])]},
    "you return 4.47059, and 4 blocks": {
        "not rounded": [("233_472 // bytes_of_block", "233_472 / bytes_of_block")]},
    "returns '8', and a number is wanted": {"a text": [(RESULT, "'8'")]},
    "`warp` is not defined": {"a name that is not defined": [("64 // warps", "64 // warp")]},
    "Your parameters stand in another order": {
        "other order": [("(threads, registers,", "(registers, threads,")]},
    "Yours has 2 parameters": {"two parameters": [(", shared_bytes)", ")")]},
    "what it tests does not change": {
        "a loop without end": [
            (FIRST, "    warps = 0\n    while warps * 32 != threads + 1:\n        warps = 0\n")]},
    "NumPy's `minimum` is not known to the check; its `ceil` is": {
        "lists of NumPy": [("def ", "import numpy as np\n\n\ndef "), ("min(64", "np.minimum(64")]},
    "This counts block slots alone. Four resources can run out.": {
        "block slots alone": [(RESULT, "32")]},
    "The bytes of a block are rounded up before the 1,024 bytes are added.": {
        "a unit more for every block": [(OF_BLOCK, "shared_bytes + 128 + 1024")]},
}  # fmt: skip
