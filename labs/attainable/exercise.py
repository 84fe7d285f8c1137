"""The roofline as a function: what a product in tiles reaches at most."""

from random import Random

from labs.numbers import Case, NumbersExercise, Slip

# Tiles, peak in GFLOP/s, bandwidth in GB/s.
CASES = (
    ((32, 32, 60_000, 4_000), 32_000, "A block makes 8 operations for each byte."),
    ((128, 128, 60_000, 1_000), 32_000, "A block makes 32 operations for each byte."),
    ((32, 32, 20_000, 4_000), 20_000, "By its bytes it could reach 32,000, and the peak is less."),
    ((64, 128, 100_000, 3_000), 64_000, "8,192 multiply-adds for 192 words: the sides differ."),
    ((32, 8, 60_000, 5_000), 16_000, "256 multiply-adds for 40 words: 3.2 operations a byte."),
    ((1, 1, 60_000, 4_000), 1_000, "One multiply-add for two words: a quarter of an operation."),
    ((16, 48, 60_000, 200), 1_200, "768 multiply-adds for 64 words: 6 operations a byte."),
    ((96, 128, 150_000, 7_000), 150_000, "By its bytes it could reach 192,000."),
    ((32, 32, 32_000, 4_000), 32_000, "This is the ridge: both ceilings are the same."),
)


def by_bytes(BM, BN, bandwidth, operations=2, size=4):
    """What the bytes allow. The keywords are the rules, to be changed."""
    return operations * BM * BN / (size * (BM + BN)) * bandwidth


def but(**changes):
    """The formula with other rules."""
    return lambda BM, BN, peak, bandwidth: min(peak, by_bytes(BM, BN, bandwidth, **changes))


def with_intensity(intensity):
    """The formula with another intensity: intensity(BM, BN)."""
    return lambda BM, BN, peak, bandwidth: min(peak, intensity(BM, BN) * bandwidth)


def both_at_once(BM, BN, peak, bandwidth):
    """The right answer, for formulas that change it as a whole."""
    return min(peak, by_bytes(BM, BN, bandwidth))


def draw(random: Random) -> tuple[int, int, int, int]:
    """Sides of a tile, a peak in GFLOP/s and a bandwidth in GB/s, on both sides of the ridge."""
    sides = random.randint(1, 256), random.randint(1, 256)
    return *sides, random.randint(5_000, 150_000), random.randint(200, 10_000)


def operations_behind(given, answer):
    """What a wrong answer says of the operations for a byte."""
    *_, peak, bandwidth = given
    if answer == peak:
        return "Your answer is the peak, so you allow more operations for a byte."
    return f"Your answer divided by the bandwidth is {answer / bandwidth:.3g}."


