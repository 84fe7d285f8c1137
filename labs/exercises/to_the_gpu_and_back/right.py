"""Other right answers to `to_the_gpu_and_back`: changes of the solution that `check` accepts."""

from labs.exercises.to_the_gpu_and_back.wrong import BACK, GRID, LAUNCH, ON_HOST, A, B, C

# Other ways that are as good.
RIGHT = {
    "like another array": [(C, "    c = np.empty((m, n), np.float32)\n"
                               "    on_gpu_c = cuda.device_array_like(c)\n")],
    "into an array of the host": [(BACK, f"{ON_HOST}    on_gpu_c.copy_to_host(c)\n    return c\n")],
    "by np.asarray": [(BACK, "    return np.asarray(on_gpu_c)\n")],
    "with a needless wait": [(LAUNCH, f"{LAUNCH}    cuda.synchronize()\n")],
    "into memory that is there": [
        (A, "    on_gpu_a = cuda.device_array((m, a.shape[1]), np.float32)\n"
            "    on_gpu_a.copy_to_device(a)\n")],
    "hints in the launch": [
        (A + B + C, ON_HOST),
        ("on_gpu_a, on_gpu_b, on_gpu_c", "cuda.In(a), cuda.In(b), cuda.Out(c)"),
        (BACK, "    return c\n")],
    "other blocks": [("block = 32, 8", "block = 16, 16"),
                     (GRID, "    grid = -(-n // 16), -(-m // 16)\n")],
    "one line": [(A + B, "    on_gpu_a, on_gpu_b = map(cuda.to_device, (a, b))\n")],
    "pinned": [(BACK, "    c = cuda.pinned_array((m, n), np.float32)\n"
                      "    return on_gpu_c.copy_to_host(c)\n")],
    "in a stream": [("[grid, block]", "[grid, block, cuda.stream()]")],
}  # fmt: skip

HARMLESS = {
    "constant_one_more in `block = 32, 8": "more threads than are needed",
    "constant_one_less in `grid = ": "more blocks than are needed",
}
