"""Machine code of compiled functions, kept on disk from one process to the next.

Numba's own cache cannot be used: it does not notice a change in a function that another one calls,
and it names a function that a closure holds differently in each process. Here the key is what the
function is: its code and that of the functions it calls, and every value in closures and globals.

``CPU_KERNELS_CACHE`` names the folder, or is ``off``; without it the folder is in the user's cache.
"""

import contextlib
import hashlib
import os
import pickle
from pathlib import Path

from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher
from numba.core.serialize import dumps

from gpu_xray.cache import prune, write_whole
from gpu_xray.cache_key import cache_key

MOST_FILES = 256  # about 50 MB
DIGEST_BYTES = hashlib.sha256().digest_size
_UNREADABLE = (OSError, EOFError, ValueError, TypeError, AttributeError, ImportError, KeyError)


def folder() -> Path | None:
    """Return the folder of the cached machine code; None if there is no cache.

    The environment variable `CPU_KERNELS_CACHE` names it, or switches it off with "", "0" or "off".
    Without the variable, it is in the home folder; None if the user has no home folder.
    """
    named = os.environ.get("CPU_KERNELS_CACHE")
    if named is not None:
        return None if named.strip().lower() in ("", "0", "off") else Path(named)
    try:
        return Path.home() / ".cache" / "numba-cpu-kernels"
    except RuntimeError:  # a user without a home
        return None


def kept_on_disk(function: Dispatcher) -> Dispatcher:
    """Let a function read its machine code from disk, or else write it; return the same function.

    Without a folder, or if the function uses a value that `cache_key` cannot describe, the function
    is compiled in each process.
    """
    function._cache = _ByContent(function)
    return function


class _ByContent(NullCache):
    """The cache of one function, in the form that a dispatcher of Numba asks for."""

    def __init__(self, function: Dispatcher) -> None:
        self._function, self._identity = function, ""

    def load_overload(self, sig, target_context) -> CompileResult | None:
        """Return the compiled function for a signature from disk; None without a valid entry."""
        target_context.refresh()
        file = self._file(sig, target_context.codegen())
        if file is None:
            return None
        with contextlib.suppress(*_UNREADABLE, pickle.UnpicklingError):
            digest, payload = _parts(file.read_bytes())
            if digest == hashlib.sha256(payload).digest():
                return CompileResult._rebuild(target_context, *pickle.loads(payload))
        return None

    def save_overload(self, sig, data: CompileResult) -> None:
        """Write the machine code for a signature to disk; do nothing if it cannot be kept."""
        file = self._file(sig, data.codegen)
        if file is None or data.lifted or data.library.has_dynamic_globals:
            return
        payload = dumps(data._reduce())
        with contextlib.suppress(OSError):
            write_whole(file, hashlib.sha256(payload).digest() + payload)
            prune(file.parent, MOST_FILES)

    def _file(self, sig, codegen) -> Path | None:
        """Return the path of the entry for a signature; None if it cannot be kept on disk."""
        where = folder()
        # Described at the first call, when everything that the function uses has been defined.
        self._identity = self._identity or cache_key(self._function)
        if where is None or self._identity is None:
            return None
        key = repr((self._identity, str(sig), codegen.magic_tuple()))
        return where / f"{hashlib.sha256(key.encode()).hexdigest()}.code"


def _parts(raw: bytes) -> tuple[bytes, bytes]:
    """Return (digest, payload) of a file's bytes."""
    return raw[:DIGEST_BYTES], raw[DIGEST_BYTES:]
