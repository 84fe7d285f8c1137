"""The right answers of `device_occupancy`."""

from random import Random

from labs.numbers.exercise import Case

# Blocks of the launch, resident blocks of an SM, threads of a block, threads of an SM, SMs.
CASES = (
    ((100_000, 6, 256, 2048, 132), "Each SM holds 6 · 256 of 2,048 threads, and there is work for "
     "all of them."),
    ((16, 8, 256, 2048, 132), "The launch has 16 blocks, and the device would hold 8 · 132."),
    ((1056, 8, 256, 2048, 132), "8 · 132 blocks are exactly as many as the device holds."),
    ((1055, 8, 256, 2048, 132), "One block less than the device holds."),
    ((1057, 8, 256, 2048, 132), "One block more than the device holds: it waits for its turn."),
    ((1, 8, 256, 2048, 132), "One block is on one SM, and all others are empty."),
    ((132, 1, 1024, 2048, 132), "Each SM holds one block of 1,024 threads."),
    ((16_384, 2, 1024, 2048, 132), "Two blocks of 1,024 threads fill an SM."),
    ((100, 16, 64, 2048, 13), "The launch has 100 blocks, and the device would hold 16 · 13."),
    ((10_000, 16, 64, 2048, 13), "16 blocks of 64 threads fill half of an SM."),
    ((5_000, 5, 96, 1536, 28), "Each SM holds 480 of 1,536 threads."),
    ((70, 3, 192, 1024, 40), "70 blocks on 40 SMs: some have two, and some have one."),
    ((1_000, 2, 1000, 2048, 100), "The formula counts threads: 2,000 of 2,048."),
    ((1_000, 0, 1024, 2048, 132), "Not even one block fits into an SM."),
)  # fmt: skip


def draw(random: Random) -> tuple[int, int, int, int, int]:
    """Return random arguments of `right`: (blocks, resident, threads, threads_per_sm, sms).

    About half of the launches fill the device, and the others do not.
    """
    threads, threads_per_sm = 32 * random.randint(1, 32), random.choice((1024, 1536, 2048))
    sms, resident = random.randint(8, 160), random.randint(0, threads_per_sm // threads)
    blocks = random.randint(1, 2 * sms * max(1, resident))
    return blocks, resident, threads, threads_per_sm, sms


def on_device(blocks: int, resident: int, sms: int) -> int:
    """Return the number of blocks that are on the device at once.

    blocks: of the launch. resident: the most blocks per SM. sms: the number of SMs.
    """
    return min(blocks, resident * sms)


def right(blocks, resident, threads, threads_per_sm, sms):
    """Return the resident threads as a fraction of the threads for which the device has room.

    blocks: of the launch. resident: the most blocks per SM. threads: per block. threads_per_sm: the
    most threads per SM. sms: the number of SMs.
    """
    return on_device(blocks, resident, sms) * threads / (threads_per_sm * sms)


def cases() -> list[Case]:
    """Return a Case per entry of CASES, in order.

    Its facts are a dict of the numbers "blocks", "threads" and "room": the blocks and the threads
    that are on the device at once, and the threads for which it has room.
    """
    return [Case(given, right(*given), why, brackets(*given)) for given, why in CASES]


def brackets(blocks: int, resident: int, threads: int, threads_per_sm: int, sms: int) -> dict:
    """Return a dict of three whole numbers: "blocks", "threads" and "room".

    These are the blocks and the threads that are on the device at once, and the threads for which
    it has room. blocks: of the launch. resident: the most blocks per SM. threads: per block.
    threads_per_sm: the most threads per SM. sms: the number of SMs.
    """
    count = on_device(blocks, resident, sms)
    return {"blocks": count, "threads": count * threads, "room": threads_per_sm * sms}


def branch(blocks: int, resident: int, threads: int, threads_per_sm: int, sms: int) -> bool:
    """Return True if the launch fills the device. threads, threads_per_sm: not used."""
    return blocks >= resident * sms
