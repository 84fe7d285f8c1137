"""Right kernels of physics: particles, waves, fluids, spins, fields on grids."""

import math

import numpy as np
from numba import cuda, float32, float64, int32

from . import collector

CASES, right = collector()
SOFTENING = 1e-3
THREADS_PER_BLOCK = 32
CX = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1], np.int32)
CY = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1], np.int32)
WEIGHTS = np.array([4 / 9] + 4 * [1 / 9] + 4 * [1 / 36])
BODY = np.dtype([("pos", np.float64, (2,)), ("vel", np.float64, (2,)), ("mass", np.float64)])


def gravity(pos, mass, acc):
    r = pos[None, :, :] - pos[:, None, :]
    dist = np.sqrt((r**2).sum(-1) + SOFTENING**2)
    np.fill_diagonal(dist, np.inf)
    return (mass[None, :, None] * r / dist[..., None] ** 3).sum(1)


@right(lambda rng: (rng.random((50, 3)), rng.random(50), np.zeros((50, 3))), gravity)
@cuda.jit
def compute_accelerations(pos, mass, acc):
    i = cuda.grid(1)
    n = pos.shape[0]
    if i >= n:
        return
    ax = 0.0
    ay = 0.0
    az = 0.0
    for j in range(n):
        if j == i:
            continue
        dx = pos[j, 0] - pos[i, 0]
        dy = pos[j, 1] - pos[i, 1]
        dz = pos[j, 2] - pos[i, 2]
        inv_r3 = (dx**2 + dy**2 + dz**2 + SOFTENING**2) ** -1.5
        ax += mass[j] * dx * inv_r3
        ay += mass[j] * dy * inv_r3
        az += mass[j] * dz * inv_r3
    acc[i, 0] = ax
    acc[i, 1] = ay
    acc[i, 2] = az


def spins(rng):
    return rng.choice(np.array([-1, 1], np.int8), (16, 24)), rng.random((16, 24)), 0.44


def metropolis(color, lattice, rand, beta, out):
    around = sum(np.roll(lattice.astype(int), s, a) for s in (1, -1) for a in (0, 1))
    flips = rand < np.exp(-2 * beta * lattice * around)
    rows, columns = np.indices(lattice.shape)
    return np.where(((rows + columns) % 2 == color) & flips, -lattice, lattice)


@right(lambda rng: (0, *spins(rng), np.zeros((16, 24), np.int8)), metropolis,
       grid=(1, 2), block=(16, 16))  # fmt: skip
@cuda.jit
def ising_checkerboard(color, lattice, rand, beta, out):
    x, y = cuda.grid(2)
    nx, ny = lattice.shape
    if x >= nx or y >= ny:
        return
    s = lattice[x, y]
    if (x + y) % 2 == color:
        nn = (
            lattice[(x + 1) % nx, y]
            + lattice[x - 1 if x > 0 else nx - 1, y]
            + lattice[x, (y + 1) % ny]
            + lattice[x, (y - 1 + ny) % ny]
        )
        if rand[x, y] < math.exp(-2.0 * beta * s * nn):
            s = -s
    out[x, y] = s


def magnet(lattice, energy):
    s = lattice.astype(int)
    return [-(s * np.roll(s, -1, 0) + s * np.roll(s, -1, 1)).sum()]


