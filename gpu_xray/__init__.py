"""Shows the machine code that the compiler makes of a kernel: registers, instructions and loops.

No GPU is needed.

>>> from gemm_kernels import LADDER
>>> tiled = LADDER.step("tiled")
>>> compiled = xray(tiled.build(TILE=32), tiled.signature)
>>> compiled.registers, compiled.spill_bytes, compiled.shared_bytes
(32, 0, 8192)
>>> compiled.loads["LDS.128"]
8
"""

from importlib import import_module

__all__ = ["ARCHITECTURES", "XRay", "xray"]

# The compiler's packages are imported on demand: errors and the limits of an SM need none of them.
_ON_DEMAND = {"ARCHITECTURES": ".compile", "XRay": ".kernel", "xray": ".kernel"}


def __getattr__(name: str):
    """Return a name of ``_ON_DEMAND``, imported now; raise AttributeError for any other name."""
    if name not in _ON_DEMAND:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_ON_DEMAND[name], __name__), name)
    return value
