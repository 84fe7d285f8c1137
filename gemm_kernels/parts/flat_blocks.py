"""Parts of the last steps: access to flat arrays, and a product with few register bank conflicts.

A quad is four adjacent elements of a row, which one 128-bit access loads or stores. Indices are
uint32 throughout: signed or wider indices cost more instructions per address. All functions are
inlined into the kernel.
"""

from functools import cache

from numba import cuda, float32, uint32

from utils.intrinsics.wide_memory import copy4_async, load4, store4

FLAT = float32[::1]


@cache
def warps_in_rows(ACROSS):
    """Return a device function t -> (row, column) of thread t's first element in the tile.

    Row and column are uint32. ACROSS is the number of threads in a row of the tile. The threads are
    4 elements apart, and a warp has 4 rows of 8 threads. Warps follow each other in rows.
    """
    WARP_DOWN, WARP_ACROSS = 4, 8
    WARPS_ACROSS = ACROSS // WARP_ACROSS

    @cuda.jit(device=True, forceinline=True)
    def place(t):
        warp, lane = t // uint32(32), t % uint32(32)
        y = uint32((warp // WARPS_ACROSS * WARP_DOWN + lane // WARP_ACROSS) * 4)
        x = uint32((warp % WARPS_ACROSS * WARP_ACROSS + lane % WARP_ACROSS) * 4)
        return y, x

    return place


@cuda.jit(device=True, forceinline=True)
def quad_or_zeros(x, inside, at):
    """Return x[at] to x[at + 3] of a flat array as a tuple if `inside`, otherwise four zeros."""
    if inside:
        return load4(x, at)
    return float32(0), float32(0), float32(0), float32(0)


@cuda.jit(device=True, forceinline=True)
def read_fragment_uint32(shared, at, first, apart, fragment):
    """Fill `fragment` with one step of k from shared memory: quads at first, first + apart, ...

    `at` is (buffer, step of k), and `fragment` a local array. Unlike in `blocks.read_fragment`,
    every index is a uint32: then the step is a constant part of the address, and reading another
    step takes no arithmetic.
    """
    for quad in range(len(fragment) // 4):
        four = load4(shared, (at[0], at[1], uint32(first + uint32(quad * apart))))
        for i in range(4):
            fragment[4 * quad + i] = four[i]


@cache
def back_and_forth(TM, TN, ORDER):
    """Return a device function (sums, x, y): sums[i, j] += x[i]·y[j], row by row, back and forth.

    A multiply-add reads three registers, and each of the two banks of the register file delivers
    one per cycle. An operand that the previous multiply-add used, too, need not be read again.
    ORDER is 0 to 3: odd orders begin with the last row, 2 and 3 with the last column. All orders
    are the same work, but the compiler gives them different registers; which one has the fewest
    conflicts is not known in advance.
    """

    @cuda.jit(device=True, forceinline=True)
    def add(sums, x, y):
        for row in range(TM):
            i = TM - 1 - row if ORDER % 2 else row
            for column in range(TN):
                j = column if (row + ORDER // 2) % 2 == 0 else TN - 1 - column
                sums[i, j] += x[i] * y[j]

    return add


def multiply_of(BK, APART_Y, APART_X, add_outer_product, z=0):
    """Return a device function that multiplies the steps z to BK - 2 of a tile, two at a time.

    It is called with (sa, sb, side, y, x, a0, b0, a1, b1, sums): the shared tiles and their buffer,
    the row and column of the thread's first element, two pairs of fragments, and the sums. Step z
    is in a0 and b0 at first; at the end the last step is in a1 and b1 and still has to be
    multiplied. APART_Y and APART_X are the strides between a thread's quads of a and of b, and
    add_outer_product(sums, x, y) adds the products of two fragments.

    Each pair of steps calls the next one, so every row is a constant. The compiler would keep a
    loop: NVVM unrolls up to a limit of instructions, and two steps alone have some 200.
    """
    if z == BK - 2:

        @cuda.jit(device=True, forceinline=True)
        def multiply_last_but_one(sa, sb, side, y, x, a0, b0, a1, b1, sums):
            read_fragment_uint32(sa, (side, uint32(z + 1)), y, APART_Y, a1)
            read_fragment_uint32(sb, (side, uint32(z + 1)), x, APART_X, b1)
            add_outer_product(sums, a0, b0)

        return multiply_last_but_one

    multiply_rest = multiply_of(BK, APART_Y, APART_X, add_outer_product, z + 2)

    @cuda.jit(device=True, forceinline=True)
    def multiply_from_here(sa, sb, side, y, x, a0, b0, a1, b1, sums):
        # While one step is multiplied, the next one is being read from shared memory.
        read_fragment_uint32(sa, (side, uint32(z + 1)), y, APART_Y, a1)
        read_fragment_uint32(sb, (side, uint32(z + 1)), x, APART_X, b1)
        add_outer_product(sums, a0, b0)
        read_fragment_uint32(sa, (side, uint32(z + 2)), y, APART_Y, a0)
        read_fragment_uint32(sb, (side, uint32(z + 2)), x, APART_X, b0)
        add_outer_product(sums, a1, b1)
        multiply_rest(sa, sb, side, y, x, a0, b0, a1, b1, sums)

    return multiply_from_here


@cache
def loaders(BM, BN, BK, THREADS):
    """Return device functions (load_first, load_next) for tiles of a, BM×BK, and of b, BK×BN.

    Both copy tiles from flat a and b to shared memory. Their argument `at_a` holds the index in a
    of each of this thread's quads, and `at_b` is the index in b of its first quad. `next_a` is a
    local array for the quads of a, quads × 4. load_first fills buffer 0; load_next starts to fill
    another one and returns the new `at_b`.
    """
    QUADS_A, QUADS_B = BK // 4, BN // 4
    ROWS_A, ROWS_B = THREADS // QUADS_A, THREADS // QUADS_B
    LOADS_A, LOADS_B = BM // ROWS_A, BK // ROWS_B

    @cuda.jit(device=True, forceinline=True)
    def load_first(a, b, at_a, at_b, start, n, k, t, next_a, sa, sb):
        """Load the tiles at `start` along k into sa[0] and sb[0].

        Thread t's quads of a are also stored in next_a. Steps outside of 0 to k - 1 become zeros.
        The numbers are unsigned, so steps before 0 are huge.
        """
        down, z = t // uint32(QUADS_A), uint32(t % uint32(QUADS_A) * 4)
        for load in range(LOADS_A):
            four = quad_or_zeros(a, uint32(start + z) < k, at_a[load])
            for j in range(4):
                next_a[load, j] = four[j]
                sa[0, z + j, down + load * ROWS_A] = four[j]
        down, x = t // uint32(QUADS_B), uint32(t % uint32(QUADS_B) * 4)
        for load in range(LOADS_B):
            inside = uint32(start + down + load * ROWS_B) < k
            four = quad_or_zeros(b, inside, uint32(at_b + load * ROWS_B * n))
            store4(sb, (0, down + load * ROWS_B, x), four)

    @cuda.jit(device=True, forceinline=True)
    def load_next(a, b, at_a, at_b, n, place, next_a, sb, side):
        """Start to load the next tiles, a's into next_a and b's into sb[side]; return the new at_b.

        The indices are advanced first, those in `at_a` in place. `place` is (row, column) of this
        thread's first quad in b's tile. The caller commits and awaits the copies of b, and stores
        next_a, which holds registers, in shared memory.
        """
        down_b, x_b = place
        for load in range(LOADS_A):
            # The arrays are flat, so the next tile's address takes one addition.
            at_a[load] = uint32(at_a[load] + BK)
            four = load4(a, at_a[load])
            for j in range(4):
                next_a[load, j] = four[j]
        at_b = uint32(at_b + BK * n)
        for load in range(LOADS_B):
            to = side, uint32(down_b + load * ROWS_B), x_b
            copy4_async(sb, to, b, uint32(at_b + load * ROWS_B * n))
        return at_b

    return load_first, load_next


@cache
def store_of(TM, TN, APART_Y, APART_X, GUARDED):
    """Return a device function store(sums, x, corner, inner, shape, alpha) for TM×TN sums.

    It stores alpha·sums into the flat matrix x. The 4×4 patches of a thread are APART_Y rows and
    APART_X columns apart. If GUARDED, only elements inside the matrix are stored; otherwise all are
    inside.
    """

    @cuda.jit(device=True, forceinline=True)
    def store(sums, x, corner, inner, shape, alpha):
        """Store alpha·sums into x, a flat matrix of `shape`, from corner + inner (row, column) on.

        x has a multiple of four columns. A 128-bit store needs four adjacent registers that begin
        at a multiple of four, and so does the 128-bit load of b: if the sums themselves were
        stored, each pair sums[i, j] and b[j] would be in one bank. A product with alpha is a new
        number, in a register of its own.
        """
        for i in range(TM):
            row = uint32(corner[0] + inner[0] + uint32(i // 4 * APART_Y + i % 4))
            for j in range(0, TN, 4):
                col = uint32(corner[1] + inner[1] + uint32(j // 4 * APART_X))
                if not GUARDED or (row < shape[0] and col < shape[1]):
                    four = (
                        alpha * sums[i, j],
                        alpha * sums[i, j + 1],
                        alpha * sums[i, j + 2],
                        alpha * sums[i, j + 3],
                    )
                    store4(x, uint32(row * shape[1] + col), four)

    return store
