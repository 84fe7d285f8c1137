"""Submissions to `to_the_gpu_and_back` that ignore the idea of the task."""

from labs.checking.variants import file_beside

LAUNCH = "    kernel[grid, block](on_gpu_a, on_gpu_b, on_gpu_c)\n"
BACK = "    return on_gpu_c.copy_to_host()\n"

CHEAP = {
    "the starter": file_beside(__file__, "starter"),
    "computed on the host, with a launch for show": [
        (BACK, "    on_gpu_c.copy_to_host()\n    return a @ b\n")
    ],
    "computed on the host": [(LAUNCH, ""), (BACK, "    return a @ b\n")],
    "zeros": [(BACK, "    on_gpu_c.copy_to_host()\n    return np.zeros((m, n), np.float32)\n")],
    "managed memory": [("cuda.to_device(a)", "cuda.managed_array(a.shape, np.float32)")],
    "every array both ways": [
        (
            "kernel[grid, block](on_gpu_a, on_gpu_b, on_gpu_c)",
            "on_gpu_c = np.zeros((m, n), np.float32)\n    kernel[grid, block](a, b, on_gpu_c)",
        ),
        (BACK, "    return on_gpu_c\n"),
    ],
}
