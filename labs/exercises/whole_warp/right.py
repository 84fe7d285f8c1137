"""Other right answers to `whole_warp`: changes of the solution that `check` accepts."""

from labs.exercises.whole_warp.wrong import GUARD, LOOP, OF_A

HARMLESS = {
    "constant_one_more in `sums = cuda.local.array": "an element more is not used",
    "constant_one_more in `of_a = cuda.local.array": "an element more is not used",
    "constant_one_more in `of_b = cuda.local.array": "an element more is not used",
    "float64 in `sums[i] = float32(0)`": "the local array makes a float32 of it",
}  # fmt: skip

RIGHT = {
    "two tests": [
        (GUARD, "        if y < m:\n            if x < n:\n                c[y, x] = sums[i]\n")],
    "a test that skips": [
        (GUARD, "        if y >= m or x >= n:\n            continue\n        c[y, x] = sums[i]\n")],
    "the shape of c": [("if y < m and x < n:\n", "if y < c.shape[0] and x < c.shape[1]:\n")],
    "a loop with while": [
        (LOOP, "    start = 0\n    while start < k:\n"),
        ("        mma_m16n8k8(sums, of_a, of_b)\n",
         "        mma_m16n8k8(sums, of_a, of_b)\n        start += 8\n")],
    "a branch for the loads": [
        (f"            of_a[i] = {OF_A}\n",
         "            of_a[i] = float16(0.0)\n            if y < m and z < k:\n"
         "                of_a[i] = a[y, z]\n")],
}  # fmt: skip
