"""Right kernels of linear algebra: sparse matrices, batches of small ones, tiles, rotations."""

import math
from itertools import pairwise

import numpy as np
from numba import complex64, cuda, float32, float64, int32

from . import collector

CASES, right = collector()
TPB = 8
BM = BN = 32
BK = 8
N = 6


def entries(rng, rows=14, columns=17):
    """Return a random sparse matrix: dense, and its rows, columns and values in order."""
    dense = np.where(rng.random((rows, columns)) < 0.25, rng.random((rows, columns)), 0)
    r, c = np.nonzero(dense)
    return dense, r.astype(np.int32), c.astype(np.int32), dense[r, c]


def csr(rng):
    dense, r, c, values = entries(rng)
    return np.searchsorted(r, np.arange(dense.shape[0] + 1)).astype(np.int32), c, values


def from_csr(indptr, indices, data, columns):
    dense = np.zeros((indptr.size - 1, columns))
    for i in range(indptr.size - 1):
        dense[i, indices[indptr[i] : indptr[i + 1]]] = data[indptr[i] : indptr[i + 1]]
    return dense


@right(lambda rng: (*csr(rng), rng.random((17, 5)), np.zeros((14, 5))),
       lambda p, i, v, b, c: from_csr(p, i, v, 17) @ b, grid=(4, 2), block=(4, 4))  # fmt: skip
@cuda.jit
def csr_times_dense(indptr, indices, data, b, c):
    row, col = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        acc = 0.0
        for k in range(indptr[row], indptr[row + 1]):
            acc += data[k] * b[indices[k], col]
        c[row, col] = acc


@right(lambda rng: (*csr(rng), rng.random(17), np.zeros(14)),
       lambda p, i, v, x, y: from_csr(p, i, v, 17) @ x, grid=7, block=64)  # fmt: skip
@cuda.jit
def csr_vector_kernel(indptr, indices, data, x, y):
    thread_id = cuda.grid(1)
    warp_id = thread_id // 32
    lane = thread_id & (32 - 1)
    if warp_id < y.size:
        s = 0.0
        for jj in range(indptr[warp_id] + lane, indptr[warp_id + 1], 32):
            s += data[jj] * x[indices[jj]]
        for i in range(5):
            s += cuda.shfl_xor_sync(0xFFFFFFFF, s, 16 >> i)
        if lane == 0:
            y[warp_id] = s


def ell(rng):
    dense, _, _, _ = entries(rng)
    width = (dense != 0).sum(1).max()
    columns = np.full((width, 14), -1, np.int32)
    values = np.zeros((width, 14))
    for i, row in enumerate(dense):
        found = np.flatnonzero(row)
        columns[: found.size, i], values[: found.size, i] = found, row[found]
    return columns, values, rng.random(17), np.zeros(14)


def ell_product(columns, values, x, y):
    return np.where(columns >= 0, values * x[columns], 0).sum(0)


@right(ell, ell_product)
@cuda.jit
def ellpack_spmv(columns, values, x, y):
    row = cuda.grid(1)
    if row < y.shape[0]:
        dot = 0.0
        for k in range(columns.shape[0]):
            col = columns[k, row]
            if col < 0:
                break
            dot += values[k, row] * x[col]
        y[row] = dot


def coo_transposed(r, c, v, x, y):
    return np.bincount(c, v * x[r], minlength=17)


@right(lambda rng: (*entries(rng)[1:], rng.random(14), np.zeros(17)), coo_transposed, grid=1,
       block=32)  # fmt: skip
@cuda.jit
def coo_transposed_product(row, col, val, x, y):
    start = cuda.grid(1)
    stride = cuda.gridsize(1)
    for i in range(start, val.shape[0], stride):
        cuda.atomic.add(y, col[i], val[i] * x[row[i]])


def densified(r, c, v, out):
    out[r, c] = v
    return out


