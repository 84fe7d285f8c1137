"""Each copy between host and device is counted, and nothing else is."""

import inspect
import sys
from types import ModuleType

import numpy as np
import pytest
from numba import cuda

from virtual_gpu import counting_transfers, counting_waits, installed, trace
from virtual_gpu.compilers.declarations import VirtualKernel
from virtual_gpu.host.allocation import to_device
from virtual_gpu.launching import installation


@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


X = np.ones(8, np.float32)
Y = np.ones(8, np.float64)


def copied(program) -> list[tuple]:
    with counting_transfers() as log:
        program()
    return [(one.by, one.direction, one.shape, one.nbytes) for one in log]


def test_copies_that_a_program_writes_are_counted():
    def program():
        x, y = cuda.to_device(X), cuda.to_device(Y)
        out = cuda.device_array(8, np.float32)
        add[1, 8](x, y, out)
        out.copy_to_host()

    assert copied(program) == [
        ("to_device", "to_device", (8,), 32),
        ("to_device", "to_device", (8,), 64),
        ("copy_to_host", "to_host", (8,), 32),
    ]


def test_a_launch_copies_host_arrays_there_and_back():
    assert copied(lambda: add[1, 8](X, cuda.to_device(Y), np.zeros(8, np.float32))) == [
        ("to_device", "to_device", (8,), 64),
        ("launch", "to_device", (8,), 32),
        ("launch", "to_device", (8,), 32),
        ("launch", "to_host", (8,), 32),
        ("launch", "to_host", (8,), 32),
    ]


def test_in_and_out_of_a_launch_go_one_way():
    wrapped = cuda.In(X), cuda.InOut(Y), cuda.Out(np.zeros(8, np.float32))
    directions = [(by, way, nbytes) for by, way, _, nbytes in copied(lambda: add[1, 8](*wrapped))]
    assert directions == [
        ("launch", "to_device", 32),
        ("launch", "to_device", 64),
        ("launch", "to_host", 64),
        ("launch", "to_host", 32),
    ]


@pytest.mark.parametrize(
    ("program", "by", "nbytes"),
    [
        (lambda there: there.copy_to_device(X), "copy_to_device", 32),
        (lambda there: there.copy_to_host(np.empty(8, np.float32)), "copy_to_host", 32),
        (lambda there: cuda.to_device(X, to=there), "copy_to_device", 32),
        (lambda there: there[3], "[...]", 4),
        (lambda there: there[2:4].copy_to_host(), "copy_to_host", 8),
        (lambda there: there.__setitem__(slice(None), X), "[...]", 32),
        (np.asarray, "np.asarray", 32),
        (list, "[...]", 4),
    ],
)
def test_every_other_way_to_copy_is_counted(program, by, nbytes):
    there = cuda.to_device(X)
    assert (by, nbytes) in {(one[0], one[3]) for one in copied(lambda: program(there))}


def test_what_stays_on_one_side_is_not_counted():
    there = cuda.to_device(X)

    def program():
        cuda.device_array(8)
        cuda.device_array_like(there)
        cuda.pinned_array(8)
        there[2:4]
        there.reshape(2, 4)
        there.copy_to_device(there)
        cuda.to_device(there)
        cuda.to_device(X, copy=False)
        pages = cuda.managed_array(8, np.float32)
        pages[:] = 1
        add[1, 8](pages, pages, there)

    assert copied(program) == []


def test_a_copy_that_is_refused_is_not_counted():
    def program():
        with pytest.raises(TypeError):
            cuda.to_device(X).copy_to_host(Y)

    assert len(copied(program)) == 1


def test_the_line_is_the_programs_own():
    with counting_transfers() as log:
        here = inspect.currentframe().f_lineno
        cuda.to_device(X)
        add[1, 8](X, Y, X)
    assert [one.line - here for one in log] == [1, 2, 2, 2, 2, 2, 2]


def test_counting_ends_and_can_be_nested():
    with counting_transfers() as outer:
        with counting_transfers() as inner:
            cuda.to_device(X)
        cuda.to_device(X)
    cuda.to_device(X)
    assert (len(outer), len(inner)) == (2, 1)


def test_installed_puts_everything_back(monkeypatch):
    """As on a machine with a device, Numba's own functions are there before and afterwards."""
    own = object()
    monkeypatch.setattr(installation, "active", lambda: False)
    monkeypatch.setattr(cuda, "to_device", own)
    monkeypatch.delattr(installation.deviceufunc, "exec")

    @cuda.jit
    def one(x):
        x[0] = 1

    with installed():
        assert cuda.to_device is to_device
        one[1, 1](X.copy())
        assert any(isinstance(made, VirtualKernel) for made in one.overloads.values())
    assert cuda.to_device is own
    assert not hasattr(installation.deviceufunc, "exec")
    assert not one.overloads
    installation.install()


def test_a_module_that_is_imported_while_installed_gets_numbas_own_names(monkeypatch):
    own = object()
    late = ModuleType("numba.cuda.late")
    monkeypatch.setattr(installation, "active", lambda: False)
    monkeypatch.setattr(cuda, "get_current_device", own)
    with installed():
        monkeypatch.setitem(sys.modules, late.__name__, late)
        late.get_current_device = cuda.get_current_device
        assert late.get_current_device is not own
    assert late.get_current_device is cuda.get_current_device is own
    installation.install()


def test_a_traced_launch_copies_as_a_launch_does():
    assert len(copied(lambda: trace(add, 1, 8, X, Y, X.copy()))) == 6


@pytest.mark.parametrize(
    "wait",
    [
        lambda: cuda.synchronize(),
        lambda: cuda.stream().synchronize(),
        lambda: cuda.event().synchronize(),
        lambda: cuda.current_context().synchronize(),
    ],
)
def test_every_way_to_wait_for_the_device_is_noted(wait):
    with counting_waits() as places:
        wait()
    assert places == [(__file__, wait.__code__.co_firstlineno)]


def test_a_stream_waits_at_the_end_of_its_block():
    with counting_waits() as places:
        with cuda.stream().auto_synchronize():
            assert places == []
        assert len(places) == 1
