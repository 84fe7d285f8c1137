"""Other right answers to `shuffles`: changes of the solution that `check` accepts."""

from labs.exercises.shuffles.wrong import ADD, LOOP, SECOND, first_loop, second

# Each lane adds what the lane below it holds; lanes without one keep what they have.
UP = "total += cuda.shfl_up_sync(0xFFFFFFFF, total, distance) * (cuda.laneid >= distance)"

HARMLESS = {
    "constant_one_more in `distance = 16`": "the second one: lanes 8 to 31 hold zeros",
    "constant_one_less in `of_warps[tid // 32] = total`": "224 // 31 is 7, too",
    "guard_dropped in `if tid < 32:`": "the other warps add zeros, and only thread 0 stores",
}

RIGHT = {
    "xor": [("shfl_down_sync", "shfl_xor_sync")],
    "ascending": first_loop(
        f"    distance = 1\n    while distance < 32:\n        {ADD}\n        distance *= 2\n"
    ),
    "by a range": first_loop(
        f"    for step in range(5):\n        {ADD}\n".replace("distance", "16 >> step")
    ),
    "written out": first_loop(
        "".join(f"    {ADD}\n".replace("distance", str(d)) for d in (16, 8, 4, 2, 1))
    ),
    "three shuffles in the second": second(SECOND.replace("16", "4")),
    "eight lanes with their mask, by xor": second(
        SECOND.replace("tid < 32", "tid < WARPS")
        .replace("0xFFFFFFFF", "0xFF")
        .replace("16", "4")
        .replace("down", "xor")
    ),
    "thread 0 adds the words": second(
        "    if tid == 0:\n        total = float32(0)\n        for warp in range(WARPS):\n"
        "            total += of_warps[warp]\n        partials[cuda.blockIdx.x] = total\n"
    ),
    "every warp adds, thread 0 stores": second(
        "    total = of_warps[tid % 32] if tid % 32 < WARPS else float32(0)\n"
        f"{LOOP}    if tid == 0:\n        partials[cuda.blockIdx.x] = total\n"
    ),
    "warp 7 adds": second(
        SECOND.replace("tid < 32", "tid >= 224")
        .replace("of_warps[tid] if tid < WARPS", "of_warps[tid - 224] if tid - 224 < WARPS")
        .replace("tid == 0", "tid == 224")
    ),
    "minus one as the mask": [("0xFFFFFFFF", "-1")],
    "the number of the lane": [("tid % 32", "cuda.laneid")],
    "upwards, and the last lane stores": [
        ("shfl_down_sync", "shfl_up_sync"),
        ("total += cuda.shfl_up_sync(0xFFFFFFFF, total, distance)", UP),
        ("tid % 32 == 0", "tid % 32 == 31"),
        ("tid == 0", "tid == 31"),
    ],
}
