"""Right kernels of finance: option prices, paths, trees, averages."""

import math

import numpy as np
from numba import cuda, float64, int32
from numba.cuda.random import (
    create_xoroshiro128p_states,
    xoroshiro128p_normal_float64,
    xoroshiro128p_uniform_float64,
)

from . import collector

CASES, right = collector()
R, SIGMA, T = 0.05, 0.2, 1.0
N_STEPS = 8
TICK = np.dtype([("price", np.float64), ("volume", np.int32)])  # 12 bytes
N_NODES = N_STEPS + 1


def greeks(spot, strike, call, delta):
    d1 = (np.log(spot / strike) + (R + SIGMA**2 / 2) * T) / (SIGMA * math.sqrt(T))
    return np.where(call, phi(d1), phi(d1) - 1)


phi = np.vectorize(lambda d: 0.5 * (1 + math.erf(d / math.sqrt(2))))


@cuda.jit(device=True)
def cnd(d):
    a1, a2, a3, a4, a5 = 0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429
    k = 1.0 / (1.0 + 0.2316419 * math.fabs(d))
    poly = k * (a1 + k * (a2 + k * (a3 + k * (a4 + k * a5))))
    ret = 0.39894228040143267793994605993438 * math.exp(-0.5 * d * d) * poly
    if d > 0:
        ret = 1.0 - ret
    return ret


@right(lambda rng: (rng.uniform(50, 150, 40).astype(np.float32), np.float32(100),
                    rng.integers(0, 2, 40).astype(bool), np.zeros(40, np.float32)),
       greeks)  # fmt: skip
@cuda.jit
def delta_of_calls_and_puts(spot, strike, call, delta):
    i = cuda.grid(1)
    if i >= spot.shape[0]:
        return
    d1 = (math.log(spot[i] / strike) + (R + 0.5 * SIGMA * SIGMA) * T) / (SIGMA * math.sqrt(T))
    delta[i] = cnd(d1) if call[i] else cnd(d1) - 1.0


def american(spot, strike, out):
    dt = T / N_STEPS
    up = math.exp(SIGMA * math.sqrt(dt))
    p = (math.exp(R * dt) - 1 / up) / (up - 1 / up)
    prices = []
    for s in spot:
        values = [max(strike - s * up ** (2 * j - N_STEPS), 0) for j in range(N_STEPS + 1)]
        for n in range(N_STEPS - 1, -1, -1):
            values = [
                max(math.exp(-R * dt) * (p * values[j + 1] + (1 - p) * values[j]),
                    strike - s * up ** (2 * j - n))
                for j in range(n + 1)
            ]  # fmt: skip
        prices.append(values[0])
    return prices


@right(lambda rng: (rng.uniform(80, 120, 5), 100.0, np.zeros(5)), american, grid=5, block=32)
@cuda.jit
def american_put_one_block_per_option(spot, strike, out):
    values = cuda.shared.array(N_NODES, float64)
    opt = cuda.blockIdx.x
    j = cuda.threadIdx.x
    dt = T / N_STEPS
    up = math.exp(SIGMA * math.sqrt(dt))
    disc = math.exp(-R * dt)
    p = (math.exp(R * dt) - 1.0 / up) / (up - 1.0 / up)
    s0 = spot[opt]
    if j <= N_STEPS:
        values[j] = max(strike - s0 * up ** (2 * j - N_STEPS), 0.0)
    cuda.syncthreads()
    for n in range(N_STEPS - 1, -1, -1):
        v = 0.0
        if j <= n:
            v = disc * (p * values[j + 1] + (1 - p) * values[j])
            v = max(v, strike - s0 * up ** (2 * j - n))
        cuda.syncthreads()
        if j <= n:
            values[j] = v
        cuda.syncthreads()
    if j == 0:
        out[opt] = values[0]


def barrier_option(prices, barrier, strike, payoff):
    end = np.maximum(prices[:, -1] - strike, 0)
    return np.where((prices >= barrier).any(1), 0, end)


@right(lambda rng: (100 * np.exp(rng.normal(0, 0.1, (50, 12)).cumsum(1)), 130.0, 95.0,
                    np.full(50, np.nan)), barrier_option)  # fmt: skip
@cuda.jit
def up_and_out_payoffs(paths, barrier, strike, payoff):
    i = cuda.grid(1)
    if i < paths.shape[0]:
        alive = True
        k = 0
        while alive and k < paths.shape[1]:
            alive = paths[i, k] < barrier
            k += 1
        payoff[i] = max(paths[i, -1] - strike, 0.0) if alive else 0.0


