from numba import cuda, float32

from utils.intrinsics.wide_memory import load4, store4


@cuda.jit
def turned_tile(x, out):
    # zeros through the tile, words straight from x
    tile = cuda.shared.array((8, 128), float32, alignment=16)
    t, first = cuda.threadIdx.x, cuda.blockIdx.x * 128
    down, z = t // 2, t % 2 * 4
    for j in range(4):
        tile[z + j, down] = float32(0)
    cuda.syncthreads()
    z, across = t // 32, t % 32 * 4
    f = load4(tile, (z, across))
    p = load4(x, (first + across, z // 4 * 4))
    q = load4(x, (first + across + 1, z // 4 * 4))
    r = load4(x, (first + across + 2, z // 4 * 4))
    s = load4(x, (first + across + 3, z // 4 * 4))
    w = z % 4
    store4(out, (z, first + across), (p[w] + f[0], q[w] + f[1], r[w] + f[2], s[w] + f[3]))
