"""The version of the CUDA toolkit, and clear errors if it does not fit the driver."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from gpu_xray.errors import CourseError

_SENTENCES = {
    "UNSUPPORTED_PTX_VERSION": (
        "The CUDA toolkit is newer than the GPU's driver, which refuses its machine code: install "
        "a toolkit of the driver's own CUDA version (nvidia-smi names it) or a newer driver."
    ),
    "OUT_OF_MEMORY": ("The arrays do not fit into the memory of the GPU: choose a smaller size."),
}


def toolkit() -> str | None:
    """Return the version of the CUDA toolkit that compiles here, such as "13.0".

    It is that of NVRTC. Returns None if `cuda.bindings` or the library is missing.
    """
    try:
        from cuda.bindings import nvrtc

        _, major, minor = nvrtc.nvrtcVersion()
    # No NVRTC: cuda.pathfinder's error is a RuntimeError.
    except (ImportError, RuntimeError):
        return None
    return f"{major}.{minor}"


def supported_capabilities() -> list[tuple[int, int]]:
    """Return the compute capabilities for which the installed toolkit compiles.

    Each is a pair such as (9, 0). Raises ImportError without `cuda.bindings`, and RuntimeError if
    the library NVRTC is missing.
    """
    from cuda.bindings import nvrtc

    _, architectures = nvrtc.nvrtcGetSupportedArchs()
    return [divmod(architecture, 10) for architecture in architectures]


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Within the context, turn errors of the driver that a reader can act upon into a CourseError.

    They are errors whose message has "UNSUPPORTED_PTX_VERSION" or "OUT_OF_MEMORY". Any other
    exception is raised unchanged.
    """
    try:
        yield
    except CourseError:
        raise
    except Exception as error:
        for code, sentence in _SENTENCES.items():
            if code in str(error):
                raise CourseError(sentence) from error
        raise