@right(lambda rng: (spins(rng)[0], np.zeros(1, np.int64)), magnet, grid=3, block=128)
@cuda.jit
def ising_energy(lattice, energy):
    idx = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    rows, cols = lattice.shape
    local = 0
    if idx < rows * cols:
        r, c = divmod(idx, cols)
        local = -lattice[r, c] * (lattice[(r + 1) % rows, c] + lattice[r, (c + 1) % cols])
    block_energy = cuda.shared.array(1, int32)
    if cuda.threadIdx.x == 0:
        block_energy[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(block_energy, 0, local)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(energy, 0, block_energy[0])


def equilibrium(f):
    rho = f.sum(0)
    ux, uy = np.tensordot(CX, f, 1) / rho, np.tensordot(CY, f, 1) / rho
    cu = 3 * (CX[:, None, None] * ux + CY[:, None, None] * uy)
    return WEIGHTS[:, None, None] * rho * (1 + cu + cu**2 / 2 - 1.5 * (ux**2 + uy**2))


def boltzmann(f, omega, out):
    after = f + omega * (equilibrium(f) - f)
    return np.stack([np.roll(p, (x, y), (0, 1)) for p, x, y in zip(after, CX, CY)])


@right(lambda rng: (1 + rng.random((9, 12, 10)), 1.2, np.zeros((9, 12, 10))), boltzmann,
       grid=(2, 2), block=(8, 8))  # fmt: skip
@cuda.jit
def lattice_boltzmann_collide_and_stream(f, omega, f_new):
    x, y = cuda.grid(2)
    nx, ny = f.shape[1], f.shape[2]
    if x < nx and y < ny:
        rho = ux = uy = 0.0
        for k in range(9):
            fk = f[k, x, y]
            rho += fk
            ux += CX[k] * fk
            uy += CY[k] * fk
        ux /= rho
        uy /= rho
        usq = 1.5 * (ux * ux + uy * uy)
        for k in range(9):
            cu = 3.0 * (CX[k] * ux + CY[k] * uy)
            feq = WEIGHTS[k] * rho * (1.0 + cu + 0.5 * cu * cu - usq)
            xn = (x + CX[k] + nx) % nx
            yn = (y + CY[k] + ny) % ny
            f_new[k, xn, yn] = f[k, x, y] + omega * (feq - f[k, x, y])


def magnetic(ez, hx, hy):
    want = hy.copy()
    want[:-1] += 0.5 * (ez[1:] - ez[:-1])
    return want


@right(lambda rng: (rng.random((20, 14)), rng.random((20, 14)), rng.random((20, 14))), magnetic,
       grid=(3, 2), block=(8, 8))  # fmt: skip
@cuda.jit
def fdtd_update_h(ez, hx, hy):
    i, j = cuda.grid(2)
    if i < ez.shape[0] and j < ez.shape[1] - 1:
        hx[i, j] -= 0.5 * (ez[i, j + 1] - ez[i, j])
    if i < ez.shape[0] - 1 and j < ez.shape[1]:
        hy[i, j] += 0.5 * (ez[i + 1, j] - ez[i, j])


def electric(hx, hy, source, ez):
    want = ez.copy()
    want[1:, 1:] += 0.5 * (hy[1:, 1:] - hy[:-1, 1:] - hx[1:, 1:] + hx[1:, :-1])
    want[5, 7] += source
    return want


@right(lambda rng: (rng.random((12, 14)), rng.random((12, 14)), 0.7, rng.random((12, 14))),
       electric, grid=(2, 2), block=(8, 8))  # fmt: skip
@cuda.jit
def fdtd_update_e_with_source(hx, hy, source, ez):
    i, j = cuda.grid(2)
    if 1 <= i < ez.shape[0] and 1 <= j < ez.shape[1]:
        ez[i, j] += 0.5 * ((hy[i, j] - hy[i - 1, j]) - (hx[i, j] - hx[i, j - 1]))
        if i == 5 and j == 7:
            ez[i, j] += source


def conduction(steps, u0, out):
    u = u0.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


@right(lambda rng: (7, rng.random(64), np.zeros(64)), conduction, block=64)
@cuda.jit
def heat_in_a_rod_within_one_block(steps, u0, out):
    u = cuda.shared.array(64, float64)
    i = cuda.threadIdx.x
    u[i] = u0[i]
    cuda.syncthreads()
    for _ in range(steps):
        new = u[i]
        if i > 0 and i < 63:
            new += 0.2 * (u[i + 1] - 2 * u[i] + u[i - 1])
        cuda.syncthreads()
        u[i] = new
        cuda.syncthreads()
    out[i] = u[i]


def cubic_spline(x, h, rho):
    q = np.abs(x[:, None] - x[None]) / h
    w = np.where(q < 1, 1 - 1.5 * q**2 + 0.75 * q**3, np.where(q < 2, 0.25 * (2 - q) ** 3, 0))
    return (w * 2 / (3 * h)).sum(1)


@cuda.jit(device=True, inline=True)
def kernel_w(q, h):
    sigma = 2.0 / (3.0 * h)
    if q < 1.0:
        return sigma * (1.0 - 1.5 * q * q + 0.75 * q * q * q)
    elif q < 2.0:
        return sigma * 0.25 * (2.0 - q) ** 3
    return 0.0


@right(lambda rng: (np.sort(rng.random(45)), 0.08, np.zeros(45)), cubic_spline, grid=2, block=32)
@cuda.jit
def sph_density(x, h, rho):
    tid = cuda.grid(1)
    if tid < x.shape[0]:
        dens = 0.0
        for j in range(x.shape[0]):
            dens += kernel_w(math.fabs(x[tid] - x[j]) / h, h)
        rho[tid] = dens


def near(pos, cutoff, count, table):
    d = np.sqrt(((pos[:, None] - pos[None]) ** 2).sum(-1))
    want = np.full(table.shape, -1)
    for i, row in enumerate(d):
        found = [j for j in np.flatnonzero(row < cutoff) if j != i][: table.shape[1]]
        want[i, : len(found)] = found
    return want


@right(lambda rng: (rng.random((40, 2)), 0.25, np.zeros(40, np.int32),
                    np.full((40, 12), -1, np.int32)), near)  # fmt: skip
@cuda.jit
def build_verlet_list(pos, cutoff, count, table):
    i = cuda.grid(1)
    if i < len(pos):
        k = 0
        for j in range(len(pos)):
            if i != j:
                dx = pos[i, 0] - pos[j, 0]
                dy = pos[i, 1] - pos[j, 1]
                if dx * dx + dy * dy < cutoff * cutoff and k < table.shape[1]:
                    table[i, k] = j
                    k += 1
        count[i] = k


def cells_of(pos, cells, order):
    x, y = (pos * cells).astype(int).T
    return np.bincount(x + y * cells, minlength=cells * cells)


@right(lambda rng: (rng.random((100, 2)), 6, np.zeros(36, np.uint32)), cells_of, grid=2)
@cuda.jit
def particles_per_cell(pos, cells, counts):
    i = cuda.grid(1)
    if i < pos.shape[0]:
        cx = min(int(pos[i, 0] * cells), cells - 1)
        cy = min(int(pos[i, 1] * cells), cells - 1)
        cuda.atomic.add(counts, cx + cy * cells, 1)


def from_cells(rng):
    x = np.sort(rng.random(60))
    starts = np.searchsorted(x, np.arange(11) / 10)
    return x, starts, 0.1, np.zeros(60, np.int32)


def neighbours(x, starts, width, out):
    return (np.abs(x[:, None] - x[None]) < width).sum(1) - 1


@right(from_cells, neighbours)
@cuda.jit
def neighbours_in_the_cells_around(x, starts, width, out):
    i = cuda.grid(1)
    if i < x.size:
        n_cells = starts.size - 1
        home = int(x[i] / width)
        found = 0
        for cell in range(max(0, home - 1), min(n_cells, home + 2)):
            for j in range(starts[cell], starts[cell + 1]):
                if j != i and abs(x[j] - x[i]) < width:
                    found += 1
        out[i] = found


def orbits(steps, dt, state, out):
    x, v = state[:, 0].copy(), state[:, 1].copy()
    for _ in range(steps):
        half = v - x * dt / 2
        x = x + half * dt
        v = half - x * dt / 2
    return np.stack([x, v], 1)


@right(lambda rng: (25, 0.05, rng.random((30, 2)), np.zeros((30, 2))), orbits)
@cuda.jit
def leapfrog_oscillators(steps, dt, state, out):
    i = cuda.grid(1)
    if i >= state.shape[0]:
        return
    x, v = state[i]
    for _ in range(steps):
        v -= 0.5 * dt * x
        x += dt * v
        v -= 0.5 * dt * x
    out[i, 0], out[i, 1] = x, v


def argon(pos, box, potential):
    d = pos[:, None] - pos[None]
    d -= box * np.rint(d / box)
    r2 = (d**2).sum(-1)
    np.fill_diagonal(r2, np.inf)
    inv6 = np.where(r2 < 6.25, 1 / r2**3, 0)
    return [2 * (inv6**2 - inv6).sum()]


@right(lambda rng: (np.stack(np.meshgrid(*3 * [1.7 * np.arange(4)]), -1).reshape(-1, 3)
                    + 0.2 * rng.random((64, 3)), 6.8, np.zeros(1)), argon,
       grid=2, block=THREADS_PER_BLOCK)  # fmt: skip
@cuda.jit
def lennard_jones_energy(pos, box, potential):
    cache = cuda.shared.array(shape=(THREADS_PER_BLOCK), dtype=float64)
    tid = cuda.threadIdx.x
    i = cuda.grid(1)
    e = 0.0
    if i < pos.shape[0]:
        for j in range(i + 1, pos.shape[0]):
            r2 = 0.0
            for d in range(3):
                delta = pos[i, d] - pos[j, d]
                delta -= box * round(delta / box)
                r2 += delta * delta
            if r2 < 2.5**2:
                s6 = (1.0 / r2) ** 3
                e += 4.0 * s6 * (s6 - 1.0)
    cache[tid] = e
    cuda.syncthreads()
    s = THREADS_PER_BLOCK // 2
    while s != 0:
        if tid < s:
            cache[tid] += cache[tid + s]
        cuda.syncthreads()
        s //= 2
    if tid == 0:
        cuda.atomic.add(potential, 0, cache[0])


def red_black(color, omega, rhs, u):
    want = u.copy()
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            if (i + j) % 2 == color:
                around = want[i - 1, j] + want[i + 1, j] + want[i, j - 1] + want[i, j + 1]
                want[i, j] += omega * ((around - rhs[i, j]) / 4 - want[i, j])
    return want


@right(lambda rng: (1, 1.5, rng.random((14, 18)), rng.random((14, 18))), red_black,
       grid=(2, 2), block=(16, 16))  # fmt: skip
@cuda.jit
def red_black_relaxation(color, omega, rhs, u):
    j = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    i = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if i == 0 or j == 0 or i >= u.shape[0] - 1 or j >= u.shape[1] - 1:
        return
    if (i + j) & 1 != color:
        return
    res = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - rhs[i, j]) - u[i, j]
    u[i, j] += omega * res


