"""The occupancy calculator, written by the reader and held against the driver's own answers."""

import csv
from random import Random

from labs.numbers import Case, NumbersExercise, Slip
from utils.paths import DATA

ANSWERS = DATA / "measured" / "nvidia_h200" / "occupancy.csv"
WARP_SLOTS, BLOCK_SLOTS, PART, PARTS, SHARED = 64, 32, 16_384, 4, 233_472
THREADS, BLOCKS, REGISTERS, MEMORY = "warp slots", "block slots", "registers", "shared memory"

# Each shows one rule: what is given, what is right, and what decides.
BY_RULE = (
    ((256, 16, 0), 8, "A block has 8 warps, and there are 64 warp slots."),
    ((32, 16, 0), 32, "There are warp slots for 64 such blocks, but only 32 block slots."),
    ((256, 64, 0), 4, "Here the registers run out first: a warp takes 2,048."),
    ((256, 32, 50 * 1024), 4, "Here shared memory runs out first."),
    ((100, 16, 0), 16, "100 threads are 4 warps, the last of them not full."),
    ((1, 16, 0), 32, "One thread takes a whole warp slot."),
    ((256, 40, 0), 6, "A warp takes 1,280 registers."),
    ((256, 41, 0), 5, "A warp gets 1,536 registers: 41 · 32, rounded up."),
    ((96, 104, 0), 5, "A warp takes 3,328 registers, all of them from one part."),
    ((33, 40, 0), 24, "33 threads are 2 warps, and registers are given to whole warps."),
    ((1024, 72, 0), 0, "The registers are too few for the 32 warps of a block: none fits."),
    ((64, 16, 28_800), 7, "With the KiB of the driver a block takes 29,824 bytes."),
    ((64, 16, 32_329), 6, "33,353 bytes are rounded up to 33,408, so 7 blocks do not fit."),
    ((64, 16, 232_448), 1, "With the KiB of the driver this block takes all of shared memory."),
    ((1024, 32, 8192), 2, "Warp slots and registers run out together."),
)


