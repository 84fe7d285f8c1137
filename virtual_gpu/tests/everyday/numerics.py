"""Right kernels of numerics: quadrature, roots, differential equations, bits."""

import math

import numpy as np
from numba import cuda, float64, int64, uint32, uint64

from . import collector

CASES, right = collector()
POINTS, WEIGHTS = np.polynomial.legendre.leggauss(5)
POLYGON = np.array([[0, 0], [0.9, 0.2], [0.7, 0.8], [0.3, 0.4], [0.1, 0.9]])


@right(lambda rng: (0.0, 2.0, np.zeros(1)),
       lambda a, b, out: [math.erf(2) * math.sqrt(math.pi) / 2], grid=2, block=32)  # fmt: skip
@cuda.jit
def gauss_legendre_quadrature(a, b, out):
    i = cuda.grid(1)
    h = (b - a) / cuda.gridsize(1)
    mid = a + (i + 0.5) * h
    total = 0.0
    for x, w in zip(POINTS, WEIGHTS):
        total += w * math.exp(-((mid + 0.5 * h * x) ** 2))
    cuda.atomic.add(out, 0, total * h / 2)


def lorenz(p):
    x, y, z = p.T
    return np.stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z], 1)


def runge_kutta(start, dt, steps, out):
    p = start
    for _ in range(steps):
        k1 = lorenz(p)
        k2 = lorenz(p + dt / 2 * k1)
        k3 = lorenz(p + dt / 2 * k2)
        k4 = lorenz(p + dt * k3)
        p = p + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return p


@cuda.jit(device=True)
def f_lorenz(p, d):
    d[0] = 10.0 * (p[1] - p[0])
    d[1] = p[0] * (28.0 - p[2]) - p[1]
    d[2] = p[0] * p[1] - 8.0 / 3.0 * p[2]


@right(lambda rng: (rng.random((12, 3)), 0.01, 5, np.zeros((12, 3))), runge_kutta)
@cuda.jit
def runge_kutta_4_of_lorenz(start, dt, steps, out):
    i = cuda.grid(1)
    if i >= start.shape[0]:
        return
    p = cuda.local.array(3, float64)
    tmp = cuda.local.array(3, float64)
    k = cuda.local.array((4, 3), float64)
    for d in range(3):
        p[d] = start[i, d]
    for _ in range(steps):
        for stage in range(4):
            for d in range(3):
                tmp[d] = p[d]
                if stage > 0:
                    tmp[d] += dt * k[stage - 1, d] * (1.0 if stage == 3 else 0.5)
            f_lorenz(tmp, k[stage])
        for d in range(3):
            p[d] += dt / 6 * (k[0, d] + 2 * k[1, d] + 2 * k[2, d] + k[3, d])
    for d in range(3):
        out[i, d] = p[d]


@right(lambda rng: (rng.uniform(1, 9, 33), np.zeros(33)), lambda x, out: np.cbrt(x))
@cuda.jit
def cube_roots_by_halley(x, out):
    i = cuda.grid(1)
    if i < x.size:
        y = x[i]
        while True:
            y3 = y * y * y
            new = y * (y3 + 2 * x[i]) / (2 * y3 + x[i])
            if math.fabs(new - y) < 1e-14 * new:
                break
            y = new
        out[i] = new


def bisected(low, high, out):
    return [0.7390851332151607] * out.size


@right(lambda rng: (np.zeros(10), np.ones(10), np.zeros(10)), bisected)
@cuda.jit
def bisection(low, high, root):
    tid = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    if tid < root.size:
        a, b = low[tid], high[tid]
        fa = math.cos(a) - a
        for _ in range(60):
            mid = 0.5 * (a + b)
            fm = math.cos(mid) - mid
            if (fa < 0) != (fm < 0):
                b = mid
            else:
                a, fa = mid, fm
        root[tid] = a


