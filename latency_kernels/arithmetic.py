"""Hide the latency of arithmetic: chains of multiply-adds that do not depend on each other.

Volkov 2010 computes a·b + c; here it is a·b + b, which reads two registers.
"""

from functools import cache

from numba import cuda, float32, uint32

# Multiply-adds of each chain in one iteration of the loop.
UNROLL = 16


@cache
def build(ILP):
    """Return the kernel (x, out, turns) with ILP chains per thread, whose sum goes to out[thread].

    A chain is a sequence of multiply-adds, each of which uses the result of the one before. The
    chains are independent of each other. `x` has at least 32 + ILP float32, and `out` one float32
    per thread. `turns` is the number of iterations, each of which extends every chain by UNROLL
    multiply-adds.
    """

    @cuda.jit
    def arithmetic(x, out, turns):
        # The index depends on the lane: a value that is the same in all threads would be kept in
        # other registers, and a constant would be computed in advance.
        lane = uint32(cuda.threadIdx.x) & uint32(31)
        b = x[lane]
        chains = cuda.local.array(ILP, float32)
        for i in range(ILP):
            chains[i] = x[lane + 1 + i]

        turn = 0
        while turn < turns:
            for _ in range(UNROLL):
                # Each chain depends on its own previous value only. A multiply-add reads two
                # registers: of three, two could be in one bank and cost a cycle.
                for i in range(ILP):
                    chains[i] = cuda.fma(chains[i], b, b)
            turn += 1

        # The compiler removes work whose result is not stored.
        total = float32(0)
        for i in range(ILP):
            total += chains[i]
        out[cuda.grid(1)] = total

    return arithmetic
