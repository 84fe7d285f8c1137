"""Arrays of records: fields are read and written as NumPy does, counted and checked one by one."""

import math

import numpy as np
import pytest
from numba import cuda, float32, from_dtype, int32

from virtual_gpu import LaunchError, Race, Unsupported, trace

POINT = np.dtype([("x", np.float32), ("tag", np.int32)])
PADDED = np.dtype([("x", np.float32), ("count", np.int64)], align=True)
BODY = np.dtype(
    [("at", POINT), ("speed", np.float32, (3,)), ("grid", np.int32, (2, 2))], align=True
)
POINT_TYPE = from_dtype(POINT)


def run(kernel, *arguments, grid=1, block=4):
    assert trace(kernel, grid, block, *arguments).findings == ()


def points(dtype=POINT, size=4):
    p = np.zeros(size, dtype)
    p["x"] = np.arange(size)
    return p


@cuda.jit
def change(p, out):
    i = cuda.grid(1)
    p[i].x += 1
    p[i]["x"] *= 2
    key = "tag"
    p[i][key] = i * 10
    out[i] = p[i].x + p["tag"][i] + p.tag[i]


def test_fields_are_read_and_written_by_name():
    p, out = points(), np.zeros(4)
    run(change, p, out)
    i = np.arange(4)
    assert p["x"].tolist() == (2 * (i + 1)).tolist()
    assert p["tag"].tolist() == (10 * i).tolist()
    assert out.tolist() == (2 * (i + 1) + 20 * i).tolist()


@cuda.jit
def bodies(p, out):
    i = cuda.grid(1)
    body = p[i]
    body.at.x = i + 1
    p[i].at["tag"] = 5
    body.speed[1] = 2
    speed = p[i].speed
    speed[2] = body.grid[1, 0] + speed[1]
    p.speed[i, 0] = 7
    out[i] = p[i].at.tag + p.at[i].x + p[i].speed.shape[0]


def test_fields_of_records_and_of_arrays():
    p, out = np.zeros(4, BODY), np.zeros(4)
    p["grid"][:, 1, 0] = 3
    run(bodies, p, out)
    assert p["at"]["x"].tolist() == [1, 2, 3, 4]
    assert p["speed"].tolist() == [[7, 2, 5]] * 4
    assert out.tolist() == [5 + n + 3 for n in (1, 2, 3, 4)]


@cuda.jit(device=True)
def move(point, by):
    point.x += by


@cuda.jit(device=True)
def pick(p, i):
    return p[i]


@cuda.jit
def handed_on(p, q, k):
    i = cuda.grid(1)
    move(p[i], 10)
    chosen = pick(p, i)
    if i <= k:
        chosen = p[k - i]
    chosen.tag += i + 1
    q[1:][i % 3].x = -1


def test_a_record_stands_for_its_place_in_memory():
    p, q = points(), points()
    run(handed_on, p, q, 1)
    assert p["x"].tolist() == [10, 11, 12, 13]
    assert p["tag"].tolist() == [2, 1, 3, 4]
    assert q["x"].tolist() == [0, -1, -1, -1]


@cuda.jit
def rows(p, out):
    total = 0
    for point in p[1]:
        total += point.tag
    p[0, 1].x = p[1][2].tag
    out[0] = total + len(p) + p.size + p[1].shape[0]


def test_arrays_of_two_dimensions_and_loops():
    p, out = np.zeros((2, 3), POINT), np.zeros(1)
    p["tag"] = np.arange(6).reshape(2, 3)
    run(rows, p, out, block=1)
    assert out[0] == 3 + 4 + 5 + 2 + 6 + 3
    assert p["x"].tolist() == [[0, 5, 0], [0, 0, 0]]


@cuda.jit
def copies(p, q):
    i = cuda.grid(1)
    q[i] = p[3 - i]


@pytest.mark.parametrize("dtype", [POINT, PADDED, BODY])
def test_whole_records_are_copied(dtype):
    p, q = np.zeros(4, dtype), np.zeros(4, dtype)
    for number, name in enumerate(dtype.names):
        if not p[name].dtype.names:
            p[name] = number + np.arange(p[name].size).reshape(p[name].shape)
    run(copies, p, q)
    assert (q == p[::-1]).all()