def gray_scott(u, v, out):
    def laplace(a):
        return sum(np.roll(a, s, k) for s in (1, -1) for k in (0, 1)) - 4 * a

    uvv = u * v * v
    return np.stack([u + 0.16 * laplace(u) - uvv + 0.035 * (1 - u),
                     v + 0.08 * laplace(v) + uvv - (0.035 + 0.065) * v])  # fmt: skip


@cuda.jit(device=True)
def periodic_laplacian(a, i, j):
    n, m = a.shape
    up, down = (i - 1) % n, (i + 1) % n
    left, right_ = (j - 1) % m, (j + 1) % m
    return a[up, j] + a[down, j] + a[i, left] + a[i, right_] - 4 * a[i, j]


@right(lambda rng: (rng.random((10, 12)), rng.random((10, 12)), np.zeros((2, 10, 12))),
       gray_scott, grid=(2, 2), block=(8, 8))  # fmt: skip
@cuda.jit
def reaction_and_diffusion(u, v, out):
    i, j = cuda.grid(2)
    n, m = u.shape
    if i < n and j < m:
        feed, kill = 0.035, 0.065
        uvv = u[i, j] * v[i, j] ** 2
        out[0, i, j] = u[i, j] + 0.16 * periodic_laplacian(u, i, j) - uvv + feed * (1 - u[i, j])
        out[1, i, j] = v[i, j] + 0.08 * periodic_laplacian(v, i, j) + uvv - (feed + kill) * v[i, j]