EXERCISE = NumbersExercise(
    name="attainable",
    lesson="21",
    title="What the roofline allows",
    text=(
        "Write `attainable(BM, BN, peak, bandwidth)`: how many GFLOP/s a float32 product can reach "
        "at most, where each block computes BM×BN elements of c. `peak` is in GFLOP/s, `bandwidth` "
        "in GB/s. About 4 lines.",
        "For each k a block reads BM words of `a` and BN words of `b` through that memory, each "
        "once. What it stores at the end is left out.",
    ),
    parameters=("BM", "BN", "peak", "bandwidth"),
    unit="",
    whole=False,
    beside=operations_behind,
    promises=("right left of the ridge and right of it", "right for tiles that are not square"),
    cases=lambda: [Case(*one) for one in CASES],
    right=both_at_once,
    draw=draw,
    # Formulas that are equal share a sentence.
    slips=(
        Slip("The roof is missing: no kernel is faster than the peak.",
             lambda BM, BN, peak, bandwidth: by_bytes(BM, BN, bandwidth)),
        Slip("This is the peak alone, in all cases. Where bytes are the limit, it cannot be "
             "reached. Is your other ceiling in GFLOP/s, too?",
             lambda BM, BN, peak, bandwidth: peak),
        Slip("You take the higher one of two ceilings. The lower one is the limit.",
             lambda BM, BN, peak, bandwidth: max(peak, by_bytes(BM, BN, bandwidth))),
        Slip("You add the two ceilings. The lower one alone is the limit.",
             lambda BM, BN, peak, bandwidth: peak + by_bytes(BM, BN, bandwidth)),
        Slip("Your bytes allow half of what is right. A multiply-add is two operations, and a "
             "float32 has 4 bytes.", but(operations=1)),
        Slip("You count words, and `bandwidth` is in bytes: a float32 has 4.", but(size=1)),
        Slip("Your bytes allow twice what is right. A multiply-add is two operations, and a "
             "float32 has 4 bytes.", but(size=2)),
        Slip("With your formula a byte serves half an operation, whatever the tile is. For one k a "
             "block reads BM + BN words, and makes BM · BN multiply-adds of them.",
             with_intensity(lambda BM, BN: 0.5)),
        Slip("With your formula a byte serves a sixth of an operation, whatever the tile is. For "
             "one k a block reads BM + BN words, and not three for each element.",
             with_intensity(lambda BM, BN: 1 / 6)),
        Slip("With your formula a byte serves a quarter of an operation, whatever the tile is. A "
             "block reads a word of `a` once for all its BN columns, and one of `b` once for all "
             "its BM rows.", with_intensity(lambda BM, BN: 1 / 4)),
        *(Slip("A side divided by 6 is the intensity of whole matrices, with 12·n² bytes. A block "
               "reads BM + BN words for one k.", with_intensity(side))
          for side in (lambda BM, BN: BM / 6, lambda BM, BN: BN / 6)),
        Slip("You count a store of c for every k. What a block stores at the end is left out.",
             with_intensity(lambda BM, BN: BM * BN / (2 * (BM + BN + BM * BN)))),
        Slip("Your bytes are 4 · BM + BN: only BM is multiplied by 4. Brackets are missing.",
             with_intensity(lambda BM, BN: 2 * BM * BN / (4 * BM + BN))),
        Slip("Python divides by 4 and then multiplies by BM + BN. Put the bytes into brackets.",
             with_intensity(lambda BM, BN: 2 * BM * BN / 4 * (BM + BN))),
        Slip("Your bytes allow 8 times what is right. GB/s count bytes, and not bits.",
             but(size=1 / 2)),
        Slip("Your bytes allow an eighth of what is right. A float32 has 32 bits, which are 4 "
             "bytes.", but(size=32)),
        Slip("A GB has 10⁹ bytes here, as a GFLOP has 10⁹ operations: neither needs a factor.",
             but(size=4 * 1e9 / 2**30)),
        Slip("You count the words of `a` alone, and the block reads `b`, too.",
             with_intensity(lambda BM, BN: BN / 2)),
        Slip("You count the words of `b` alone, and the block reads `a`, too.",
             with_intensity(lambda BM, BN: BM / 2)),
        Slip("You take the tile for a square of BM. Its sides may differ.",
             with_intensity(lambda BM, BN: BM / 4)),
        Slip("You take the tile for a square of BN. Its sides may differ.",
             with_intensity(lambda BM, BN: BN / 4)),
        Slip("You have divided the wrong way round. The more operations a byte serves, the more "
             "the kernel may reach.", with_intensity(lambda BM, BN: 2 / BM + 2 / BN)),
        Slip("The intensity is rounded to a whole number.",
             with_intensity(lambda BM, BN: BM * BN // (2 * (BM + BN)))),
        Slip("This is the intensity, and GFLOP/s are asked for.",
             lambda BM, BN, peak, bandwidth: by_bytes(BM, BN, 1)),
        Slip("You compare intensities. GFLOP/s are asked for: compare the two ceilings.",
             lambda BM, BN, peak, bandwidth: min(peak / bandwidth, by_bytes(BM, BN, 1))),
        Slip("You add the times of arithmetic and of bytes. The roofline lets both work at once: "
             "the lower ceiling alone is the limit.",
             lambda BM, BN, peak, bandwidth: 1 / (1 / peak + 1 / by_bytes(BM, BN, bandwidth))),
        Slip("This is in TFLOP/s, and GFLOP/s are asked for.",
             lambda *given: both_at_once(*given) / 1000),
        Slip("This is in FLOP/s, and GFLOP/s are asked for.",
             lambda *given: both_at_once(*given) * 1e9),
        *(Slip(f"You take {rate:,} GB/s in all cases. The bandwidth is given as `bandwidth`.",
               lambda BM, BN, peak, bandwidth, rate=rate: min(peak, by_bytes(BM, BN, rate)))
          for rate in (4_294, 10_231)),
        Slip("You take 65,108 GFLOP/s as the roof in all cases. The peak is given as `peak`.",
             lambda BM, BN, peak, bandwidth: min(65_108, by_bytes(BM, BN, bandwidth))),
        Slip("This is the ridge, where both ceilings meet. Which of them is lower here?",
             lambda BM, BN, peak, bandwidth: peak / bandwidth),
        Slip("This is the bandwidth, in GB/s. How many operations does a byte serve?",
             lambda BM, BN, peak, bandwidth: min(peak, bandwidth)),
        Slip("This is the share of the peak, and GFLOP/s are asked for.",
             lambda BM, BN, peak, bandwidth: min(1, by_bytes(BM, BN, bandwidth) / peak)),
    ),
    hints=(
        "For one k: how many multiply-adds does the block make with BM words of `a` and BN words "
        "of `b`? Each is two operations. And how many bytes are BM + BN words?",
        "Operations divided by bytes are the intensity. Times the bandwidth, they are GFLOP/s.",
        "The lower one of the two ceilings is the limit: `min(...)`.",
    ),
    after="That means: tiles twice as wide and twice as high double what the memory allows.",
)  # fmt: skip