def asian(normals, s0, out):
    dt = T / normals.shape[1]
    steps = (R - SIGMA**2 / 2) * dt + SIGMA * math.sqrt(dt) * normals
    mean = (s0 * np.exp(steps.cumsum(1))).mean(1)
    return [np.exp(-R * T) * np.maximum(mean - s0, 0).mean()]


@right(lambda rng: (rng.normal(size=(128, 10)), 100.0, np.zeros(1)), asian, grid=4, block=32)
@cuda.jit
def asian_option_by_warps(normals, s0, result):
    gid = cuda.grid(1)
    n_paths, n_steps = normals.shape
    dt = T / n_steps
    s, running = s0, 0.0
    for k in range(n_steps):
        s *= math.exp((R - 0.5 * SIGMA**2) * dt + SIGMA * math.sqrt(dt) * normals[gid, k])
        running += s
    pay = max(running / n_steps - s0, 0.0) * math.exp(-R * T)
    for off in (16, 8, 4, 2, 1):
        pay += cuda.shfl_down_sync(0xFFFFFFFF, pay, off)
    if cuda.threadIdx.x % cuda.warpsize == 0:
        cuda.atomic.add(result, 0, pay / n_paths)


@right(lambda rng: (create_xoroshiro128p_states(32, seed=7), 20, np.zeros(1, np.bool_)),
       lambda states, n, ok: [True], block=32)  # fmt: skip