def deposit(x, weight, rho):
    cell = np.floor(x).astype(int)
    frac = x - cell
    n = rho.size
    return np.bincount(cell % n, weight * (1 - frac), n) + np.bincount(
        (cell + 1) % n, weight * frac, n
    )


@right(lambda rng: (rng.random(200) * 16, rng.random(200), np.zeros(16)), deposit, grid=4)
@cuda.jit
def charge_deposition_cloud_in_cell(x, weight, rho):
    p = cuda.grid(1)
    if p < x.size:
        cell = int(math.floor(x[p]))
        frac = x[p] - cell
        cuda.atomic.add(rho, cell, weight[p] * (1.0 - frac))
        cuda.atomic.add(rho, (cell + 1) % rho.size, weight[p] * frac)


def swarm(rng):
    b = np.zeros(36, BODY)
    b["pos"], b["vel"], b["mass"] = rng.random((36, 2)), rng.normal(size=(36, 2)), 1
    return b


def bounced(bodies, dt, out):
    pos = bodies["pos"] + dt * bodies["vel"]
    return np.where(pos < 0, -pos, np.where(pos > 1, 2 - pos, pos))


@right(lambda rng: (swarm(rng), 0.3, np.zeros((36, 2))), bounced)
@cuda.jit
def balls_that_bounce_off_walls(bodies, dt, out):
    i = cuda.grid(1)
    if i < bodies.shape[0]:
        b = bodies[i]
        for d in range(2):
            b.pos[d] += dt * b.vel[d]
            if b.pos[d] < 0:
                b.pos[d] = -b.pos[d]
                b.vel[d] = -b.vel[d]
            elif b.pos[d] > 1:
                b.pos[d] = 2 - b.pos[d]
                b.vel[d] *= -1
            out[i, d] = bodies[i].pos[d]


