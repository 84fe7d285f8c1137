"""Other right answers to `best_block`: changes of the solution that `check` accepts."""

from labs.checking.variants import file_beside
from labs.exercises.best_block.wrong import SIZES

HEAD = file_beside(__file__, "solution").partition("    best, most = 0, 0\n")[0]

BY_MAX = HEAD + """    sizes = [threads for threads in range(1024, 0, -32)]
    return max(sizes, key=lambda t: t * resident_blocks(t, registers, bytes_per_thread * t))
"""

DOWNWARDS = HEAD + """    best, most, threads = 0, -1, 1024
    while threads > 0:
        blocks = resident_blocks(threads, registers, shared_bytes=threads * bytes_per_thread)
        resident = threads * blocks
        if resident > most:
            best = threads
            most = resident
        threads -= 32
    return best
"""

PAIRS = HEAD + """    pairs = []
    pairs = [
        (t * resident_blocks(t, registers, t * bytes_per_thread), t) for t in range(32, 1025, 32)
    ]
    return max(pairs)[1]
"""
RIGHT = {
    "max": BY_MAX,
    "downwards": DOWNWARDS,
    "pairs": PAIRS,
    "sizes counted in warps": [
        (SIZES, "range(1, 33)"),
        ("for threads in", "for warps in"),
        ("        blocks = ", "        threads = 32 * warps\n        blocks = "),
    ],
}

HARMLESS = {
    "constant_one_more in `warps = -(-threads // 32)`": "sizes are multiples of 32",
    "constant_one_more in `best, most = 0, 0`": "any first values are replaced",
    "constant_one_less in `best, most = 0, 0`": "any first values are replaced",
    "names_exchanged in `best, most = 0, 0`": "both are 0",
    "constant_one_more in `for threads in range(32, 1024 + 1, 32):`": "1056 is not reached either",
    "size_one_less in `if blocks * threads >= most:`": "these are multiples of 32",
    # Slips in the function that is called are those of `resident_blocks`, whose cases show more.
    **{
        f"constant_one_{way} in `{line}": "changes no best block of these cases"
        for way in ("more", "less")
        for line in ("registers_of_warp", "bytes_of_block", "return min(64")
    },
    "constant_one_more in `warps_by_registers": "16,385 is no multiple of a warp's registers",
}
