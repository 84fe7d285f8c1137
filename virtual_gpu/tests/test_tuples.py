"""Named tuples and CUDA's vector types, as arguments, in variables and in device functions."""

from collections import namedtuple

import numpy as np
import pytest
from numba import cuda, float32

from virtual_gpu import LaunchError, Unsupported, trace

Body = namedtuple("Body", "place speed")
Pair = namedtuple("Pair", "low high")
LIMITS = Pair(2, 5.5)


def run(kernel, *arguments, block=4):
    assert trace(kernel, 1, block, *arguments).findings == ()


@cuda.jit(device=True)
def width(pair):
    return pair.high - pair.low


@cuda.jit
def named(body, out):
    i = cuda.grid(1)
    pair = Pair(i, high=body.speed)
    if i > 1:
        pair = Pair(i, 10.5)
    low, _ = pair
    body.place[i] += low
    out[i] = width(pair) + pair[1] + len(pair) + LIMITS.high


def test_named_tuples():
    place, out = np.ones(4), np.zeros(4)
    run(named, Body(place, 3.0), out)
    assert place.tolist() == [1, 2, 3, 4]
    highs = np.array([3, 3, 10.5, 10.5])
    assert out.tolist() == (highs - np.arange(4) + highs + 2 + 5.5).tolist()


def test_a_tuple_has_no_other_names():
    @cuda.jit
    def kernel(pair, out):
        out[0] = pair.count

    with pytest.raises(Unsupported, match=r"pair\.count"):
        kernel[1, 1](Pair(1, 2), np.zeros(1))

    @cuda.jit
    def too_few(out):
        out[0] = Pair(1).low

    with pytest.raises(Unsupported, match="a Pair that is not given low, high"):
        too_few[1, 1](np.zeros(1))
    with pytest.raises(LaunchError, match="a str"):
        kernel[1, 1](Pair("a", 2), np.zeros(1))


@cuda.jit(device=True)
def pull(mine, other, total):
    dx, dy, dz = other.x - mine.x, other.y - mine.y, other.z - mine.z
    squared = dx * dx + dy * dy + dz * dz + float32(0.01)
    size = other.w / (squared * squared**0.5)
    return cuda.float32x3(total.x + dx * size, total.y + dy * size, total.z + dz * size)


@cuda.jit
def bodies(places, forces):
    i = cuda.grid(1)
    n = places.shape[0]
    if i < n:
        mine = cuda.float32x4(places[i, 0], places[i, 1], places[i, 2], places[i, 3])
        total = cuda.float32x3(0, 0, 0)
        for j in range(n):
            tail = cuda.float32x2(places[j, 2], places[j, 3])
            total = pull(mine, cuda.float32x4(places[j, 0], places[j, 1], tail), total)
        forces[i, 0], forces[i, 1], forces[i, 2] = total.x, total.y, total.z


def test_the_forces_of_bodies_with_vector_types():
    places = np.random.default_rng(5).random((20, 4), np.float32)
    forces = np.zeros((20, 3), np.float32)
    run(bodies, places, forces, block=32)
    distance = places[None, :, :3].astype(float) - places[:, None, :3]
    squared = (distance**2).sum(axis=2) + 0.01
    want = (distance * (places[None, :, 3] / squared**1.5)[:, :, None]).sum(axis=1)
    np.testing.assert_allclose(forces, want, rtol=1e-4, atol=1e-4)


def test_a_vector_is_made_of_as_many_numbers():
    @cuda.jit
    def cast(out):
        v = cuda.int32x2(cuda.int32x2(2.75, out[1]))
        out[0] = v.x + cuda.double2(0.5, 1).x

    out = np.array([0, 3.0])
    run(cast, out, block=1)
    assert out[0] == 2.5

    @cuda.jit
    def kernel(out):
        out[0] = cuda.float32x4(1, 2, 3).x

    with pytest.raises(Unsupported, match="not made of 4 numbers"):
        kernel[1, 1](np.zeros(1))