def newton_basins(out):
    roots = [complex(math.cos(a), math.sin(a)) for a in (0, 2 * math.pi / 3, 4 * math.pi / 3)]
    want = np.zeros(out.shape, int)
    for i, y in enumerate(np.linspace(-1.3, 1.1, out.shape[0])):
        for j, x in enumerate(np.linspace(-1.2, 1.4, out.shape[1])):
            z = complex(x, y)
            for _ in range(30):
                z -= (z**3 - 1) / (3 * z**2)
            want[i, j] = min(range(3), key=lambda k: abs(z - roots[k]))
    return want


@right(lambda rng: (np.zeros((9, 11), np.int8),), newton_basins, grid=(2, 2), block=(8, 8))
@cuda.jit
def newton_fractal(out):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        z = complex(-1.2 + 2.6 * j / (out.shape[1] - 1), -1.3 + 2.4 * i / (out.shape[0] - 1))
        for _ in range(30):
            z = z - (z * z * z - 1) / (3 * z * z)
        best, arg = 10.0, 0
        for k in range(3):
            a = 2 * math.pi * k / 3
            d = abs(z - complex(math.cos(a), math.sin(a)))
            if d < best:
                best, arg = d, k
        out[i, j] = arg


def reversed_bits(x, out):
    return [int(f"{v:032b}"[::-1], 2) for v in x.tolist()]


@right(lambda rng: (rng.integers(0, 2**32, 40).astype(np.uint32), np.zeros(40, np.uint32)),
       reversed_bits)  # fmt: skip