@right(lambda rng: (*entries(rng)[1:], np.zeros((14, 17))), densified, grid=3, block=32)
@cuda.jit
def coo_to_dense(row, col, val, out):
    k = cuda.grid(1)
    if k < len(row):
        out[row[k], col[k]] = val[k]


def block_sparse(starts, columns, blocks, x, y):
    return [sum(b @ x[4 * c : 4 * c + 4] for b, c in zip(blocks[s:e], columns[s:e]))
            for s, e in pairwise(starts)]  # fmt: skip


@right(lambda rng: (np.array([0, 2, 3, 5]), np.array([0, 2, 1, 0, 2]), rng.random((5, 4, 4)),
                    rng.random(12), np.zeros((3, 4))),
       block_sparse, grid=3, block=(4, 4))  # fmt: skip
@cuda.jit
def block_sparse_row_product(starts, columns, blocks, x, y):
    partial = cuda.shared.array((4, 4), float64)
    brow = cuda.blockIdx.x
    i, j = cuda.threadIdx.y, cuda.threadIdx.x
    acc = 0.0
    for b in range(starts[brow], starts[brow + 1]):
        acc += blocks[b, i, j] * x[4 * columns[b] + j]
    partial[i, j] = acc
    cuda.syncthreads()
    if j == 0:
        y[brow, i] = partial[i, 0] + partial[i, 1] + partial[i, 2] + partial[i, 3]


def spd(rng, *batch):
    a = rng.random((*batch, N, N))
    return a @ np.swapaxes(a, -1, -2) + N * np.eye(N)


def lu(a):
    want = a.copy()
    for m in want:
        for k in range(N):
            m[k + 1 :, k] /= m[k, k]
            m[k + 1 :, k + 1 :] -= np.outer(m[k + 1 :, k], m[k, k + 1 :])
    return want


@right(lambda rng: (spd(rng, 20),), lu)
@cuda.jit
def batched_lu_one_thread_each(a):
    b = cuda.grid(1)
    if b >= a.shape[0]:
        return
    n = a.shape[1]
    for k in range(n):
        for i in range(k + 1, n):
            a[b, i, k] /= a[b, k, k]
            for j in range(k + 1, n):
                a[b, i, j] -= a[b, i, k] * a[b, k, j]


@right(lambda rng: (spd(rng, 3), np.zeros((3, N, N))), lambda a, out: np.linalg.cholesky(a),
       grid=3, block=(N, N))  # fmt: skip
@cuda.jit
def cholesky_of_a_tile(a, out):
    s = cuda.shared.array((N, N), float64)
    i, j, b = cuda.threadIdx.y, cuda.threadIdx.x, cuda.blockIdx.x
    s[i, j] = a[b, i, j]
    cuda.syncthreads()
    for k in range(N):
        if i == k and j == k:
            s[k, k] = math.sqrt(s[k, k])
        cuda.syncthreads()
        if j == k and i > k:
            s[i, k] /= s[k, k]
        cuda.syncthreads()
        if j > k and i >= j:
            s[i, j] -= s[i, k] * s[j, k]
        cuda.syncthreads()
    out[b, i, j] = s[i, j] if i >= j else 0.0


@right(lambda rng: (np.tril(rng.random((20, 20))) + 3 * np.eye(20), rng.random(20), np.zeros(20)),
       lambda low, b, x: np.linalg.solve(low, b), block=32)  # fmt: skip
@cuda.jit
def forward_substitution(low, b, x):
    rhs = cuda.shared.array(32, float64)
    t = cuda.threadIdx.x
    n = low.shape[0]
    if t < n:
        rhs[t] = b[t]
    cuda.syncthreads()
    for k in range(n):
        if t == k:
            rhs[k] /= low[k, k]
        cuda.syncthreads()
        if t > k and t < n:
            rhs[t] -= low[t, k] * rhs[k]
        cuda.syncthreads()
    if t < n:
        x[t] = rhs[t]