@cuda.jit
def through_shared_and_local(p):
    i = cuda.threadIdx.x
    tile = cuda.shared.array(4, PADDED_TYPE)
    mine = cuda.local.array(2, POINT_TYPE)
    tile[i].x = p[i].x
    tile[i].count = i
    cuda.syncthreads()
    mine[i % 2].x = tile[3 - i].x
    mine[1 - i % 2].tag = tile[3 - i].count
    p[i].x = mine[i % 2].x * 10 + mine[1 - i % 2].tag


PADDED_TYPE = from_dtype(PADDED)


def test_shared_and_local_arrays_of_records():
    p = points()
    run(through_shared_and_local, p)
    assert p["x"].tolist() == [33, 22, 11, 0]


@cuda.jit
def unwritten(p):
    mine = cuda.local.array(2, POINT_TYPE)
    tile = cuda.shared.array(2, POINT_TYPE)
    mine[0].x = 1
    p[0].x = mine[0].tag
    tile[0].x = 1
    p[1].x = tile[0].tag


def test_each_field_is_uninitialised_by_itself():
    findings = trace(unwritten, 1, 1, points()).findings
    assert [(f.kind, f.array) for f in findings] == [
        ("uninitialised", "mine"), ("uninitialised", "tile"),
    ]  # fmt: skip


