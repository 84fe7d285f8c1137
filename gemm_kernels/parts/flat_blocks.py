"""What the last rungs share: access to flat arrays, and a product that spares register banks.

Numbers are uint32 throughout: a signed or a wider one costs further instructions for each address.
All of it is inlined into the kernel.
"""

from functools import cache

from numba import cuda, float32, uint32

from utils.intrinsics.wide_memory import copy4_async, load4, store4

FLAT = float32[::1]


@cache
def warps_in_rows(ACROSS):
    """A device function: where the first quad of thread t begins, (row, column).

    ACROSS: threads in a row of the tile. A warp has 4×8 quads, and warps follow each other in rows.
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
    """Four neighbours of a flat array by one load, or zeros."""
    if inside:
        return load4(x, at)
    return float32(0), float32(0), float32(0), float32(0)


@cuda.jit(device=True, forceinline=True)
def read_fragment_uint32(shared, at, first, apart, fragment):
    """One step of k from shared memory: quads that begin at first, first + apart, ...

    at: (side, row). As `blocks.read_fragment`, with every number an uint32: then the row is a
    constant part of the address, and reading another row takes no arithmetic.
    """
    for quad in range(len(fragment) // 4):
        four = load4(shared, (at[0], at[1], uint32(first + uint32(quad * apart))))
        for i in range(4):
            fragment[4 * quad + i] = four[i]


@cache
def back_and_forth(TM, TN, ORDER):
    """sums[i, j] += x[i]·y[j], back and forth through the rows, so that operands are used again.

    A multiply-add reads three registers, and each of the two banks of the register file gives one
    a cycle. The operand that the one before had, too, is still at hand. ORDER: 0 to 3; odd begins
    with the last row, 2 and 3 with the last column. They are the same work, but the compiler gives
    them other registers; which meets fewest conflicts nobody knows in advance.
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
    """A device function that multiplies the steps z to BK - 2 of a tile, two at a time.

    Step z is in a0 and b0 at first; in the end the last one is in a1 and b1 and is still to be
    multiplied. Each pair calls the pair after it, so the steps are written out one after the other
    and every row is a constant. A loop would be left as a loop: NVVM writes out turns up to a limit
    of instructions, and two steps alone have some 200.
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
        # While one step is multiplied, the next one is on its way from shared memory.
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
    """Two device functions that load a block's tiles of a, BM×BK, and of b, BK×BN.

    at_a: where each quad of this thread lies in a; at_b: the first one in b.
    """
    QUADS_A, QUADS_B = BK // 4, BN // 4
    ROWS_A, ROWS_B = THREADS // QUADS_A, THREADS // QUADS_B
    LOADS_A, LOADS_B = BM // ROWS_A, BK // ROWS_B

    @cuda.jit(device=True, forceinline=True)
    def load_first(a, b, at_a, at_b, start, n, k, t, next_a, sa, sb):
        """The tile at `start` into side 0; what lies before step 0 or behind the end is zero.

        Before step 0 unsigned numbers are huge.
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
        """Start to load the next tile: a into registers, b into that side of sb. Returns at_b."""
        down_b, x_b = place
        for load in range(LOADS_A):
            # The arrays are flat, so the next tile's address is one addition away.
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
    """A device function that stores a thread's TM×TN sums, quads that lie APART_Y and _X apart.

    GUARDED: only what lies inside the matrix; otherwise everything does.
    """

    @cuda.jit(device=True, forceinline=True)
    def store(sums, x, corner, inner, shape, alpha):
        """alpha·sums into x, a flat matrix of that shape, from corner + inner on: (row, column).

        The columns of x are a multiple of four. A 128-bit store wants four registers in a row that
        begin at a multiple of four, and so does the 128-bit load of b: if the sums themselves were
        stored, each pair sums[i, j] and b[j] would lie in one bank. A product with alpha is a new
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
