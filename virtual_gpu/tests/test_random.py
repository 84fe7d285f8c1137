"""The generators of numba.cuda.random: the same bits as the same functions on the CPU."""

import numpy as np
import pytest
from numba import cuda
from numba.cuda import random

from virtual_gpu import trace

DRAWS = [
    random.xoroshiro128p_uniform_float32, random.xoroshiro128p_uniform_float64,
    random.xoroshiro128p_normal_float32, random.xoroshiro128p_normal_float64,
]  # fmt: skip
STATES = 40


@pytest.mark.parametrize("draw", DRAWS, ids=lambda f: f.__name__)
def test_numbers_and_states_are_those_of_the_cpu(draw):
    @cuda.jit
    def kernel(states, out):
        i = cuda.grid(1)
        if i < states.size:
            for k in range(3):
                out[i, k] = draw(states, i)

    dtype = np.float32 if draw.__name__.endswith("32") else np.float64
    states = random.create_xoroshiro128p_states(STATES, seed=7, subsequence_start=2)
    on_cpu, out = states.copy_to_host(), np.zeros((STATES, 3), dtype)
    want = [[draw(on_cpu, i) for _ in range(3)] for i in range(STATES)]
    assert trace(kernel, 2, 32, states, out).findings == ()
    assert (states.copy_to_host() == on_cpu).all()
    if "uniform" in draw.__name__:
        assert (out == np.array(want, dtype)).all()
    np.testing.assert_allclose(out, np.array(want, dtype), rtol=1e-5)


def test_a_kernel_can_make_states_and_jump():
    @cuda.jit
    def kernel(states, bits):
        i = cuda.grid(1)
        random.init_xoroshiro128p_state(states, i, 11 + i)
        random.xoroshiro128p_jump(states, i)
        bits[i] = random.xoroshiro128p_next(states, i)

    states, on_cpu = (np.zeros(8, random.xoroshiro128p_dtype) for _ in range(2))
    bits = np.zeros(8, np.uint64)
    assert trace(kernel, 1, 8, states, bits).findings == ()
    for i in range(8):
        random.init_xoroshiro128p_state(on_cpu, i, 11 + i)
        random.xoroshiro128p_jump(on_cpu, i)
        assert bits[i] == random.xoroshiro128p_next(on_cpu, i)
    assert (states == on_cpu).all()


@pytest.mark.slow
def test_two_threads_with_one_state_race():
    @cuda.jit
    def kernel(states, out):
        i = cuda.grid(1)
        out[i] = random.xoroshiro128p_uniform_float32(states, i // 2)

    states = random.create_xoroshiro128p_states(4, seed=1)
    findings = trace(kernel, 1, 8, states, np.zeros(8, np.float32)).findings
    assert {(f.kind, f.array) for f in findings} == {("race", "states")}


@cuda.jit
def count_inside(states, hits):
    i = cuda.grid(1)
    inside = 0
    for _ in range(100):
        x = random.xoroshiro128p_uniform_float32(states, i)
        y = random.xoroshiro128p_uniform_float32(states, i)
        if x * x + y * y < 1:
            inside += 1
    cuda.atomic.add(hits, 0, inside)


def test_pi_by_monte_carlo():
    states, hits = random.create_xoroshiro128p_states(256, seed=3), np.zeros(1, np.int64)
    count_inside[4, 64](states, hits)
    assert abs(4 * hits[0] / 25600 - np.pi) < 0.04