@cuda.jit
def monte_carlo_pi_in_bounds(states, n, ok):
    tid = cuda.grid(1)
    inside = 0
    for _ in range(n):
        x = xoroshiro128p_uniform_float64(states, tid)
        y = xoroshiro128p_uniform_float64(states, tid)
        if x * x + y * y <= 1.0:
            inside += 1
    total = cuda.shared.array(1, int32)
    if tid == 0:
        total[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(total, 0, inside)
    cuda.syncthreads()
    if tid == 0:
        ok[0] = 2.9 < 4.0 * total[0] / (n * cuda.blockDim.x) < 3.4


@right(lambda rng: (create_xoroshiro128p_states(32, seed=3), 5, np.zeros((32, 6))),
       lambda states, steps, paths: paths_again(paths.shape), block=32)  # fmt: skip
@cuda.jit
def geometric_brownian_paths(states, steps, paths):
    i = cuda.grid(1)
    if i < paths.shape[0]:
        paths[i, 0] = 1.0
        for k in range(steps):
            z = xoroshiro128p_normal_float64(states, i)
            paths[i, k + 1] = paths[i, k] * math.exp(0.01 * z)


def paths_again(shape):
    """The same generator, written with Python's integers."""
    states = create_xoroshiro128p_states(32, seed=3)
    states = states.copy_to_host() if hasattr(states, "copy_to_host") else states
    mask, paths = 2**64 - 1, np.ones(shape)

    def rotated(x, k):
        return (x << k | x >> 64 - k) & mask

    for i, (s0, s1) in enumerate((int(a), int(b)) for a, b in states):

        def uniform():
            nonlocal s0, s1
            result = (s0 + s1) & mask
            s1 ^= s0
            s0 = rotated(s0, 55) ^ s1 ^ (s1 << 14 & mask)
            s1 = rotated(s1, 36)
            return (result >> 11) * 2.0**-53

        for k in range(shape[1] - 1):
            u1, u2 = uniform(), uniform()
            z = math.sqrt(-2 * math.log(u1)) * math.cos(2 * math.pi * u2)
            paths[i, k + 1] = paths[i, k] * math.exp(0.01 * z)
    return paths


def yields(prices, out):
    def value(y):
        return sum(5 / (1 + y) ** t for t in range(1, 11)) + 100 / (1 + y) ** 10

    found = []
    for price in prices:
        low, high = 0.0, 1.0
        while high - low > 1e-12:
            middle = (low + high) / 2
            low, high = (middle, high) if value(middle) > price else (low, middle)
        found.append(low)
    return found


@right(lambda rng: (rng.uniform(60, 130, 30), np.zeros(30)), yields)
@cuda.jit
def bond_yield_by_newton(prices, out):
    idx = cuda.grid(1)
    if idx < prices.size:
        y = 0.05
        for _ in range(50):
            f = -prices[idx]
            df = 0.0
            for t in range(1, 11):
                cf = 5.0 if t < 10 else 105.0
                f += cf / (1 + y) ** t
                df -= t * cf / (1 + y) ** (t + 1)
            step = f / df
            y -= step
            if abs(step) < 1e-12:
                break
        out[idx] = y


def moving(x, window, out):
    return [x[max(0, i - window + 1) : i + 1].mean() for i in range(x.size)]


@right(lambda rng: (rng.random(90), 7, np.zeros(90)), moving, grid=3, block=32)
@cuda.jit
def moving_average(x, window, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        start = max(0, i - window + 1)
        acc = 0.0
        for v in x[start : i + 1]:
            acc += v
        out[i] = acc / (i + 1 - start)


def exponential(x, alpha, out):
    rows = [x[:, 0]]
    for t in range(1, x.shape[1]):
        rows.append(alpha * x[:, t] + (1 - alpha) * rows[-1])
    return np.stack(rows, 1)


@right(lambda rng: (rng.random((20, 30)), 0.3, np.zeros((20, 30))), exponential)
@cuda.jit
def exponential_average_per_asset(x, alpha, ema):
    asset = cuda.grid(1)
    if asset < x.shape[0]:
        ema[asset, 0] = x[asset, 0]
        for t in range(1, x.shape[1]):
            ema[asset, t] = alpha * x[asset, t] + (1 - alpha) * ema[asset, t - 1]


def traded(rng):
    ticks = np.zeros(90, TICK)
    ticks["price"], ticks["volume"] = rng.random(90), rng.integers(1, 50, 90)
    return ticks, np.zeros(3)


def average_prices(ticks, out):
    price, volume = ticks["price"].reshape(3, 30), ticks["volume"].reshape(3, 30)
    return (price * volume).sum(1) / volume.sum(1)


@right(traded, average_prices, block=32)
@cuda.jit
def volume_weighted_price_of_packed_records(ticks, out):
    i = cuda.grid(1)
    if i < out.size:
        paid, volume = 0.0, 0
        for k in range(30 * i, 30 * (i + 1)):
            paid += ticks[k].price * ticks[k].volume
            volume += ticks[k].volume
        out[i] = paid / volume


def drawdowns(x, out):
    peak = np.maximum.accumulate(x, 1)
    return ((peak - x) / peak).max(1)


@right(lambda rng: (1 + rng.random((33, 25)), np.zeros(33)), drawdowns, grid=2, block=32)
@cuda.jit
def max_drawdown(equity, out):
    i = cuda.blockDim.x * cuda.blockIdx.x + cuda.threadIdx.x
    if i >= equity.shape[0]:
        return
    peak = -math.inf
    worst = 0.0
    for value in equity[i]:
        peak = max(peak, value)
        worst = max(worst, (peak - value) / peak)
    out[i] = worst


def correlations(x, out):
    return np.corrcoef(x)


@right(lambda rng: (rng.random((12, 40)), np.zeros((12, 12))), correlations, grid=(2, 2),
       block=(8, 8))  # fmt: skip
@cuda.jit
def correlation_matrix(x, corr):
    a, b = cuda.grid(2)
    n, m = x.shape
    if a >= n or b >= n:
        return
    sa = sb = saa = sbb = sab = 0.0
    for t in range(m):
        xa, xb = x[a, t], x[b, t]
        sa += xa
        sb += xb
        saa += xa * xa
        sbb += xb * xb
        sab += xa * xb
    cov = sab / m - sa / m * (sb / m)
    corr[a, b] = cov / math.sqrt((saa / m - (sa / m) ** 2) * (sbb / m - (sb / m) ** 2))


def tridiagonal(lower, diag, upper, rhs, x):
    n = diag.shape[1]
    return np.stack([
        np.linalg.solve(np.diag(d) + np.diag(low[1:], -1) + np.diag(up[: n - 1], 1), r)
        for low, d, up, r in zip(lower, diag, upper, rhs)
    ])  # fmt: skip


@right(lambda rng: (rng.random((10, 12)), 3 + rng.random((10, 12)), rng.random((10, 12)),
                    rng.random((10, 12)), np.zeros((10, 12))), tridiagonal)  # fmt: skip
@cuda.jit
def thomas_algorithm_per_system(a, b, c, d, x):
    s = cuda.grid(1)
    if s >= b.shape[0]:
        return
    n = b.shape[1]
    cp = cuda.local.array(12, dtype=float64)
    dp = cuda.local.array(12, dtype=float64)
    cp[0] = c[s, 0] / b[s, 0]
    dp[0] = d[s, 0] / b[s, 0]
    for i in range(1, n):
        m = b[s, i] - a[s, i] * cp[i - 1]
        cp[i] = c[s, i] / m
        dp[i] = (d[s, i] - a[s, i] * dp[i - 1]) / m
    x[s, n - 1] = dp[n - 1]
    for i in range(n - 2, -1, -1):
        x[s, i] = dp[i] - cp[i] * x[s, i + 1]
