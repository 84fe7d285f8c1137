"""A program that prints what the launcher of numba-cuda-mlir gives to the driver for arrays.

``python -m tests.utils.launching.mlir_launcher DRIVER ARRAYS`` launches a kernel by the package's
own dispatcher, once per array. DRIVER is a library with the name libcuda.so.1 and the code of
`DRIVER`, whose functions answer from Python. ARRAYS is JSON: a list of dicts, each the
`__cuda_array_interface__` of an array, whose memory nobody reads. It prints JSON: a list per array,
of the 8-byte words that cuLaunchKernel would read.
"""

import ctypes
import json
import sys
from types import SimpleNamespace

import numpy as np

# The launcher looks up every function of the driver through this one.
DRIVER = """
int (*find)(const char *, void **, int, unsigned long long, int *);
int cuGetProcAddress_v2(const char *n, void **f, int v, unsigned long long o, int *s)
{ return find(n, f, v, o, s); }
"""
POINTER, NUMBER = ctypes.c_void_p, ctypes.c_uint
LAUNCH = ctypes.CFUNCTYPE(ctypes.c_int, POINTER, *[NUMBER] * 7, *[POINTER] * 3)
FIND = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_char_p, POINTER, ctypes.c_int, ctypes.c_uint64, POINTER
)
OTHER = ctypes.CFUNCTYPE(ctypes.c_int, *[POINTER] * 6)
# These functions write a handle to the address of their first argument.
GIVE_HANDLE = ("cuCtxGetCurrent", "cuKernelGetFunction", "cuLibraryGetKernel", "cuLibraryLoadData")
HANDLE = 4242


class Launcher:
    """The driver's functions: they keep in `words` what launches pass, and run nothing.

    words: a list of numbers per launch. passed: the number of words that a launch passes.
    """

    def __init__(self, driver: str) -> None:
        self.words: list[list[int]] = []
        self.passed = 0
        self._functions = [FIND(self._find), LAUNCH(self._launch)]  # ctypes does not keep them
        find = POINTER.in_dll(ctypes.CDLL(driver, ctypes.RTLD_GLOBAL), "find")
        find.value = ctypes.cast(self._functions[0], POINTER).value

    def _find(self, name: bytes, function: int, *ignored) -> int:
        if name == b"cuLaunchKernel":
            found = self._functions[1]
        else:
            gives_handle = name.decode() in GIVE_HANDLE
            found = OTHER(lambda first, *ignored: self._answer(gives_handle, first))
            self._functions.append(found)
        POINTER.from_address(function).value = ctypes.cast(found, POINTER).value
        return 0

    def _answer(self, gives_handle: bool, first: int) -> int:
        if gives_handle:
            POINTER.from_address(first).value = HANDLE
        return 0

    def _launch(self, *arguments) -> int:
        parameters = arguments[9]
        addresses = (POINTER * self.passed).from_address(parameters)
        self.words.append([ctypes.c_uint64.from_address(each).value for each in addresses])
        return 0


def main(driver: str, arrays: str) -> None:
    """Launch a kernel once per array and print the words of each launch as JSON."""
    launcher = Launcher(driver)
    from numba_cuda_mlir import cuda

    from gpu_xray.mlir import standing_in

    @cuda.jit
    def kernel(array, numbers, factor):
        pass

    with standing_in((9, 0)):
        for interface in json.loads(arrays):
            interface["shape"] = tuple(interface["shape"])
            interface["strides"] = tuple(interface["strides"])
            interface["data"] = tuple(interface["data"])
            launcher.passed = 3 + 2 * len(interface["shape"]) + 3
            array = SimpleNamespace(__cuda_array_interface__=interface)
            kernel[1, 1](array, (np.uint32(5), np.uint32(6)), np.float32(1.5))
    print(json.dumps(launcher.words))


if __name__ == "__main__":
    main(*sys.argv[1:])
