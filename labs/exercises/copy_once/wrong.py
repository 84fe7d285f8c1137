"""Wrong answers to `copy_once`: what `check` says, and the changes that earn it."""

from labs.checking.variants import file_beside

A = "    on_gpu_a = cuda.to_device(a)\n"
B = "    on_gpu_b = cuda.to_device(b)\n"
C = "    on_gpu_c = cuda.device_array((m, n), np.float32)\n"
LOOP = "    for _ in range(10):\n"
LAUNCH = "        kernel[grid, block](on_gpu_a, on_gpu_b, on_gpu_c)\n"
BACK = "    return on_gpu_c.copy_to_host()\n"
INTO_C = f"    {C}"
KEPT = "        c = on_gpu_c.copy_to_host()\n"

WRONG = {
    "`a` goes to the device 10 times, 38,400 bytes in place of 3,840": {
        "the starter": file_beside(__file__, "starter"),
        "a in the loop": [(A, ""), (LOOP, f"{LOOP}    {A}")]},
    "`b` goes to the device 10 times": {
        "b in the loop": [(B, ""), (LOOP, f"{LOOP}    {B}")]},
    "`c` comes back to the host 10 times, 153,600 bytes in place of 15,360": {
        "c back in the loop": [(LAUNCH, LAUNCH + KEPT), (BACK, "    return c\n")]},
    "comes back to the host 11 times": {
        "c back in the loop and behind it": [(LAUNCH, LAUNCH + KEPT)]},
    "The kernel is launched 1 time, and the benchmark needs 10 launches": {
        "one launch": [(LOOP + LAUNCH, LAUNCH[4:])],
        "it returns in the loop": [(BACK, f"    {BACK}")]},
    "The kernel is launched 9 times": {"nine launches": [("range(10)", "range(1, 10)")]},
    "The kernel is never launched": {"no launch": [(LOOP + LAUNCH, "")]},
    "Numba copies such an array": {
        "the launch gets a and b": [("(on_gpu_a, on_gpu_b,", "(a, b,")]},
    "nobody reads them there": {
        "c is sent": [(C, "    on_gpu_c = cuda.to_device(np.zeros((m, n), np.float32))\n")]},
    "lies on the device": {"c stays": [(BACK, "    return on_gpu_c\n")]},
    "The function returns `None`": {"no return": [(BACK, "    on_gpu_c.copy_to_host()\n")]},
    "comes back before the kernel is launched": {
        "back before the loop": [
            (LOOP, "    c = on_gpu_c.copy_to_host()\n" + LOOP), (BACK, "    return c\n")]},
    "As float32 it is": {"c of float64": [("(m, n), np.float32)", "(m, n))")]},
    "it does not come from the kernel": {
        "computed on the host": [(BACK, "    on_gpu_c.copy_to_host()\n    return a @ b\n")]},
    "managed or mapped memory": {
        "managed": [("cuda.device_array(", "cuda.managed_array("), (".copy_to_host()", "")]},
    "NameError": {
        "c behind the loop only": [(LAUNCH, LAUNCH + "        on_gpu_c.copy_to_host()\n"),
            (BACK, "    return c\n")]},
}  # fmt: skip