@cuda.jit
def two_fields(p):
    i = cuda.threadIdx.x
    if i % 2:
        p[i // 2].x = i
    else:
        p[i // 2].tag = i


@cuda.jit
def one_field(p):
    i = cuda.threadIdx.x
    p[i // 2].x = i


@cuda.jit
def one_field_through_a_variable(p):
    i = cuda.threadIdx.x
    record = p[i // 2]
    record.x = i


def test_threads_race_for_a_field_not_for_a_record():
    run(two_fields, points())
    for kernel in (one_field, one_field_through_a_variable):
        (finding,) = trace(kernel, 1, 4, points()).findings
        assert (finding.kind, finding.array) == ("race", "p")
    with pytest.raises(Race, match=r"p\[0\]"):
        one_field[1, 4](points())


@cuda.jit
def beyond(p):
    p[cuda.threadIdx.x + 1].x = 1


def test_a_record_beyond_the_end_is_out_of_bounds():
    (finding,) = trace(beyond, 1, 4, points()).findings
    assert (finding.kind, finding.index) == ("out_of_bounds", (4,))


@cuda.jit
def read_x(p, out):
    i = cuda.grid(1)
    out[i] = p[i].x


def test_a_field_is_counted_with_the_stride_of_its_records():
    lines = trace(read_x, 1, 32, points(PADDED, 32), np.zeros(32, np.float32)).totals
    assert (lines.global_load_requests, lines.global_load_sectors) == (1, 32 * 16 // 32)


def test_a_field_of_a_packed_record_is_moved_byte_by_byte():
    """Numba tells the compiler nothing about the field's alignment."""
    lines = trace(read_x, 1, 32, points(POINT, 32), np.zeros(32, np.float32)).totals
    assert (lines.global_load_requests, lines.global_load_sectors) == (4, 4 * 32 * 8 // 32)


@cuda.jit
def count_tags(p, totals):
    i = cuda.grid(1)
    cuda.atomic.add(p["tag"], 0, 1)
    cuda.atomic.add(totals.tag, i % 2, i)


def test_atomics_on_a_field():
    p, totals = points(), points()
    run(count_tags, p, totals)
    assert p["tag"].tolist() == [4, 0, 0, 0]
    assert totals["tag"].tolist() == [2, 4, 0, 0]


def test_what_no_record_has_is_refused():
    @cuda.jit
    def no_field(p):
        p[0].y = 1

    @cuda.jit
    def no_number(p):
        p[0] = 1

    for kernel in (no_field, no_number):
        with pytest.raises(Unsupported):
            kernel[1, 1](points())


@pytest.mark.parametrize(
    "dtype",
    [
        [("flag", np.uint8), ("x", np.float64)],  # Numba refuses it, too
        [("x", np.float64, (2,)), ("flag", np.uint8)],
        [("flag", np.uint8), ("inner", np.dtype([("x", np.float64)], align=True))],
    ],
)
def test_a_field_whose_bytes_are_not_moved_one_by_one_must_be_aligned(dtype):
    with pytest.raises(LaunchError, match=r"The field (inner\.)?x of the array p is not at a mul"):
        beyond[1, 1](np.zeros(4, dtype))


NESTED = np.dtype([("x", np.float64), ("kind", np.int16)])
CROOKED = np.dtype([("x", np.float64), ("n", np.int64), ("inner", NESTED), ("flag", np.uint8)])


@cuda.jit
def change_crooked(p, strides):
    i = cuda.grid(1)
    p[i].x += i
    p[i].inner.x = p[i].x * 2
    p["n"][i] = p[i].inner.kind - p[i].flag
    strides[0] = p["n"].strides[0]


def crooked(size=4):
    p = np.zeros(size, CROOKED)
    p["flag"], p["x"], p["inner"]["kind"] = 3, 0.5, -7
    return p


def test_fields_at_any_byte_are_read_and_written():
    p, strides = crooked(), np.zeros(1, np.int64)
    run(change_crooked, p, strides)
    assert p["x"].tolist() == [0.5, 1.5, 2.5, 3.5]
    assert p["inner"]["x"].tolist() == [1, 3, 5, 7]
    assert p["n"].tolist() == [-10] * 4
    assert p["flag"].tolist() == [3] * 4
    assert p["inner"]["kind"].tolist() == [-7] * 4
    assert strides[0] == CROOKED.itemsize == 27


def test_fields_at_any_byte_are_counted_by_their_bytes():
    totals = trace(read_x, 1, 32, crooked(32), np.zeros(32, np.float32)).totals
    starts = 27 * np.arange(32)
    sectors = sum(len(np.unique((starts + byte) // 32)) for byte in range(8))
    assert (totals.global_load_requests, totals.global_load_sectors) == (8, sectors)


@cuda.jit
def change_after_an_unset_read(p, out):
    tile = cuda.shared.array(64, float32)
    i = cuda.grid(1)
    value = tile[i]
    p[i].x += 1
    p[i].tag += 1
    p[i].x += p[i].tag
    if i > 100:
        out[0] = value


def test_a_harmless_unset_read_leaves_records_of_several_types_as_they_were_written():
    p = points(size=64)
    (finding,) = trace(change_after_an_unset_read, 1, 64, p, np.zeros(1)).findings
    assert finding.kind == "discarded"
    assert p["tag"].tolist() == [1] * 64
    assert p["x"].tolist() == [i + 2 for i in range(64)]


@cuda.jit
def store_to_the_next(p):
    i = cuda.grid(1)
    p[(i + 1) % p.size].n = p[i].n + 1


def test_a_race_on_a_field_at_any_byte_is_found():
    with pytest.raises(Race):
        store_to_the_next[1, 64](crooked(64))


def test_an_atomic_on_a_field_at_any_byte_is_refused():
    @cuda.jit
    def add(p):
        cuda.atomic.add(p["n"], 0, 1)

    with pytest.raises(Unsupported, match="an atomic on p, whose records are not aligned"):
        add[1, 1](crooked())


def test_a_recording_leaves_out_fields_at_any_byte():
    result = trace(read_x, 1, 32, crooked(32), np.zeros(32, np.float32), record=0)
    assert {event.array for event in result.recording.events} == {"out"}


@cuda.jit
def step(particles, forces, dt):
    i = cuda.grid(1)
    if i < particles.size:
        p = particles[i]
        for axis in range(3):
            p.speed[axis] += forces[i, axis] * dt
        p.at.x += p.speed[0] * dt
        p.at.tag += int32(math.floor(p.at.x))


def test_a_particle_update():
    rng = np.random.default_rng(3)
    particles = np.zeros(100, BODY)
    particles["speed"] = rng.random((100, 3), np.float32)
    forces, dt = rng.random((100, 3), np.float32), np.float32(0.25)
    want = particles.copy()
    want["speed"] += forces * dt
    want["at"]["x"] += want["speed"][:, 0] * dt
    want["at"]["tag"] += np.floor(want["at"]["x"]).astype(np.int32)
    device = cuda.to_device(particles)
    step[4, 32](device, forces, float32(dt))
    got = device.copy_to_host()
    np.testing.assert_allclose(got["speed"], want["speed"], rtol=1e-6)
    np.testing.assert_allclose(got["at"]["x"], want["at"]["x"], rtol=1e-6)
    assert (got["at"]["tag"] == want["at"]["tag"]).all()