@right(lambda rng: (np.triu(rng.random((9, 9))) + 2 * np.eye(9), rng.random((9, 12)),
                    np.zeros((9, 12))),
       lambda u, b, x: np.linalg.solve(u, b), block=16)  # fmt: skip
@cuda.jit
def back_substitution_per_column(u, b, x):
    col = cuda.grid(1)
    if col < b.shape[1]:
        n = u.shape[0]
        for i in range(n - 1, -1, -1):
            acc = b[i, col]
            for j in range(i + 1, n):
                acc -= u[i, j] * x[j, col]
            x[i, col] = acc / u[i, i]


def upper(a, out):
    r = np.linalg.qr(a)[1]
    return r * np.sign(np.diag(r))[:, None]


@right(lambda rng: (rng.random((7, 7)) + np.eye(7), np.zeros((7, 7))), upper, block=32)
@cuda.jit
def qr_by_givens(a, r):
    work = cuda.shared.array((7, 7), float64)
    col = cuda.threadIdx.x
    n = a.shape[0]
    if col < n:
        for i in range(n):
            work[i, col] = a[i, col]
    cuda.syncthreads()
    for j in range(n - 1):
        for i in range(j + 1, n):
            p, q = work[j, j], work[i, j]
            h = math.hypot(p, q)
            c, s = p / h, q / h
            cuda.syncthreads()
            if j <= col < n:
                top, bottom = work[j, col], work[i, col]
                work[j, col] = c * top + s * bottom
                work[i, col] = c * bottom - s * top
            cuda.syncthreads()
    if col < n:
        sign = math.copysign(1.0, work[n - 1, n - 1])
        for i in range(n):
            value = work[i, col] if i <= col else 0.0
            r[i, col] = sign * value if i == n - 1 else value


def jacobi_step(a, b, x, out):
    return (b - (a - np.diag(np.diag(a))) @ x) / np.diag(a)


@right(lambda rng: (spd(rng), rng.random(N), rng.random(N), np.zeros(N)), jacobi_step, grid=2,
       block=4)  # fmt: skip
@cuda.jit
def jacobi_iteration(a, b, x, x_new):
    i = cuda.grid(1)
    if i < len(x):
        sigma = 0.0
        for j in range(len(x)):
            if j != i:
                sigma += a[i][j] * x[j]
        x_new[i] = (b[i] - sigma) / a[i][i]


@right(lambda rng: (spd(rng), np.zeros(N)), lambda a, out: np.linalg.eigvalsh(a), block=32)
@cuda.jit
def eigenvalues_by_cyclic_jacobi(a, out):
    if cuda.threadIdx.x != 0:
        return
    for _ in range(12):
        for p in range(N - 1):
            for q in range(p + 1, N):
                if abs(a[p, q]) < 1e-15:
                    continue
                theta = (a[q, q] - a[p, p]) / (2 * a[p, q])
                t = math.copysign(1, theta) / (abs(theta) + math.sqrt(theta * theta + 1))
                c = 1 / math.sqrt(t * t + 1)
                s = t * c
                for k in range(N):
                    u, v = a[k, p], a[k, q]
                    a[k, p], a[k, q] = c * u - s * v, s * u + c * v
                for k in range(N):
                    u, v = a[p, k], a[q, k]
                    a[p, k], a[q, k] = c * u - s * v, s * u + c * v
    for i in range(N):
        smaller = 0
        for j in range(N):
            if a[j, j] < a[i, i] or (a[j, j] == a[i, i] and j < i):
                smaller += 1
        out[smaller] = a[i, i]


def product(*shape_and_type):
    m, k, n, dtype = shape_and_type
    return lambda rng: (rng.random((m, k)).astype(dtype), rng.random((k, n)).astype(dtype),
                        np.zeros((m, n), dtype))  # fmt: skip