@cuda.jit
def reverse_bits_by_masks(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        v = ((v >> 1) & 0x55555555) | ((v & 0x55555555) << 1)
        v = ((v >> 2) & 0x33333333) | ((v & 0x33333333) << 2)
        v = ((v >> 4) & 0x0F0F0F0F) | ((v & 0x0F0F0F0F) << 4)
        v = ((v >> 8) & 0x00FF00FF) | ((v & 0x00FF00FF) << 8)
        out[i] = ((v >> 16) | (v << 16)) & 0xFFFFFFFF


@right(lambda rng: (rng.integers(0, 2**63, 30).astype(np.uint64), np.zeros(30, np.uint8)),
       lambda x, out: [bin(v).count("1") for v in x.tolist()])  # fmt: skip
@cuda.jit
def popcount_by_swar(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        v = v - ((v >> uint64(1)) & uint64(0x5555555555555555))
        v = (v & uint64(0x3333333333333333)) + ((v >> uint64(2)) & uint64(0x3333333333333333))
        v = (v + (v >> uint64(4))) & uint64(0x0F0F0F0F0F0F0F0F)
        out[i] = (v * uint64(0x0101010101010101)) >> uint64(56)


def interleaved(xyz, out):
    return [sum((int(c) >> b & 1) << (3 * b + k) for k, c in enumerate(p) for b in range(10))
            for p in xyz]  # fmt: skip


@cuda.jit(device=True)
def expand_bits(v):
    v = uint32((v * uint32(0x00010001)) & uint32(0xFF0000FF))
    v = uint32((v * uint32(0x00000101)) & uint32(0x0F00F00F))
    v = uint32((v * uint32(0x00000011)) & uint32(0xC30C30C3))
    v = uint32((v * uint32(0x00000005)) & uint32(0x49249249))
    return v


@right(lambda rng: (rng.integers(0, 1024, (25, 3)).astype(np.uint32), np.zeros(25, np.uint32)),
       interleaved)  # fmt: skip
@cuda.jit
def morton_3d(xyz, codes):
    i = cuda.grid(1)
    if i < codes.size:
        x, y, z = expand_bits(xyz[i, 0]), expand_bits(xyz[i, 1]), expand_bits(xyz[i, 2])
        codes[i] = x | (y << 1) | (z << 2)


@right(lambda rng: (rng.integers(0, 256, 50, np.uint8), np.zeros(50, np.uint8)),
       lambda x, out: x ^ x >> 1)  # fmt: skip
@cuda.jit
def gray_code(x, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = x[i] ^ (x[i] >> 1)


def divisors(a, b, out):
    return [math.gcd(p, q) for p, q in zip(a.tolist(), b.tolist())]


@right(lambda rng: (rng.integers(1, 999, 40), rng.integers(1, 999, 40), np.zeros(40, np.int64)),
       divisors)  # fmt: skip
@cuda.jit
def gcd_by_euclid(a, b, out):
    idx = cuda.grid(1)
    if idx < a.shape[0]:
        x, y = a[idx], b[idx]
        while y:
            x, y = y, x % y
        out[idx] = x


def mod_powers(base, exponent, modulus, out):
    return [pow(b, e, modulus) for b, e in zip(base.tolist(), exponent.tolist())]


@cuda.jit("int64(int64, int64, int64)", device=True)
def pow_mod(b, e, m):
    result = 1
    b %= m
    while e > 0:
        if e % 2 == 1:
            result = result * b % m
        b = b * b % m
        e //= 2
    return result


@right(lambda rng: (rng.integers(0, 10**6, 20), rng.integers(0, 10**6, 20), 998244353,
                    np.zeros(20, np.int64)), mod_powers)  # fmt: skip
@cuda.jit
def modular_powers(base, exponent, modulus, out):
    i = cuda.grid(1)
    if i < len(out):
        out[i] = pow_mod(base[i], exponent[i], modulus)


def spread_heat(x, steps, out):
    for _ in range(steps):
        x = (np.roll(x, 1) + x + np.roll(x, -1)) / 3
    return x


@right(lambda rng: (rng.random(96), 4, np.zeros((2, 96))),
       lambda x, steps, out: np.stack([spread_heat(x, 4, 0), spread_heat(x, 3, 0)]),
       grid=3, block=32)  # fmt: skip
@cuda.jit
def smoothing_with_a_grid_group(x, steps, out):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    n = x.size
    out[0, i] = x[i]
    grid.sync()
    for step in range(steps):
        old, new = step % 2, (step + 1) % 2
        out[new, i] = (out[old, (i - 1) % n] + out[old, i] + out[old, (i + 1) % n]) / 3
        grid.sync()


def pascal(n, out):
    return [math.comb(n, k) for k in range(out.size)]


@right(lambda rng: (20, np.zeros(21, np.int64)), pascal, block=32)
@cuda.jit
def binomials_by_a_row(n, out):
    row = cuda.shared.array(32, int64)
    k = cuda.threadIdx.x
    row[k] = 1 if k == 0 else 0
    for _ in range(n):
        cuda.syncthreads()
        value = row[k] + (row[k - 1] if k > 0 else 0)
        cuda.syncthreads()
        row[k] = value
    if k <= n:
        out[k] = row[k]


def walsh(x):
    y = x.copy()
    h = 1
    while h < y.size:
        y = y.reshape(-1, 2, h)
        y = np.stack([y[:, 0] + y[:, 1], y[:, 0] - y[:, 1]], 1).ravel()
        h *= 2
    return y


@right(lambda rng: (rng.integers(-9, 9, 64).astype(np.float64),), walsh, block=32)
@cuda.jit
def fast_walsh_hadamard(x):
    t = cuda.threadIdx.x
    h = 1
    while h < len(x):
        i = t // h * 2 * h + t % h
        a, b = x[i], x[i + h]
        x[i], x[i + h] = a + b, a - b
        cuda.syncthreads()
        h <<= 1


def inside(points, corners, out):
    """Whether the angles from a point to all corners add up to a full turn."""
    want = []
    for p in points:
        z = (corners - p) @ [1, 1j]
        turn = np.angle(np.roll(z, -1) / z).sum()
        want.append(abs(turn) > math.pi)
    return want


@right(lambda rng: (rng.random((30, 2)), POLYGON, np.zeros(30, np.bool_)),
       inside)  # fmt: skip
@cuda.jit
def points_in_a_polygon(p, corners, out):
    i = cuda.grid(1)
    if i < p.shape[0]:
        x, y = p[i]
        odd = False
        j = len(corners) - 1
        for k in range(len(corners)):
            if (corners[k, 1] > y) != (corners[j, 1] > y):
                slope = (corners[j, 0] - corners[k, 0]) / (corners[j, 1] - corners[k, 1])
                if x < corners[k, 0] + slope * (y - corners[k, 1]):
                    odd = not odd
            j = k
        out[i] = odd
