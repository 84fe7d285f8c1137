"""Other right answers to `copy_once`: changes of the solution that `check` accepts."""

from labs.exercises.copy_once.wrong import BACK, INTO_C, LAUNCH, LOOP, A, B, C

RIGHT = {
    "c has a name": [(BACK, "    c = on_gpu_c.copy_to_host()\n    return c\n")],
    "memory for each product": [(C, ""), (LOOP, LOOP + INTO_C)],
    "a list": [(A + B, "    on_gpu_a, on_gpu_b = [cuda.to_device(one) for one in (a, b)]\n")],
    "a loop with while": [
        (LOOP, "    done = 0\n    while done < 10:\n"),
        (LAUNCH, LAUNCH + "        done += 1\n")],
    "a wait for each launch": [(LAUNCH, LAUNCH + "        cuda.synchronize()\n")],
    "the last launch behind the loop": [
        ("range(10)", "range(9)"),
        (BACK, "    kernel[grid, block](on_gpu_a, on_gpu_b, on_gpu_c)\n" + BACK)],
    "into an array of the host": [
        (BACK, "    c = np.empty((m, n), np.float32)\n"
               "    on_gpu_c.copy_to_host(c)\n    return c\n")],
}  # fmt: skip

HARMLESS = {
    "constant_one_more in `block = 32, 8": "blocks of 33 threads along x are right, too",
    "constant_one_less in `block = 32, 8": "blocks of 31 threads along x are right, too",
}
