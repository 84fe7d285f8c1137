"""Wrong answers to `to_the_gpu_and_back`: what `check` says, and the changes that earn it."""

A = "    on_gpu_a = cuda.to_device(a)\n"
B = "    on_gpu_b = cuda.to_device(b)\n"
C = "    on_gpu_c = cuda.device_array((m, n), np.float32)\n"
LAUNCH = "    kernel[grid, block](on_gpu_a, on_gpu_b, on_gpu_c)\n"
BACK = "    return on_gpu_c.copy_to_host()\n"
GRID = "    grid = -(-n // 32), -(-m // 8)  # blocks: -(-n // 32) is n / 32, rounded up\n"
ON_HOST = "    c = np.zeros((m, n), np.float32)\n"

WRONG = {
    "never launched": {
        "nothing": [(A + B + C + LAUNCH + BACK, "    pass\n")],
        "on the CPU": [(A + B + C + LAUNCH + BACK, "    return a @ b\n")]},
    "kernel[grid, block](a, b, c)": {
        "all in the launch": [(A + B + C, ON_HOST), ("on_gpu_a, on_gpu_b, on_gpu_c", "a, b, c"),
            (BACK, "    return c\n")]},
    "4 copies": {
        "a in the launch": [(A, ""), ("(on_gpu_a,", "(a,")],
        "b in the launch": [(B, ""), ("on_gpu_b,", "b,")]},
    "4 copies with 40,960 bytes": {
        "c in the launch": [(C, ON_HOST), (", on_gpu_c)", ", c)"), (BACK, "    return c\n")]},
    "Line 14, `kernel[grid, block](a, b, on_gpu_c)`: `a` and `b` are in the memory of the host "
    "here. Numba copies such an array to the device before the launch and back to the host after "
    "it: `a` and `b` come back, and the host has them already. `on_gpu_a` and `on_gpu_b`, on the "
    "device, are not used: the launch gets `a` and `b`. In all 7 copies with 46,080 bytes; 3 "
    "copies with 25,600 bytes are needed.": {
        "copies that the launch does not get": [("(on_gpu_a, on_gpu_b,", "(a, b,")]},
    "Line 14, `kernel[grid, block](a, on_gpu_b, on_gpu_c)`: `a` is in the memory of the host here. "
    "Numba copies such an array to the device before the launch and back to the host after it: `a` "
    "comes back, and the host has it already. `on_gpu_a`, on the device, is not used: the launch "
    "gets `a`. In all 5 copies with 33,280 bytes; 3 copies with 25,600 bytes are needed.": {
        "one copy that the launch does not get": [("(on_gpu_a,", "(a,")]},
    "8 copies": {
        "copies that are not kept": [
            (A + B + C, f"    cuda.to_device(a)\n    cuda.to_device(b)\n{ON_HOST}"),
            ("on_gpu_a, on_gpu_b, on_gpu_c", "a, b, c"), (BACK, "    return c\n")]},
    "Line 15 raises AttributeError": {
        "copy_to_host of NumPy's array": [
            (A + B + C, f"    cuda.to_device(a)\n    cuda.to_device(b)\n{ON_HOST}"),
            ("on_gpu_a, on_gpu_b, on_gpu_c", "a, b, c"), (BACK, "    return c.copy_to_host()\n")]},
    "the kernel stores every element": {
        "zeros sent to the device": [
            (C, "    on_gpu_c = cuda.to_device(np.zeros((m, n), np.float32))\n")]},
    "Line 13, `on_gpu_c = cuda.to_device(np.empty((m, n), np.float32))`: `c` goes to the device, "
    "15,360 bytes, and nobody reads them there: the kernel stores every element of `c`. In all 4 "
    "copies with 40,960 bytes; 3 copies with 25,600 bytes are needed.": {
        "uninitialised c sent to the device": [
            (C, "    on_gpu_c = cuda.to_device(np.empty((m, n), np.float32))\n")]},
    "Line 14, `on_gpu_c[:] = np.zeros((m, n), np.float32)`: `c` goes to the device, 15,360 bytes, "
    "and nobody reads them there: the kernel stores every element of `c`. In all 4 copies with "
    "40,960 bytes; 3 copies with 25,600 bytes are needed.": {
        "c filled from the host": [(C, f"{C}    on_gpu_c[:] = np.zeros((m, n), np.float32)\n")]},
    "one element goes to the device": {"c filled by a number": [(C, f"{C}    on_gpu_c[:] = 0\n")]},
    "on_gpu_a.copy_to_host(a)": {"a comes back": [(BACK, f"    on_gpu_a.copy_to_host(a)\n{BACK}")]},
    "5 copies": {
        "all come back": [
            (BACK, f"    on_gpu_a.copy_to_host()\n    on_gpu_b.copy_to_host()\n{BACK}")]},
    "Lines 12 and 13": {"b twice": [(B, B + B)]},
    "30,720 bytes in place of 15,360": {
        "c back twice": [(BACK, f"    on_gpu_c.copy_to_host()\n{BACK}")]},
    "one element comes back to the host, 4 bytes": {
        "c as an array and by its elements": [(BACK, f"    print(on_gpu_c[0, 0])\n{BACK}")]},
    "an array of shape 20 goes to the device, 48 times 80 bytes": {
        "a row by row": [(A, "    on_gpu_a = cuda.device_array((m, a.shape[1]), np.float32)\n"
             "    for i in range(m):\n        on_gpu_a[i].copy_to_device(a[i])\n")]},
    "lies on the device": {"forgets copy_to_host": [(BACK, "    return on_gpu_c\n")]},
    "return": {"no return": [(BACK, "    on_gpu_c.copy_to_host()\n")]},
    "returns a tuple": {
        "returns all": [(BACK, "    return on_gpu_a, on_gpu_b, on_gpu_c.copy_to_host()\n")]},
    "the result has the shape 48×20": {
        "returns a": [(BACK, "    on_gpu_c.copy_to_host()\n    return a\n")]},
    "Every element of the result is 0": {
        "returns an old c": [(C, ON_HOST + C),
            (BACK, "    on_gpu_c.copy_to_host()\n    return c\n")]},
    "As float32 it is 15,360 bytes": {"c of float64": [("(m, n), np.float32)", "(m, n))")]},
    "3,840 bytes": {"a as float64": [("to_device(a)", "to_device(a.astype(np.float64))")]},
    "The kernel gets `c` as float16: 7,680 bytes in memory and on the bus. As float32 it is 15,360 "
    "bytes.": {"c as half": [("np.float32", "np.float16")]},
    "The result is float64": {
        "result as float64": [(BACK, "    return on_gpu_c.copy_to_host().astype(np.float64)\n")]},
    "comes back before the kernel is launched": {
        "back before the launch": [
            (LAUNCH + BACK, f"    c = on_gpu_c.copy_to_host()\n{LAUNCH}    return c\n")]},
    "Line 15, `on_gpu_a.copy_to_device(a)`: `a` goes to the device after the kernel has run.": {
        "there after the launch": [
            (A, "    on_gpu_a = cuda.device_array((m, a.shape[1]), np.float32)\n"),
            (LAUNCH, f"{LAUNCH}    on_gpu_a.copy_to_device(a)\n")]},
    "`a` never goes to the device: the kernel gets memory for it that nobody has filled.": {
        "never there": [(A, "    on_gpu_a = cuda.device_array((m, a.shape[1]), np.float32)\n")],
        "a only as memory": [("cuda.to_device(a)", "cuda.device_array_like(a)")]},
    "64 threads wide and 48 high": {"rounded down": [("-(-n // 32)", "n // 32")]},
    "192 threads wide and 24 high": {
        "exchanged grid": [(GRID, "    grid = -(-m // 8), -(-n // 32)\n")]},
    "32×8 blocks of 3×6 threads": {
        "grid and block exchanged": [("kernel[grid, block]", "kernel[block, grid]")]},
    "32 threads wide and 8 high": {"one block": [(GRID, "    grid = 1, 1\n")]},
    "3,200 threads wide and 8 high": {"one dimension": [(GRID, "    grid = 100\n")]},
    "the kernel gets arrays of 20×80, 48×20 and 48×80": {
        "exchanged arrays": [("(on_gpu_a, on_gpu_b,", "(on_gpu_b, on_gpu_a,")]},
    "the kernel gets arrays of 48×80": {
        "c first": [("(on_gpu_a, on_gpu_b, on_gpu_c)", "(on_gpu_c, on_gpu_a, on_gpu_b)")]},
    "20×80 and 80×48": {"c transposed": [("(m, n), np", "(n, m), np")]},
    "launched with 2 arguments": {"two arguments": [(", on_gpu_c)", ")")]},
    "kernel[grid, block]": {"no brackets": [("kernel[grid, block]", "kernel")]},
    "raises AttributeError": {"no such method": [(".copy_to_host", ".to_host")]},
    "NameError": {"copies of no array": [("to_device(a)", "to_device(A)")]},
    "launched 2 times": {"two launches": [(LAUNCH, LAUNCH + LAUNCH)]},
    "launched 48 times": {
        "a launch for each row": [(LAUNCH, f"    for i in range(m):\n    {LAUNCH}")]},
    "`c` lies in managed or mapped memory: the host and the GPU use the same array, and no copy "
    "stands in the code. This task is about the copies.": {
        "managed": [("cuda.device_array(", "cuda.managed_array("), (".copy_to_host()", "")]},
    "share": {"mapped": [(A, "    with cuda.mapped(a) as on_gpu_a:\n        pass\n")]},
    "second result is that of the first call": {
        "kept from the first call": [("def to_the", "kept = {}\n\n\ndef to_the"), (A + B,
             "    if (m, n) not in kept:\n"
             "        kept[m, n] = cuda.to_device(a), cuda.to_device(b)\n"
             "    on_gpu_a, on_gpu_b = kept[m, n]\n")]},
    "3,810 of 3,840 elements are wrong": {
        "result halved": [(BACK, "    return on_gpu_c.copy_to_host() / np.float32(2)\n")]},
}  # fmt: skip
