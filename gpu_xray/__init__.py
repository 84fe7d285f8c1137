"""What the compiler made of a kernel: registers, machine code and its loops, without a GPU.

>>> from gemm_kernels import LADDER
>>> tiled = LADDER.step("tiled")
>>> seen = xray(tiled.build(TILE=32), tiled.signature)
>>> seen.registers, seen.spill_bytes, seen.shared_bytes
(32, 0, 8192)
>>> seen.loads["LDS.128"]
8
"""

from importlib import import_module

__all__ = ["ARCHITECTURES", "XRay", "xray"]

# Who only needs an error or the limits of an SM need not wait for the compiler's packages.
_ON_DEMAND = {"ARCHITECTURES": ".compile", "XRay": ".kernel", "xray": ".kernel"}


def __getattr__(name: str):
    if name not in _ON_DEMAND:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_ON_DEMAND[name], __name__), name)
    return found
