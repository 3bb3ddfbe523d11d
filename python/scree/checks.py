"""What is given to a call, checked; and what comes from C, turned into arrays."""
from __future__ import annotations

from typing import Any

import numpy as np

from scree._scree import ffi
from scree.errors import ArgumentError


def vector(value: Any, length: int, what: str) -> np.ndarray:
    """Finite numbers, so many of them."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as trouble:
        raise ArgumentError(f"{what}: expected {length} numbers, found {value!r}") from trouble
    if array.shape != (length,):
        raise ArgumentError(f"{what}: expected {length} numbers, found an array of shape {array.shape}")
    if not np.isfinite(array).all():
        raise ArgumentError(f"{what}: {array.tolist()} is not finite")
    return array


def number(value: Any, what: str) -> float:
    """One finite number."""
    return float(vector(np.atleast_1d(np.asarray(value)), 1, what)[0])


def triple(v) -> np.ndarray:
    """Of a ScreeVec3."""
    return np.array([v.x, v.y, v.z])


def mesh(view) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of a ScreeMeshView; copies."""
    def copied(pointer, count, kind):
        if not count:
            return np.empty((0, 3), kind)
        return np.frombuffer(ffi.buffer(pointer, count * 12), kind).reshape(-1, 3).copy()
    return copied(view.vertices, view.vertex_count, np.float32), copied(view.triangles, view.triangle_count, np.uint32)