@right(product(24, 24, 24, np.float32), lambda a, b, c: a @ b, grid=(3, 3), block=(TPB, TPB))
@cuda.jit("void(float32[:,:], float32[:,:], float32[:,:])")
def fast_matmul_of_the_documentation(A, B, C):
    sA = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
    sB = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    bpg = cuda.gridDim.x
    tmp = float32(0.0)
    for i in range(bpg):
        sA[ty, tx] = 0
        sB[ty, tx] = 0
        if y < A.shape[0] and (tx + i * TPB) < A.shape[1]:
            sA[ty, tx] = A[y, tx + i * TPB]
        if x < B.shape[1] and (ty + i * TPB) < B.shape[0]:
            sB[ty, tx] = B[ty + i * TPB, x]
        cuda.syncthreads()
        for j in range(TPB):
            tmp += sA[ty, j] * sB[j, tx]
        cuda.syncthreads()
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = tmp


@right(product(40, 24, 37, np.float32), lambda a, b, c: a @ b, grid=(2, 2), block=64)
@cuda.jit
def gemm_with_4x4_per_thread(a, b, c):
    As = cuda.shared.array((BK, BM), float32)
    Bs = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array((4, 4), float32)
    tid = cuda.threadIdx.x
    row0, col0 = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    tr, tc = tid // 8, tid % 8
    for i in range(4):
        for j in range(4):
            acc[i, j] = 0
    for k0 in range(0, a.shape[1], BK):
        for e in range(tid, BM * BK, 64):
            m, k = e // BK, e % BK
            As[k, m] = a[row0 + m, k0 + k] if row0 + m < a.shape[0] else 0
        for e in range(tid, BN * BK, 64):
            k, n = e // BN, e % BN
            Bs[k, n] = b[k0 + k, col0 + n] if col0 + n < b.shape[1] else 0
        cuda.syncthreads()
        for k in range(BK):
            for i in range(4):
                for j in range(4):
                    acc[i, j] += As[k, tr * 4 + i] * Bs[k, tc * 4 + j]
        cuda.syncthreads()
    for i in range(4):
        for j in range(4):
            r, s = row0 + tr * 4 + i, col0 + tc * 4 + j
            if r < c.shape[0] and s < c.shape[1]:
                c[r, s] = acc[i, j]


@right(product(7, 90, 5, np.float64), lambda a, b, c: a @ b, grid=(7, 5, 3), block=32)
@cuda.jit
def split_k_matmul(a, b, c):
    i, j, part = cuda.blockIdx.x, cuda.blockIdx.y, cuda.blockIdx.z
    per_part = a.shape[1] // cuda.gridDim.z
    k = part * per_part + cuda.threadIdx.x
    v = 0.0
    if cuda.threadIdx.x < per_part:
        v = a[i, k] * b[k, j]
    for d in (1, 2, 4, 8, 16):
        v += cuda.shfl_xor_sync(-1, v, d)
    if cuda.laneid == 0:
        cuda.atomic.add(c, (i, j), v)


@right(lambda rng: (rng.random((4, 5, 6)), rng.random((4, 6, 3)), np.zeros((4, 5, 3))),
       lambda a, b, c: a @ b, grid=(2, 2, 2), block=(4, 4, 2))  # fmt: skip
@cuda.jit
def batched_matmul_with_3d_grid(a, b, c):
    i, j, n = cuda.grid(3)
    if n >= c.shape[0] or i >= c.shape[1] or j >= c.shape[2]:
        return
    for k in range(a.shape[2]):
        c[n, i, j] += a[n, i, k] * b[n, k, j]


def gemv(alpha, a, x, beta, y):
    return alpha * a.T @ x + beta * y


@right(lambda rng: (0.5, rng.random((30, 22)), rng.random(30), 2.0, rng.random(22)), gemv,
       grid=1, block=32)  # fmt: skip
