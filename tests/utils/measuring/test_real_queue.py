"""Real work with the four methods of the queue model."""

import threading
from dataclasses import replace

import numpy as np
import pytest

from gemm_kernels import LADDER
from utils.machine import devices
from utils.measuring import real_queue
from utils.measuring.real_queue import CpuQueue, GpuQueue, multiply


@pytest.fixture
def cpu(monkeypatch):
    monkeypatch.setattr(CpuQueue, "n", 32)
    monkeypatch.setattr(real_queue, "CACHE_BYTES", 2**12)
    return CpuQueue()


def test_the_product_is_right():
    a, b = np.arange(12.0).reshape(3, 4), np.arange(8.0).reshape(4, 2)
    c = np.full((3, 2), np.nan)
    multiply(a, b, c)
    np.testing.assert_array_equal(c, a @ b)


def test_a_launch_on_the_cpu_does_not_wait_and_synchronize_does(cpu):
    go, done = threading.Event(), []

    def kernel(a, b, c):
        go.wait(10)
        done.append("kernel")

    cpu._kernel = kernel
    cpu.launch()
    assert done == []
    go.set()
    cpu.synchronize()
    assert done == ["kernel"]


def test_work_of_the_cpu_runs_in_order(cpu):
    order = []
    cpu._kernel = lambda a, b, c: order.append("kernel")
    cpu._flushing = type("Much", (), {"sum": lambda self: order.append("flush")})()
    cpu.launch()
    cpu.flush()
    cpu.launch()
    cpu.synchronize()
    assert order == ["kernel", "flush", "kernel"]


def test_the_first_launch_on_the_cpu_compiles_and_the_product_arrives(cpu):
    cpu.synchronize()  # an empty queue
    assert cpu._kernel is None
    begin = cpu.now()
    cpu.launch()
    cpu.synchronize()
    assert cpu.now() > begin
    a, b, c = cpu._arrays
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-5)


def test_a_kernel_of_the_ladder_is_launched_with_arrays_of_its_own(monkeypatch):
    monkeypatch.setattr(GpuQueue, "n", 32)
    gpu = GpuQueue(LADDER.step("naive").variant(), replace(devices.find("T4"), l2_kib=1, sms=1))
    gpu.launch()
    gpu.flush()
    gpu.synchronize()
    a, b, out = gpu.launch.args
    np.testing.assert_allclose(out.copy_to_host(), a.copy_to_host() @ b.copy_to_host(), atol=1e-4)
    assert gpu.name.startswith("naive on your Tesla T4")
