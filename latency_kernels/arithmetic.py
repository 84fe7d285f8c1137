"""Hiding the latency of arithmetic: chains of multiply-adds that do not wait for each other.

Volkov 2010 computes a·b + c; here it is a·b + b, which reads two registers.
"""

from functools import cache

from numba import cuda, float32, uint32

# Multiply-adds of each chain in one turn of the loop.
UNROLL = 16


@cache
def build(ILP):
    """The kernel with ILP independent chains per thread: out[thread] sums them after the turns.

    x: at least 33 + ILP float32. out: one float32 per thread. turns: how often each of the chains
    grows by UNROLL multiply-adds.
    """

    @cuda.jit
    def arithmetic(x, out, turns):
        # The lane decides what is read: a value that is the same in all threads would be kept in
        # other registers, and a constant would be computed in advance.
        lane = uint32(cuda.threadIdx.x) & uint32(31)
        b = x[lane]
        chains = cuda.local.array(ILP, float32)
        for i in range(ILP):
            chains[i] = x[lane + 1 + i]

        turn = 0
        while turn < turns:
            for _ in range(UNROLL):
                # Each of these needs what it computed one round ago, and nothing of the others.
                # Only two registers are read: of three, two could lie in one bank and cost a cycle.
                for i in range(ILP):
                    chains[i] = cuda.fma(chains[i], b, b)
            turn += 1

        # Work whose result nobody sees is removed.
        total = float32(0)
        for i in range(ILP):
            total += chains[i]
        out[cuda.grid(1)] = total

    return arithmetic
