"""Compile kernels with Numba, with a cache that notices every change of a kernel's source.

Numba's own cache does not notice a changed callee in another module. The cache folder is therefore named by the
hash of all kernel sources. Without a writable folder the kernels are compiled without a cache. With
`PTO_TUNE_NO_JIT=1` the same functions run un-jitted, so that index errors and overflows show.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

_compiling = threading.Lock()

F = TypeVar("F", bound=Callable[..., Any])

_KERNEL_MODULES = (
    "jit.py", "layout.py", "clocks.py", "tables.py", "state.py", "slots.py", "snapshot.py", "rounds.py", "endings.py",
    "trace.py",
    "lanes.py", "detail.py",
    "../lowering/code.py", "../ranks/tables.py", "../ranks/state.py", "../ranks/scalars.py", "../ranks/polling.py",
    "../ranks/servers.py", "../ranks/steps.py", "../ranks/kernel.py",
)  # fmt: skip
"""Sources of kernels, and of the constants that are frozen into them."""


def jit_enabled() -> bool:
    return os.environ.get("PTO_TUNE_NO_JIT", "") in ("", "0")


@cache
def cache_folder() -> str | None:
    """A writable folder for this version of the kernels, or None."""
    here = Path(__file__).parent
    digest = hashlib.sha256()
    for module in _KERNEL_MODULES:
        digest.update((here / module).read_bytes())
    base = os.environ.get("PTO_TUNE_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"), "pto-tune"
    )
    folder = os.path.join(base, "kernels-" + digest.hexdigest()[:16])
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"x" * 65536)
    except OSError:
        return None
    return folder


def call(function: Callable[..., Any], *args: Any) -> Any:
    """Call a kernel, compiling it first where its argument types are new.

    The kernels keep groups of lanes in scalar variables that only LLVM's superword vectoriser puts into vector
    registers, which Numba leaves off by default; it is on for our compilation alone.
    """
    if not hasattr(function, "overloads"):
        return function(*args)
    dispatcher: Any = function
    import numba
    import numpy as np

    # another memory layout would compile anew, for half a minute
    assert all(a.flags.c_contiguous for a in args if isinstance(a, np.ndarray))
    config: Any = numba.config  # its options are set while it is imported
    typeof: Callable[[Any], Any] = numba.typeof
    signature = tuple(typeof(a) for a in args)
    if signature not in dispatcher.overloads:
        with _compiling:
            before = config.SLP_VECTORIZE
            config.SLP_VECTORIZE = 1
            try:
                dispatcher.compile(signature)
            finally:
                config.SLP_VECTORIZE = before
    return function(*args)


def kernel(function: F) -> F:
    """Decorator: compiled, releases the GIL, cached where possible."""
    return _compiled(function)


def _compiled(function: F, **options: Any) -> F:
    if not jit_enabled():
        return function
    import numba

    njit: Any = numba.njit  # its stubs do not know all options
    folder = cache_folder()
    config: Any = numba.config
    before = config.CACHE_DIR
    try:
        if folder is not None:
            config.CACHE_DIR = folder
        compiled = njit(nogil=True, error_model="numpy", cache=folder is not None, **options)(function)
    except (OSError, RuntimeError):
        compiled = njit(nogil=True, error_model="numpy", **options)(function)
    finally:
        config.CACHE_DIR = before
    return cast("F", compiled)


def bare(function: F) -> F:
    """Decorator: as `kernel`, for functions that allocate nothing: without Numba's reference counts, which are atomic
    and would be half of the time of functions that pass many arrays."""
    return _compiled(function, _nrt=False)


def inlined(function: F) -> F:
    """Decorator: put into the kernels that call it; arrays passed to a call would be counted twice, with locks."""
    if not jit_enabled():
        return function
    import numba

    return cast("F", numba.njit(nogil=True, error_model="numpy", inline="always")(function))