def rooms(
    threads, registers, shared_bytes, *,
    warps=None, unit=256, parts=PARTS, kept=1024, shared_unit=128, of_sm=SHARED,
):  # fmt: skip
    """For how many blocks each resource has room. The keywords are the rules, to be changed."""
    warps = -(-threads // 32) if warps is None else warps(threads)
    of_warp = -(-registers * 32 // unit) * unit
    taken = -(-(shared_bytes + kept) // shared_unit) * shared_unit
    return {
        THREADS: WARP_SLOTS // warps,
        BLOCKS: BLOCK_SLOTS,
        REGISTERS: PARTS * PART // parts // of_warp * parts // warps,
        MEMORY: of_sm // taken if taken else BLOCK_SLOTS,
    }


def without(resource):
    """The formula that does not ask for one resource."""
    return lambda *given: min(room for name, room in rooms(*given).items() if name != resource)


def but(**changes):
    """The formula with other rules."""
    return lambda *given: min(rooms(*given, **changes).values())


def of_result(change):
    """The formula with a further step: change(blocks, threads)."""
    return lambda *given: change(but()(*given), given[0])


def only(resource):
    """The formula that asks for one resource alone."""
    return lambda *given: rooms(*given)[resource]


def other(resource, room):
    """The formula with another room in one resource: room(threads, registers, shared_bytes)."""
    return lambda *given: min((rooms(*given) | {resource: room(*given)}).values())


def cases() -> list[Case]:
    """A case for each rule, then what the driver of an H200 has answered."""
    with ANSWERS.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if not row["carveout"]]
    asked = (
        (
            int(row["threads"]),
            int(row["registers"]),
            int(row["static_bytes"]) + int(row["dynamic_bytes"]),
        )
        for row in rows
    )
    recorded = dict(zip(asked, (int(row["blocks"]) for row in rows), strict=True))
    told = "The driver of an H200 has answered this."
    return [Case(*one) for one in BY_RULE] + [Case(*one, told) for one in recorded.items()]


def draw(random: Random) -> tuple[int, int, int]:
    """A block with no, little or much shared memory, so that each resource decides at times."""
    threads = random.choice((32 * random.randint(1, 32), random.randint(1, 1024)))
    shared_bytes = random.choice((0, random.randint(1, 30_000), random.randint(1, 232_448)))
    registers = random.randint(16, random.choice((32, 64, 128, 255)))
    return threads, registers, shared_bytes


def room_in_each(given, answer) -> str:
    """For how many blocks each resource has room."""
    room = rooms(*given)
    return f"Room for blocks: {', '.join(f'{name} {count}' for name, count in room.items())}."


EXERCISE = NumbersExercise(
    name="resident_blocks",
    lesson="08",
    title="How many blocks an SM holds",
    text=(
        "Write `resident_blocks(threads, registers, shared_bytes)`: how many blocks of so many "
        "threads, with so many registers per thread and so many bytes of shared memory per block, "
        "an SM of an H200 holds at once. It is 0 where not even one fits. About 6 lines.",
        "The four rules are the rows of the table `course.sm_limits()`. Hint 1 has them as "
        "sentences.",
    ),
    parameters=("threads", "registers", "shared_bytes"),
    unit="block",
    promises=("right for one kernel for each rule", "equal to the recorded answers of the driver"),
    cases=cases,
    right=but(),
    draw=draw,
    slips=(
        Slip("Warp slots make no difference to your answers: rule 1.", without(THREADS)),
        Slip("Block slots make no difference to your answers: rule 2.", without(BLOCKS)),
        Slip("Registers make no difference to your answers: rule 3.", without(REGISTERS)),
        Slip("Shared memory makes no difference to your answers: rule 4.", without(MEMORY)),
        *(Slip(f"This counts {name} alone. Four resources can run out.", only(name))
          for name in (THREADS, REGISTERS, MEMORY, BLOCKS)),
        Slip(
            "Warps are rounded down and are at least 1. A last warp that is not full counts, too.",
            but(warps=lambda threads: max(threads // 32, 1)),
        ),
        Slip("A warp more than the block has: a full one is no reason for a further one.",
             but(warps=lambda threads: threads // 32 + 1)),
        Slip("Parts of a warp are counted. A block takes whole warps.",
             but(warps=lambda threads: threads / 32)),
        Slip("You count threads as warps. A warp has 32 threads.", but(warps=lambda t: t)),
        Slip("The SM has 64 warp slots. You count 2,048 threads, and a last warp that is not full "
             "takes a whole slot.", other(THREADS, lambda t, r, s: 2048 // t)),
        Slip("The registers of a warp are not rounded up to a multiple of 256.", but(unit=1)),
        Slip(
            "The registers of a warp are rounded down to a multiple of 256, and not up.",
            other(REGISTERS, lambda t, r, s: 4 * (PART // (r * 32 // 256 * 256)) // -(-t // 32)),
        ),
        Slip("You give registers from one file of 65,536. They lie in 4 parts, and what is left "
             "over in a part is of no use to a warp of another one.", but(parts=1)),
        Slip("Registers are not rounded up, and they come from one file of 65,536 in place of 4 "
             "parts.", but(parts=1, unit=1)),
        Slip("You count one part of the registers, and the SM has four.",
             other(REGISTERS, lambda t, r, s: PART // (-(-r * 32 // 256) * 256) // -(-t // 32))),
        Slip("You count the registers of threads. They are given to whole warps, also where the "
             "last is not full.", other(REGISTERS, lambda t, r, s: 4 * PART // (t * r))),
        Slip("The registers of a block are rounded up. Each warp's are, and they come from the 4 "
             "parts.", other(REGISTERS, lambda t, r, s: 4 * PART // (-(-t * r // 256) * 256))),
        Slip("You fill each part with whole blocks. The warps of one block may lie in several "
             "parts.", other(REGISTERS, lambda t, r, s: 4 * (
                 PART // (-(-r * 32 // 256) * 256) // -(-t // 32)))),
        Slip("The registers have room for so many warps, and a block has several: divide by them.",
             other(REGISTERS, lambda t, r, s: 4 * (PART // (-(-r * 32 // 256) * 256)))),
        Slip("The 1,024 bytes of the driver are missing.", but(kept=0)),
        Slip("The bytes of a block are not rounded up to a multiple of 128.", but(shared_unit=1)),
        Slip("The bytes of a block are rounded up before the 1,024 bytes are added.",
             other(MEMORY, lambda t, r, s: SHARED // (s + 1024 + 128))),
        Slip("The bytes of a block are rounded down to a multiple of 128, and not up.",
             other(MEMORY, lambda t, r, s: SHARED // ((s + 1024) // 128 * 128))),
        Slip("The driver takes 1,024 bytes of each block's, and not once of the SM's.",
             other(MEMORY, lambda t, r, s: (SHARED - 1024) // (-(-s // 128) * 128) if s else 32)),
        Slip("You count 232,448 bytes. So many can one block have; the SM has 233,472.",
             but(of_sm=232_448)),
        Slip("`shared_bytes` is for a whole block, and you multiply it by the threads.",
             other(MEMORY, lambda t, r, s: SHARED // (-(-(s * t + 1024) // 128) * 128))),
        Slip("You take the largest room. The resource that runs out first decides.",
             lambda *given: max(rooms(*given).values())),
        Slip("You add the rooms. The resource that runs out first decides.",
             lambda *given: sum(rooms(*given).values())),
        Slip("These are warps, and blocks are asked for.",
             of_result(lambda blocks, threads: blocks * -(-threads // 32))),
        Slip("These are threads, and blocks are asked for.",
             of_result(lambda blocks, threads: blocks * threads)),
        Slip("This is the occupancy, and blocks are asked for.",
             of_result(lambda blocks, threads: blocks * -(-threads // 32) / WARP_SLOTS)),
        Slip("This is the occupancy in percent, and blocks are asked for.",
             of_result(lambda blocks, threads: 100 * blocks * -(-threads // 32) / WARP_SLOTS)),
        Slip("This is never less than 1. Where a block does not fit, 0 is right.",
             of_result(lambda blocks, threads: max(blocks, 1))),
        Slip("This is for all 132 SMs, and one SM is asked for.",
             of_result(lambda blocks, threads: 132 * blocks)),
    ),
    beside=room_in_each,
    hints=(
        "(1) A block takes whole warps, of 32 threads; the SM has 64 warp slots. (2) It has 32 "
        "block slots. (3) A warp takes 32 · `registers` registers, rounded up to a multiple of "
        "256. The registers lie in 4 equal parts of 16,384, and a warp takes all of its own from "
        "one part. (4) A block takes `shared_bytes` and 1,024 bytes for the driver, together "
        "rounded up to a multiple of 128; the SM has 233,472 bytes.",
        "Work out one case by hand, as in the picture: what does one block take of each resource, "
        "and how often does that go into what the SM has? The smallest of the four numbers is the "
        "answer: `min(...)`.",
        "Python rounds a division down with `//`. To round up to a multiple: `math.ceil(x / unit) "
        "* unit`, or without `math` `-(-x // unit) * unit`.",
        "Registers: first the warps that one part has room for, then those of all 4 parts, and "
        "only then the blocks. Each of these steps rounds down.",
    ),
    after="You have written an occupancy calculator, and it agrees with the driver.",
)  # fmt: skip
