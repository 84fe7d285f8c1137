"""Ways to move data to the GPU and back: copies, managed memory, and whole products.

`transfers.py` times them. A product is a function that launches a kernel for c = a·b, called with
the arrays a, b and c.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numba import cuda, float32

from utils.division import cdiv
from utils.errors import CourseError
from utils.ladder.problems import draw
from utils.ladder.shapes import FLOAT32_BYTES, GemmShape

PAGE_BYTES = 4096
TEN = 10  # the number of products of the same arrays

Prefetch = Callable[[np.ndarray, bool], None]
Product = Callable[..., None]


@dataclass(frozen=True)
class Experiment:
    """Work to time, recorded under its `step` and `params`.

    `prepare` runs before each repetition and is not timed. `execute` returns None, or milliseconds
    that it measured itself; it need not wait for the GPU. `products` is the number of matrix
    products in one execution, or 0 if it is only a part of a product.
    """

    step: str
    params: str
    execute: Callable[[], float | None]
    prepare: Callable[[], object] = lambda: None
    products: int = 1


@cuda.jit
def touch(x):
    """Negate every element in place, so that every page is needed where the kernel runs."""
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        x[i] = -x[i]


@cuda.jit
def fill(x):
    """Write 1 to every element of a matrix, so that its pages are first touched on the GPU."""
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        x[row, col] = float32(1)


def prefetch(array: np.ndarray, to_device: bool) -> None:
    """Ask the driver to migrate a managed array, and return at once.

    It migrates to the GPU if `to_device`, else to the host. Raises CourseError if the driver cannot
    do so.
    """
    from cuda.bindings import driver

    kinds = driver.CUmemLocationType
    target = driver.CUmemLocation()
    device, host = kinds.CU_MEM_LOCATION_TYPE_DEVICE, kinds.CU_MEM_LOCATION_TYPE_HOST
    target.type = device if to_device else host
    target.id = 0
    # CUDA 12 has the call that takes a location under another name.
    call = getattr(driver, "cuMemPrefetchAsync_v2", driver.cuMemPrefetchAsync)
    address = array.__cuda_array_interface__["data"][0]
    (error,) = call(address, array.nbytes, target, 0, 0)
    if error != driver.CUresult.CUDA_SUCCESS:
        raise CourseError(f"The driver cannot prefetch managed memory here ({error.name}).")


def copies(elements: int, prefetch: Prefetch = prefetch) -> Iterator[Experiment]:
    """Yield experiments that move `elements` float32 to the GPU or back, one per way to do so.

    The ways are pageable, pinned and managed memory, and managed memory with a request to migrate
    it, each first to the device and then to the host. `prefetch` migrates a managed array; tests
    replace it.
    """
    on_device = cuda.to_device(np.ones(elements, np.float32))
    ones = np.ones(elements, np.float32)
    for step, host in (("pageable", ones), ("pinned", copied(ones, cuda.pinned_array))):
        yield Experiment(step, "DIRECTION=to_device", partial(on_device.copy_to_device, host))
        yield Experiment(step, "DIRECTION=to_host", partial(_copy_to_host, on_device, host))

    pages = copied(ones, cuda.managed_array)
    on_host = np.asarray(pages)

    def use_on_device():
        touch[1024, 256](pages)

    def use_on_host():
        on_host[:: PAGE_BYTES // FLOAT32_BYTES].sum()

    yield Experiment("managed", "DIRECTION=to_device", use_on_device, use_on_host)
    yield Experiment("managed", "DIRECTION=to_host", use_on_host, use_on_device)
    to_device, to_host = partial(prefetch, pages, True), partial(prefetch, pages, False)
    yield Experiment("managed_prefetch", "DIRECTION=to_device", to_device, use_on_host)
    yield Experiment("managed_prefetch", "DIRECTION=to_host", to_host, use_on_device)


def products(
    shape: GemmShape, kernel: Product, prefetch: Prefetch = prefetch
) -> Iterator[Experiment]:
    """Yield experiments that compute a product in five ways, one to four experiments per way.

    The ways are, in this order: copies from and to pageable memory, the same with pinned memory,
    NumPy arrays that Numba copies at the launch, managed arrays that the host fills, and managed
    arrays that the GPU fills. In the params, WHAT=wall is the whole time until the result is on the
    host, WHAT=kernel the kernel's own time, and WHAT=fill the time to fill the arrays on the GPU.
    `prefetch` migrates a managed array; tests replace it.
    """
    host = host_arrays(shape)
    on_device = tuple(map(cuda.to_device, host))

    yield Experiment("product_with_copies", "WHAT=wall", partial(_with_copies, kernel, host))
    yield Experiment("product_with_copies", "WHAT=kernel", partial(_kernel_ms, kernel, on_device))
    fast = _all_copied(host, cuda.pinned_array)
    yield Experiment("product_with_pinned_copies", "WHAT=wall", partial(_with_copies, kernel, fast))
    # Numba copies each NumPy argument of a launch to the device, and back after it.
    yield Experiment("product_of_numpy_arrays", "WHAT=wall", partial(kernel, *host))

    arrays = _all_copied(host, cuda.managed_array)

    def bring_back():
        for array in arrays:
            array[...] = 1

    def send():
        bring_back()
        for array in arrays:
            prefetch(array, True)

    wall, on_arrays = partial(_with_managed, kernel, arrays), partial(_kernel_ms, kernel, arrays)
    yield Experiment("product_managed", "WHAT=wall", wall, bring_back)
    yield Experiment("product_managed", "WHAT=kernel TOUCH=first", on_arrays, bring_back)
    yield Experiment("product_managed", "WHAT=kernel TOUCH=second", on_arrays)
    yield Experiment("product_managed", "WHAT=kernel TOUCH=prefetched", on_arrays, send)
    yield from _born_on_gpu(shape, kernel)


def _born_on_gpu(shape: GemmShape, kernel: Product) -> Iterator[Experiment]:
    """Yield three experiments on a product of managed arrays that a kernel fills.

    They time, in this order, the kernel that fills the arrays, the product's kernel after that, and
    the wall clock of both. Each repetition allocates new arrays, with pages that no processor has
    touched.
    """
    arrays = []

    def allocate():
        arrays[:] = [cuda.managed_array(host.shape, host.dtype) for host in host_arrays(shape)]

    def fill_all(*matrices):
        for array in matrices:
            rows, columns = array.shape
            fill[(cdiv(columns, 32), cdiv(rows, 8)), (32, 8)](array)

    def allocate_and_fill():
        allocate()
        fill_all(*arrays)

    def wall():
        fill_all(*arrays)
        _with_managed(kernel, arrays)

    step = "product_born_on_gpu"
    yield Experiment(step, "WHAT=fill", lambda: _kernel_ms(fill_all, arrays), allocate, products=0)
    yield Experiment(step, "WHAT=kernel", lambda: _kernel_ms(kernel, arrays), allocate_and_fill)
    yield Experiment(step, "WHAT=wall", wall, allocate)


def parts(shape: GemmShape, kernel: Product) -> Iterator[Experiment]:
    """Yield six experiments, each of which times one part of a product with copies.

    In this order: the allocation of three device arrays, the copies of a and b in and of c out for
    pageable host memory, the same two for pinned host memory, and the kernel.
    """
    host = host_arrays(shape)
    on_device = tuple(map(cuda.to_device, host))
    part = partial(Experiment, "part", products=0)

    def allocate():
        for array in host:
            cuda.device_array(array.shape, array.dtype)

    def copy_in(arrays):
        for array, target in zip(arrays[:2], on_device[:2], strict=True):
            target.copy_to_device(array)

    yield part("PART=allocate", allocate)
    for memory, arrays in (("pageable", host), ("pinned", _all_copied(host, cuda.pinned_array))):
        back = partial(_copy_to_host, on_device[2], arrays[2])
        yield part(f"PART=copy_in MEMORY={memory}", partial(copy_in, arrays))
        yield part(f"PART=copy_out MEMORY={memory}", back)
    yield part("PART=kernel", partial(kernel, *on_device))


def ten_products(shape: GemmShape, kernel: Product) -> Iterator[Experiment]:
    """Yield experiments that compute ten products of the same arrays.

    In pageable and then in pinned memory, the arrays are copied for each product, and once for all
    ten. Next come NumPy arrays, which Numba copies at each launch, and managed memory. The last
    experiment times the ten kernels alone.
    """
    host = host_arrays(shape)
    on_device = tuple(map(cuda.to_device, host))
    experiment = partial(Experiment, "ten_products", products=TEN)

    def ten(*arrays):
        for _ in range(TEN):
            kernel(*arrays)

    def each(arrays):
        for _ in range(TEN):
            _with_copies(kernel, arrays)

    for memory, arrays in (("pageable", host), ("pinned", _all_copied(host, cuda.pinned_array))):
        yield experiment(f"MEMORY={memory} COPIES=each", partial(each, arrays))
        yield experiment(f"MEMORY={memory} COPIES=once", partial(_with_copies, ten, arrays))
    yield experiment("MEMORY=numpy COPIES=each", partial(ten, *host))

    arrays = _all_copied(host, cuda.managed_array)

    def bring_back():
        for array in arrays:
            array[...] = 1

    wall = partial(_with_managed, ten, arrays)
    yield experiment("MEMORY=managed COPIES=none", wall, bring_back)
    yield experiment("WHAT=kernel", partial(_kernel_ms, ten, on_device))


def copied(array: np.ndarray, make: Callable) -> np.ndarray:
    """Return a copy of a host array in an array from `make`, such as `cuda.pinned_array`."""
    copy = make(array.shape, array.dtype)
    copy[...] = array
    return copy


def _all_copied(arrays: tuple, make: Callable) -> tuple[np.ndarray, ...]:
    """Return copies of host arrays in arrays from `make`, such as `cuda.pinned_array`."""
    return tuple(copied(array, make) for array in arrays)


def host_arrays(shape: GemmShape) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the arrays (a, b, c) of a product on the host: a and b random float32, c zeros."""
    a, b = draw("uniform", (shape.m, shape.k), 1), draw("uniform", (shape.k, shape.n), 2)
    return a, b, np.zeros((shape.m, shape.n), np.float32)


def _with_copies(kernel: Product, host: tuple) -> None:
    """Compute a product of host arrays with copies to the device and back."""
    a, b, c = host
    on_device = cuda.to_device(a), cuda.to_device(b), cuda.device_array(c.shape, c.dtype)
    kernel(*on_device)
    on_device[2].copy_to_host(c)


def _with_managed(kernel: Product, arrays: tuple) -> None:
    """Compute a product of managed arrays and read all of its result on the host."""
    kernel(*arrays)
    cuda.synchronize()
    np.asarray(arrays[2]).sum()


def _copy_to_host(array, host: np.ndarray) -> None:
    """Copy a device array into a host array."""
    array.copy_to_host(host)


def _kernel_ms(kernel: Product, arrays: tuple) -> float:
    """Return the milliseconds of a kernel on the GPU, measured with events."""
    start, end = cuda.event(), cuda.event()
    start.record()
    kernel(*arrays)
    end.record()
    end.synchronize()
    return start.elapsed_time(end)
