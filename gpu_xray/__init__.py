"""What the compiler made of a kernel: registers, machine code and its loops, without a GPU.

>>> from gemm_kernels import LADDER
>>> tiled = LADDER.step("tiled")
>>> seen = xray(tiled.build(TILE=32), tiled.signature)
>>> seen.registers, seen.spill_bytes, seen.shared_bytes
(32, 0, 8192)
>>> seen.loads["LDS.128"]
8
"""

from gpu_xray.compile import ARCHITECTURES
from gpu_xray.kernel import XRay, xray

__all__ = ["ARCHITECTURES", "XRay", "xray"]
