"""Other right answers to `wavefronts`: changes of the solution that `check` accepts."""

COUNTED = """def wavefronts(side, stride_x, stride_y):
    words = [l % side * stride_x + l // side * stride_y for l in range(32)]
    most = 1
    for bank in range(32):
        here = 0
        for at, word in enumerate(words):
            if word % 32 == bank and words.index(word) == at:
                here += 1
        if here > most:
            most = here
    return most
"""

SORTED = """def wavefronts(side, stride_x, stride_y):
    words = sorted(lane % side * stride_x + lane // side * stride_y for lane in range(32))
    different = [w for at, w in enumerate(words) if at == 0 or words[at - 1] != w]
    banks = [w % 32 for w in different]
    return max(banks.count(bank) for bank in banks)
"""

TWO_LOOPS = """def wavefronts(side, stride_x, stride_y):
    words = {}
    for ty in range(32 // side):
        for tx in range(side):
            words[tx * stride_x + ty * stride_y] = True
    most = 0
    for bank in range(32):
        most = max(most, len([word for word in words if word % 32 == bank]))
    return most
"""

DICTIONARY = """def wavefronts(side, stride_x, stride_y):
    banks = {}
    for lane in range(32):
        word = (lane // side) * stride_y + (lane % side) * stride_x
        found = banks.get(word % 32, {})
        found[word] = lane
        banks[word % 32] = found
    return max(len(found) for found in banks.values())
"""
RIGHT = {"counted": COUNTED, "sorted": SORTED, "loops": TWO_LOOPS, "dictionary": DICTIONARY}

HARMLESS = {
    "size_one_less in `most = max(most, sum(1 for word in words if word % 32 == bank))`": (
        "where a block has 4 columns or more, bank 31 never has the most words alone"
    ),
    "other_operator in `word = lane % side * stride_x + lane // side * stride_y`": (
        "a warp is its own mirror image, so a minus counts the same"
    ),
    "constant_one_less in `for bank in range(32):`": (
        "where a block has 4 columns or more, bank 31 never has the most words alone"
    ),
    "constant_one_more in `for bank in range(32):`": "no bank has number 32",
    "constant_one_more in `most = 0`": "the most is 1 at least",
    "constant_one_less in `most = 0`": "the most is 1 at least",
}
