"""Arrays and streams of any library, and the keys of plans."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from numba import cuda

from gemm_kernels import sgemm
from reduce_kernels import reduce
from utils.errors import CourseError
from utils.launching import arrays
from utils.launching.arrays import Family, current_stream, look, stream_handle
from utils.launching.slots import Slot


class Foreign:
    """An array of a library that has nothing but the interface."""

    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__


def family(stream) -> Family:
    return Family("a library", look=None, slot=None, stream=stream)


def test_arrays_of_one_form_are_known_as_one_and_others_are_not():
    x = cuda.to_device(np.zeros((4, 6), np.float32))
    same = cuda.to_device(np.ones((4, 6), np.float32))
    assert look(x)[1] == look(same)[1]
    assert look(x)[0] == x.gpu_data.device_pointer_value
    others = (x[1:], x[:, ::2], x[::-1], x.view(np.int32), x.reshape(6, 4))
    assert len({look(x)[1], *(look(other)[1] for other in others)}) == 6


@pytest.mark.parametrize("nothing", [None, [1.0], 3, np.zeros(3)])
def test_what_has_no_pointer_on_the_device_has_none(nothing):
    pointer, (family,) = look(nothing)
    assert pointer == 0
    assert not family.on_device


def test_an_array_with_nothing_but_the_interface_is_taken():
    a, b = np.arange(12, dtype=np.float32).reshape(3, 4), np.ones((4, 5), np.float32)
    assert arrays.family_of(Foreign(cuda.to_device(a))) is arrays.OTHER
    out = cuda.device_array((3, 5), np.float32)
    target = Foreign(out)
    inputs = Foreign(cuda.to_device(a)), Foreign(cuda.to_device(b))
    assert sgemm(*inputs, target) is target
    np.testing.assert_array_equal(out.copy_to_host(), a @ b)
    np.testing.assert_array_equal(sgemm(*inputs).copy_to_host(), a @ b)
    assert reduce(inputs[0]) == a.sum()


def test_a_host_array_may_be_changed_when_the_call_returns(monkeypatch):
    waited = []
    # The virtual GPU has one stream, and takes the handle of any other.
    stream = cuda.stream() if cuda.is_available() else cuda.external_stream(5)
    synchronize = type(stream).synchronize

    def counted(self):
        waited.append(stream_handle(self))
        synchronize(self)

    monkeypatch.setattr(type(stream), "synchronize", counted)
    host, on_device = np.eye(4, dtype=np.float32), cuda.to_device(np.eye(4, dtype=np.float32))
    sgemm(host, on_device, cuda.device_array((4, 4), np.float32), stream=stream)
    assert waited == [stream_handle(stream)]
    reduce(host, out=cuda.device_array(1, np.float32), stream=stream)
    assert waited == 2 * [stream_handle(stream)]


@pytest.mark.parametrize("stream, handle", [
    (5, 5), (cuda.default_stream(), 0),
    (type("Protocol", (), {"__cuda_stream__": lambda self: (0, 9)})(), 9),
    (type("Torchs", (), {"cuda_stream": 11})(), 11), (type("CuPys", (), {"ptr": 12})(), 12),
])  # fmt: skip
def test_streams_of_any_library_have_handles(stream, handle):
    assert stream_handle(stream) == handle


@pytest.mark.parametrize("wrong", ["fast", 1.5, True])
def test_what_is_no_stream_is_refused(wrong):
    with pytest.raises(CourseError, match="and a CUDA stream is needed"):
        stream_handle(wrong)


def test_a_call_goes_where_the_libraries_of_its_arrays_are():
    numbas, five, six = family(None), family(lambda: 5), family(lambda: 6)
    assert current_stream((numbas, numbas))() == 0
    assert current_stream((numbas, five, five))() == 5
    assert current_stream((five, family(lambda: 5)))() == 5
    with pytest.raises(CourseError, match=r"current streams differ.*give stream="):
        current_stream((five, six))()


def test_a_part_may_reach_backwards():
    part = Slot(0, (3, 2), (-16, 4), np.dtype(np.float32))
    assert part.extent == (-32, 8)
    behind = Slot(0, (2,), (4,), np.dtype(np.float32))
    low, high = behind.meets(part)
    reached = {start + byte for start in range(-32, 1, 16) for byte in range(8)}
    for distance in range(-64, 64, 4):
        touched = {distance + at for at in reached} & set(range(8))
        inside = low < distance < high
        assert inside or not touched
    assert low == -8
    assert high == 40


class Tensor:
    """The part of a PyTorch tensor that `look` uses."""

    dtype, requires_grad, is_cuda = "torch.float32", False, True

    def __init__(self, array):
        self.array, self.shape = array, array.shape

    def data_ptr(self):
        return self.array.gpu_data.device_pointer_value or 0

    def stride(self):
        return tuple(step // self.array.dtype.itemsize for step in self.array.strides)

    def get_device(self):
        return 0

    def is_neg(self):
        return False


@pytest.fixture
def pytorch(monkeypatch):
    """A library with that tensor class, and with stream 0."""
    current = SimpleNamespace(cuda_stream=0)
    library = SimpleNamespace(Tensor=Tensor, cuda=SimpleNamespace(current_stream=lambda: current))
    monkeypatch.setitem(sys.modules, "torch", library)
    monkeypatch.setattr(arrays, "_LOOKS", {})
    return library


def test_tensors_count_strides_in_elements_and_say_what_cannot_be_read(pytorch):
    x = cuda.to_device(np.zeros((4, 6), np.float32))
    tensor = Tensor(x[:, ::2])
    slot = arrays.slot_of(tensor, 0)
    assert (slot.shape, slot.strides, slot.dtype) == ((4, 3), (24, 8), np.float32)
    assert look(tensor)[1] == look(Tensor(x[:, 1::2]))[1] != look(Tensor(x[:, :3]))[1]
    assert arrays.current_stream((arrays.family_of(tensor),))() == 0
    gone, half = Tensor(x), Tensor(x)
    gone.data_ptr = lambda: 0
    assert look(gone)[1] != look(Tensor(x))[1]
    for name, value, sentence in (
        ("requires_grad", True, "requires a gradient"),
        ("is_cuda", False, "PyTorch is on the host"),
    ):
        wrong = Tensor(x)
        setattr(wrong, name, value)
        with pytest.raises(CourseError, match=sentence):
            sgemm(wrong, x, x)
    half.dtype = "torch.bfloat16"
    with pytest.raises(CourseError, match="a holds bfloat16, and float32 is needed"):
        sgemm(half, x, x)


@pytest.mark.parametrize("shape, strides, repeats", [
    ((8, 8), (0, 4), True), ((8, 8), (32, 4), False), ((8, 8), (28, 4), True),
    ((4, 8), (8, 12), True), ((3, 8), (8, 12), False), ((2, 2), (8, 12), False),
    ((1, 8), (0, 4), False), ((8, 8), (-32, 4), False), ((0, 8), (0, 4), False),
    ((1, 1), (0, 0), False),
])  # fmt: skip
def test_elements_at_one_address_are_known_from_the_strides(shape, strides, repeats):
    slot = Slot(0, shape, strides, np.dtype(np.float32))
    assert slot.repeats_elements() == repeats
    addresses = [i * strides[0] + j * strides[1] for i, j in np.ndindex(shape)]
    assert repeats == (len(set(addresses)) < len(addresses))


def test_a_common_byte_is_found_for_every_distance():
    x = Slot(0, (3, 2), (-16, 8), np.dtype(np.float32))
    y = Slot(1, (2, 3), (20, 4), np.dtype(np.float32))
    for distance in range(-80, 80, 4):
        assert x.shares_memory(y, distance) == bool(bytes_of(x, 0) & bytes_of(y, distance))


def bytes_of(slot, begin):
    """Return the numbers of all bytes of an array."""
    (s, t), (m, n) = slot.strides, slot.shape
    return {begin + i * s + j * t + at for i in range(m) for j in range(n) for at in range(4)}


def test_a_result_that_must_not_be_changed_and_a_mask_are_refused():
    x = cuda.to_device(np.ones((4, 4), np.float32))
    fixed, masked = Foreign(x), Foreign(x)
    interface = x.__cuda_array_interface__
    fixed.__cuda_array_interface__ = dict(interface, data=(interface["data"][0], True))
    masked.__cuda_array_interface__ = dict(interface, mask=x)
    with pytest.raises(CourseError, match="out is read-only"):
        sgemm(x, x, fixed)
    one = Foreign(x[:1, 0])
    one.__cuda_array_interface__ = dict(interface, shape=(1,), data=(interface["data"][0], True))
    with pytest.raises(CourseError, match="out is read-only"):
        reduce(x, out=one)
    for call in (lambda: sgemm(masked, x), lambda: reduce(masked)):
        with pytest.raises(CourseError, match="a Foreign with a mask"):
            call()


def test_tensors_are_refused_in_the_words_of_pytorch(pytorch):
    tensor = Tensor(cuda.to_device(np.zeros((4, 6), np.float32)))
    tensor.dtype = "torch.float64"
    with pytest.raises(CourseError, match=r"use a.to\(torch.float32\)"):
        sgemm(tensor, tensor)
    with pytest.raises(CourseError, match=r"use x.contiguous\(\)"):
        reduce(Tensor(cuda.to_device(np.zeros((4, 6), np.float32))[:, ::2]))