@cuda.jit
def gemv_transposed(alpha, a, x, beta, y):
    j = cuda.grid(1)
    if j < y.size:
        s = 0.0
        for i, xi in enumerate(x):
            s += a[i, j] * xi
        y[j] = alpha * s + beta * y[j]


@right(lambda rng: (rng.random((4, 3)), rng.random((2, 5)), np.zeros((8, 15))),
       lambda a, b, out: np.kron(a, b), grid=(1, 2), block=(8, 8))  # fmt: skip
@cuda.jit
def kronecker(a, b, out):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        p, q = b.shape
        out[i, j] = a[i // p, j // q] * b[i % p, j % q]


@right(lambda rng: ((rng.random((9, 9)) + 1j * rng.random((9, 9))).astype(np.complex64),
                    np.zeros((9, 9), np.complex64)), lambda a, out: a @ a.conj().T,
       grid=(2, 2), block=(8, 8))  # fmt: skip
@cuda.jit
def hermitian_product(a, out):
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[0]:
        acc = complex64(0)
        for k in range(a.shape[1]):
            z = a[j, k]
            acc += a[i, k] * complex(z.real, -z.imag)
        out[i, j] = acc


def powers(a, exponent, out):
    want = np.eye(2, dtype=object)
    for _ in range(exponent):
        want = want @ a.astype(object) % 1000007
    return want.astype(np.int64)


@cuda.jit(device=True)
def times(p, q):
    m = 1000007
    return (
        ((p[0][0] * q[0][0] + p[0][1] * q[1][0]) % m, (p[0][0] * q[0][1] + p[0][1] * q[1][1]) % m),
        ((p[1][0] * q[0][0] + p[1][1] * q[1][0]) % m, (p[1][0] * q[0][1] + p[1][1] * q[1][1]) % m),
    )


@right(lambda rng: (np.array([[1, 1], [1, 0]]), 37, np.zeros((2, 2), np.int64)), powers, block=1)
@cuda.jit
def matrix_power_by_squaring(a, exponent, out):
    base = ((a[0, 0], a[0, 1]), (a[1, 0], a[1, 1]))
    result = ((1, 0), (0, 1))
    while exponent > 0:
        if exponent & 1:
            result = times(result, base)
        base = times(base, base)
        exponent >>= 1
    for i in range(2):
        out[i, 0] = result[i][0]
        out[i, 1] = result[i][1]


def power_method(a, x, out):
    y = a @ x
    return y / np.linalg.norm(y)


@right(lambda rng: (rng.random((32, 32)), rng.random(32), np.zeros(32)), power_method, block=32)
@cuda.jit
def normalised_power_step(a, x, out):
    norm2 = cuda.shared.array(1, float64)
    i = cuda.threadIdx.x
    if i == 0:
        norm2[0] = 0.0
    cuda.syncthreads()
    s = 0.0
    for j in range(x.shape[0]):
        s += a[i, j] * x[j]
    cuda.atomic.add(norm2, 0, s**2)
    cuda.syncthreads()
    out[i] = s / math.sqrt(norm2[0])


@right(lambda rng: (rng.integers(-128, 128, (12, 16), np.int8),
                    rng.integers(-128, 128, (16, 10), np.int8), np.zeros((12, 10), np.int32)),
       lambda a, b, c: a.astype(int) @ b, grid=(2, 2), block=(8, 8))  # fmt: skip
@cuda.jit
def int8_product_with_int32_sums(a, b, c):
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if row < c.shape[0] and col < c.shape[1]:
        acc = int32(0)
        for k in range(a.shape[1]):
            acc += int32(a[row, k]) * int32(b[k, col])
        c[row, col] = acc


@right(lambda rng: (rng.random((25, 4)), np.zeros((4, 4))), lambda x, out: x.T @ x, block=(4, 4))
@cuda.jit
def gram_matrix_of_the_upper_half(x, out):
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    if i <= j:
        total = 0.0
        for row in x:
            total += row[i] * row[j]
        out[i, j] = total
        out[j, i] = total
