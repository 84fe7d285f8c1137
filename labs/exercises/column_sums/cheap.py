"""Submissions to `column_sums` that ignore the idea of the task."""

from labs.checking.variants import file_beside

GUARD = "    col = cuda.grid(1)\n    if col < x.shape[1]:\n"
SUM = """\
        total = float32(0)
        for row in range(x.shape[0]):
            total += x[row, col]
        out[col] = total
"""
LOOP = "    t = cuda.grid(1)\n    if {}:\n        for col in range({}):\n"
DEEPER = "".join(f"    {line}\n" for line in SUM.splitlines())

CHEAP = {
    "the starter": file_beside(__file__, "starter"),
    "one thread of the grid does everything": [
        (GUARD + SUM, LOOP.format("t == 0", "x.shape[1]") + DEEPER)],
    "one lane of each warp does the work of all": [
        (GUARD + SUM, LOOP.format("t % 32 == 0", "t, min(t + 32, x.shape[1])") + DEEPER)],
    "one block does everything": [
        (GUARD + SUM, LOOP.format("t < 256", "t, x.shape[1], 256") + DEEPER)],
    "every thread does everything": [
        (GUARD + SUM, LOOP.format("True", "x.shape[1]") + DEEPER)],
    "sums of integers": [
        ("total = float32(0)", "total = 0"), ("+= x[row, col]", "+= int(x[row, col])")],
    "only sizes that fit": [("col < x.shape[1]", "x.shape[1] % 256 == 0")],
}  # fmt: skip