def shock(rho, mom, flux):
    speed = mom / rho
    f = rho * speed**2 + rho**2 / 2
    a = np.maximum(np.abs(speed[1:]) + np.sqrt(rho[1:]), np.abs(speed[:-1]) + np.sqrt(rho[:-1]))
    return (f[1:] + f[:-1]) / 2 - a / 2 * (mom[1:] - mom[:-1])


@cuda.jit(device=True)
def wave_speed(rho, mom):
    return abs(mom / rho) + math.sqrt(rho)


@right(lambda rng: (1 + rng.random(70), rng.random(70) - 0.5, np.zeros(69)), shock, grid=3,
       block=32)  # fmt: skip
@cuda.jit("void(float64[:], float64[:], float64[:])")
def rusanov_flux_of_shallow_water(rho, mom, flux):
    i = cuda.grid(1)
    if i < flux.shape[0]:
        fl = mom[i] ** 2 / rho[i] + 0.5 * rho[i] ** 2
        fr = mom[i + 1] ** 2 / rho[i + 1] + 0.5 * rho[i + 1] ** 2
        a = max(wave_speed(rho[i], mom[i]), wave_speed(rho[i + 1], mom[i + 1]))
        flux[i] = 0.5 * (fl + fr) - 0.5 * a * (mom[i + 1] - mom[i])


def advect(speed, q, out):
    i = np.arange(q.size)
    origin = (i - speed) % q.size
    left = np.floor(origin).astype(int)
    w = origin - left
    return (1 - w) * q[left] + w * q[(left + 1) % q.size]


@right(lambda rng: (2.3, rng.random(50), np.zeros(50)), advect)
@cuda.jit
def semi_lagrangian_advection(speed, q, out):
    i = cuda.grid(1)
    n = len(q)
    if i < n:
        origin = (i - speed) % n
        left = int(origin)
        w = origin - left
        out[i] = (1 - w) * q[left] + w * q[(left + 1) % n]


def wind(p, vx, vy, div):
    want = np.zeros_like(p)
    inner = slice(1, -1)
    dx = (vx[2:, inner] - vx[:-2, inner]) / 2
    want[inner, inner] = -(dx + (vy[inner, 2:] - vy[inner, :-2]) / 2)
    return want


@right(lambda rng: (*rng.random((3, 18, 18), np.float32), np.zeros((18, 18), np.float32)), wind,
       grid=(3, 3), block=(8, 8))  # fmt: skip
@cuda.jit
def divergence_from_a_tile_with_halo(p, vx, vy, div):
    sx = cuda.shared.array((10, 10), float32)
    sy = cuda.shared.array((10, 10), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    gx, gy = cuda.grid(2)
    n, m = p.shape
    inside = gx < n and gy < m
    if inside:
        sx[tx + 1, ty + 1] = vx[gx, gy]
        sy[tx + 1, ty + 1] = vy[gx, gy]
        if tx == 0 and gx > 0:
            sx[0, ty + 1] = vx[gx - 1, gy]
        if tx == cuda.blockDim.x - 1 and gx + 1 < n:
            sx[tx + 2, ty + 1] = vx[gx + 1, gy]
        if ty == 0 and gy > 0:
            sy[tx + 1, 0] = vy[gx, gy - 1]
        if ty == cuda.blockDim.y - 1 and gy + 1 < m:
            sy[tx + 1, ty + 2] = vy[gx, gy + 1]
    cuda.syncthreads()
    if inside and gx > 0 and gy > 0 and gx < n - 1 and gy < m - 1:
        dudx = (sx[tx + 2, ty + 1] - sx[tx, ty + 1]) / 2
        dvdy = (sy[tx + 1, ty + 2] - sy[tx + 1, ty]) / 2
        div[gx, gy] = -(dudx + dvdy)
