"""What does the secular kernel gain over dense and over LAPACK's eigenvalues?

All eigenvalues of diag(d) - z z' for many z. References: ``numpy.linalg.eigvalsh`` of every
matrix, and LAPACK's ``dlaed4``, called root by root through the pointer that SciPy exports
(the cost of an empty call from Python is subtracted). Processor time, one thread each.
"""

from __future__ import annotations

import ctypes
import time
from functools import partial

import numpy as np
from scipy.linalg import cython_lapack
from threadpoolctl import threadpool_limits

from benchmarks.data import Sets
from benchmarks.measure import Row
from benchmarks.measure import best_of as best_of_any
from columnist.linalg._secular import downdated_eigenvalues

__all__ = ["TITLE", "rows"]

best_of = partial(best_of_any, clock=time.process_time)

TITLE = "Secular kernel: time per eigenvalue of diag(d) - z z'"

# Size -> how many z at once.
SIZES = {30: 2000, 90: 400, 500: 20}
QUICK_SIZES = {30: 200, 90: 40}


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One row per size."""
    sizes = QUICK_SIZES if quick else SIZES
    budget = 0.1 if quick else 2.0
    with threadpool_limits(1, user_api="blas"):
        return [compare(n, count, budget) for n, count in sizes.items()]


def compare(n: int, count: int, budget: float) -> Row:
    """The three solvers on the same matrices."""
    d, Z = residual_like(n, count)
    roots = n * count
    kernel_seconds, kernel = best_of(lambda: downdated_eigenvalues(d, Z), budget, least=3)
    dense_seconds, dense = best_of(lambda: dense_eigenvalues(d, Z), budget, least=2)
    lapack_seconds = lapack_time(d, Z, budget)
    kernel_time = kernel_seconds / roots
    dense_time = dense_seconds / roots
    return {
        "n": n,
        "vectors": count,
        "kernel [ns]": 1e9 * kernel_time,
        "eigvalsh [ns]": 1e9 * dense_time,
        "dlaed4 [ns]": "" if lapack_seconds is None else 1e9 * lapack_seconds,
        "eigvalsh / kernel": dense_time / kernel_time,
        "dlaed4 / kernel": "" if lapack_seconds is None else lapack_seconds / kernel_time,
        "difference / largest": float(np.abs(kernel - dense).max() / d[0]),
    }


def residual_like(n: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """A spectrum d, descending, and rows z as a search meets them: z'(diag d)^-1 z = 1."""
    rng = np.random.default_rng(n)
    d = np.sort(np.linalg.svd(rng.standard_normal((2 * n, n)), compute_uv=False) ** 2)[::-1]
    q = rng.standard_normal((count, n))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    return d.copy(), q * np.sqrt(d)


def dense_eigenvalues(d: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Descending eigenvalues from the matrices themselves, one at a time (memory)."""
    return np.array([np.linalg.eigvalsh(np.diag(d) - np.outer(z, z))[::-1] for z in Z])


def lapack_time(d: np.ndarray, Z: np.ndarray, budget: float) -> float | None:
    """Seconds per root of ``dlaed4``, None if it cannot be reached."""
    function = dlaed4()
    if function is None:
        return None
    few = Z[: max(1, 20_000 // len(d))]
    calls = len(d) * len(few)
    seconds, values = best_of(lambda: lapack_eigenvalues(function, d, few), budget, least=3)
    if not np.allclose(values, downdated_eigenvalues(d, few), rtol=0, atol=1e-10 * d[0]):
        raise AssertionError("dlaed4 and the kernel disagree")
    empty, _ = best_of(lambda: lapack_eigenvalues(function, d, few, size=1), budget, least=3)
    return max(seconds - empty, 0.0) / calls


def dlaed4():
    """LAPACK's root finder as a ctypes function, from SciPy's exported pointers."""
    capsule = getattr(cython_lapack, "__pyx_capi__", {}).get("dlaed4")
    if capsule is None:
        return None
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = (
        ctypes.c_char_p,
        [ctypes.py_object],
    )
    api.PyCapsule_GetPointer.restype, api.PyCapsule_GetPointer.argtypes = (
        ctypes.c_void_p,
        [ctypes.py_object, ctypes.c_char_p],
    )
    address = api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule))
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 8)(address)


def lapack_eigenvalues(
    function, d: np.ndarray, Z: np.ndarray, size: int | None = None
) -> np.ndarray:
    """Eigenvalues, descending: those of diag(-d) + z z', ascending, with the other sign.

    LAPACK is told ``size`` instead of n: with 1 it returns at once, and what remains is the
    cost of the calls.
    """
    n = len(d)
    poles, delta, root = np.ascontiguousarray(-d), np.empty(n), np.zeros(1)
    told, info, turns = np.array([size or n], "i"), np.zeros(1, "i"), np.arange(1, n + 1, dtype="i")
    at = [int(turns[i : i + 1].ctypes.data) for i in range(n)]
    n_at, d_at, delta_at = told.ctypes.data, poles.ctypes.data, delta.ctypes.data
    root_at, info_at = root.ctypes.data, info.ctypes.data
    values = np.empty((len(Z), n))
    for row, z in zip(values, Z, strict=True):
        rho = np.array([z @ z])
        unit = z / np.sqrt(rho)
        z_at, rho_at = unit.ctypes.data, rho.ctypes.data
        for i in range(n):
            function(n_at, at[i], d_at, z_at, delta_at, rho_at, root_at, info_at)
            row[i] = -root[0]
    return values
