"""Host programs, launches and kernels in which one thing is wrong that is no access of memory."""

import math

import numpy as np
from numba import cuda, float32

from . import SILENT, collector

PROGRAMS, planted = collector()


@cuda.jit
def doubled(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = float32(2) * x[i]


@cuda.jit
def added_in_place(x, amount):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += amount


@cuda.jit
def plane(out):
    c, r = cuda.grid(2)
    if r < out.shape[0] and c < out.shape[1]:
        out[r, c] = r * 100 + c


def ones(*shape):
    """Return a device array of float32 ones."""
    return cuda.to_device(np.ones(shape, np.float32))


def new(*shape, dtype=np.float32):
    """Return a device array that is only allocated."""
    return cuda.device_array(shape, dtype)


# --- launches --------------------------------------------------------------------------------


@planted("LaunchError")
def block_of_2048_threads():
    """A block has at most 1024 threads."""
    doubled[1, 2048](ones(2048), new(2048))


@planted("LaunchError")
def block_of_40_by_40_threads():
    """A block has at most 1024 threads."""
    plane[1, (40, 40)](new(40, 40))


@planted("LaunchError")
def tile_of_64_kib():
    """A block has 48 KiB of static shared memory."""

    @cuda.jit
    def kernel(out):
        tile = cuda.shared.array((128, 128), float32)
        tile[cuda.threadIdx.x, 0] = 1
        out[cuda.threadIdx.x] = tile[cuda.threadIdx.x, 0]

    kernel[1, 32](new(32))


@planted("LaunchError")
def one_argument_too_few():
    """The result array is not passed."""
    doubled[1, 64](ones(64))


@planted("LaunchError")
def a_list_as_argument():
    """A kernel takes arrays and numbers."""
    doubled[1, 64]([1.0] * 64, new(64))


@planted("LaunchError")
def every_second_element_of_a_host_array():
    """A host array with gaps cannot be copied as one piece."""
    doubled[1, 64](np.ones(128, np.float32)[::2], new(64))


@planted("LaunchError")
def number_of_blocks_with_a_point():
    """The division gives a float."""
    doubled[256 / 64, 64](ones(256), new(256))


@planted("LaunchError")
def grid_of_no_blocks():
    """The division rounds down to 0."""
    doubled[50 // 64, 64](ones(50), new(50))


@planted("LaunchError")
def none_as_argument():
    """The function that makes the array returns nothing."""
    doubled[1, 64](ones(64), None)


@planted("out_of_bounds")
def dynamic_shared_memory_is_not_asked_for():
    """The launch does not state the size of the dynamic shared memory."""

    @cuda.jit
    def kernel(x):
        tile = cuda.shared.array(0, float32)
        t = cuda.threadIdx.x
        tile[t] = x[t]
        cuda.syncthreads()
        x[t] = tile[63 - t]

    kernel[1, 64](ones(64))


@planted("LaunchError")
def arguments_by_name():
    """A launch takes arguments by position."""
    doubled[1, 64](x=ones(64), out=new(64))


@planted("LaunchError")
def grid_of_four_dimensions():
    """A grid has at most three dimensions."""
    plane[(1, 1, 1, 1), (8, 8)](new(8, 8))


# --- elements that no thread writes -----------------------------------------------------------


@planted("warning")
def blocks_rounded_down():
    """The last elements have no thread."""
    out = new(1000)
    doubled[1000 // 128, 128](ones(1000), out)
    out.copy_to_host()


@planted("warning")
def kernel_of_two_dimensions_with_one():
    """The launch has one row of threads."""
    out = new(20, 64)
    plane[2, 32](out)
    out.copy_to_host()


@planted("warning")
def stride_twice_as_long():
    """The loop skips every second block of elements."""

    @cuda.jit
    def kernel(x, out):
        for i in range(cuda.grid(1), x.size, 2 * cuda.gridsize(1)):
            out[i] = x[i] + float32(1)

    out = new(512)
    kernel[2, 32](ones(512), out)
    out.copy_to_host()


@planted("warning")
def rows_of_one_block():
    """The grid has one row of blocks only."""
    out = new(40, 24)
    plane[(2, 1), (16, 16)](out)
    out.copy_to_host()


@planted("warning")
def loop_begins_at_one():
    """The first element of each thread is left out."""

    @cuda.jit
    def kernel(x, out):
        first = 4 * cuda.grid(1)
        for k in range(1, 4):
            if first + k < out.size:
                out[first + k] = x[first + k]

    out = new(128)
    kernel[1, 32](ones(128), out)
    out.copy_to_host()


# --- copies ----------------------------------------------------------------------------------


@planted("unseen")
def result_is_not_copied_back():
    """The host looks at its own array, which the kernel has not changed."""
    x = np.ones(64, np.float32)
    on_device = cuda.to_device(x)
    added_in_place[1, 64](on_device, float32(1))
    x.sum()


@planted("unseen")
def copy_is_not_called():
    """The method is named, and not called."""
    x = ones(64)
    added_in_place[1, 64](x, float32(1))
    x.copy_to_host  # noqa: B018


@planted(SILENT)
def host_array_changed_after_its_copy():
    """The kernel gets the array as it was when it was copied."""
    x = np.ones(64, np.float32)
    on_device = cuda.to_device(x)
    x[:] = 7
    added_in_place[1, 64](on_device, float32(1))
    on_device.copy_to_host()


@planted("ArrayValueError")
def copied_into_another_shape():
    """The host array has another shape."""
    ones(8, 8).copy_to_host(np.zeros(32, np.float32))


@planted("ArrayTypeError")
def copied_into_another_dtype():
    """The host array has another dtype."""
    ones(64).copy_to_host(np.zeros(64))


# --- language --------------------------------------------------------------------------------


@planted("Unsupported")
def function_of_numpy():
    """The CUDA target has math.sqrt and no np.sqrt."""

    @cuda.jit
    def kernel(x):
        t = cuda.threadIdx.x
        x[t] = np.sqrt(x[t])

    kernel[1, 32](ones(32))


@planted("Unsupported")
def import_in_a_kernel():
    """A kernel cannot import."""

    @cuda.jit
    def kernel(x):
        from math import exp

        t = cuda.threadIdx.x
        x[t] = exp(x[t])

    kernel[1, 32](ones(32))


@planted("Unsupported")
def size_is_called():
    """The size of an array is no function."""

    @cuda.jit
    def kernel(x):
        t = cuda.threadIdx.x
        if t < x.size():
            x[t] = 0

    kernel[1, 32](ones(32))


@planted("Unsupported")
def thread_index_without_its_module():
    """The name threadIdx is not defined."""

    @cuda.jit
    def kernel(x):
        x[threadIdx.x] = 0  # noqa: F821

    kernel[1, 32](ones(32))


@planted("warning")
def barrier_is_not_called():
    """The barrier is named, and not called."""

    @cuda.jit
    def kernel(x):
        tile = cuda.shared.array(64, float32)
        t = cuda.threadIdx.x
        tile[t] = x[t]
        cuda.syncthreads  # noqa: B018
        x[t] = tile[63 - t]

    kernel[1, 64](ones(64))


@planted("Unsupported")
def list_in_a_kernel():
    """A kernel has no lists that grow."""

    @cuda.jit
    def kernel(x):
        seen = []
        seen.append(x[0])
        x[1] = seen[0]

    kernel[1, 1](ones(32))


@planted("Unsupported")
def exception_in_a_kernel():
    """A kernel catches no exceptions."""

    @cuda.jit
    def kernel(x):
        try:
            x[0] = 1 / x[1]
        except ZeroDivisionError:
            x[0] = 0

    kernel[1, 1](ones(32))


@planted("Unsupported")
def function_without_jit():
    """A kernel calls a class, which cannot be compiled."""

    class Scale:
        def __init__(self, by):
            self.by = by

    @cuda.jit
    def kernel(x):
        x[0] = Scale(2).by

    kernel[1, 1](ones(32))


@planted("Unsupported")
def dictionary_in_a_kernel():
    """A kernel has no dictionaries."""

    @cuda.jit
    def kernel(x):
        where = {0: 1}
        x[0] = where[0]

    kernel[1, 1](ones(32))


@planted("Unsupported")
def index_with_a_point():
    """The division gives a float, which is no index."""

    @cuda.jit
    def kernel(x):
        t = cuda.threadIdx.x
        x[t / 2] = 0

    kernel[1, 32](ones(32))


@planted("Unsupported")
def kernel_returns_a_value():
    """A kernel returns nothing."""

    @cuda.jit
    def kernel(x):
        return x[0] + math.pi

    kernel[1, 1](ones(32))


@planted("Unsupported")
def array_of_a_size_known_at_the_launch():
    """The shape of a shared array is an argument."""

    @cuda.jit
    def kernel(x, n):
        tile = cuda.shared.array(n, float32)
        tile[cuda.threadIdx.x] = x[0]

    kernel[1, 32](ones(32), 32)


@planted("Unsupported")
def array_of_numpy_in_a_kernel():
    """A kernel cannot allocate an array of NumPy."""

    @cuda.jit
    def kernel(x):
        sums = np.zeros(4)
        x[0] = sums[0]

    kernel[1, 1](ones(32))
