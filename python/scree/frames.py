"""Frames that a run has written, as arrays."""
from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import overload

import numpy as np

from scree._scree import ffi, lib
from scree.checks import triple
from scree.errors import ArgumentError, InputError, check, text


@dataclass(frozen=True)
class Frame:
    """One frame of a run. The arrays belong to it: nothing changes them.

    The order of grains differs from frame to frame, and from format to format; ids tell who is who. Compact frames may be
    without velocities or ids, which are None then."""

    number: int
    time: float
    """s; NaN where the file does not say"""
    path: Path
    position: np.ndarray
    """(n, 3) float64, world coordinates"""
    velocity: np.ndarray | None
    """(n, 3) float32, m/s"""
    radius: np.ndarray
    """(n,) float32, m"""
    material: np.ndarray
    """(n,) uint8, index into the materials of the scene"""
    id: np.ndarray | None
    """(n,) uint32"""

    def __len__(self) -> int:
        return len(self.radius)

    def __repr__(self) -> str:
        return f"<Frame {self.number}: {len(self)} grains, t = {self.time:g} s, {self.path.name}>"


class Frames(Sequence[Frame]):
    """The frames in the output folder of `scree run`, in any of its formats, read when they are asked for.

    kind "grains" are the fine grains, "coarse" the simulated particles; without it the fine ones where there are any.
    frames[0], frames[-1] and iteration go by the order of frames, frames.find(number) by the number in the file's name."""

    def __init__(self, folder: str | os.PathLike, kind: str | None = None):
        if kind not in (None, "coarse", "grains"):
            raise ArgumentError(f"kind: expected 'coarse' or 'grains', found {kind!r}")
        self.folder = Path(folder)
        self._lock = threading.Lock()
        for self.kind in [kind] if kind else ["grains", "coarse"]:
            result, error = ffi.new("ScreeFrames **"), ffi.new("ScreeError *")
            check(lib.scree_frames_open(os.fsencode(self.folder), self.kind.encode(), result, error), error)
            self._pointer = ffi.gc(result[0], lib.scree_frames_close)
            count = lib.scree_frames_count(self._pointer)
            if count:
                break
        else:
            raise InputError("there are no frames in this folder", str(self.folder))
        self.numbers: list[int] = [lib.scree_frames_number(self._pointer, k) for k in range(count)]

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, k: int) -> Frame: ...
    @overload
    def __getitem__(self, k: slice) -> list[Frame]: ...

    def __getitem__(self, k):
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        k = range(len(self))[k]
        frame, error = ffi.new("ScreeFrame *"), ffi.new("ScreeError *")
        with self._lock:
            check(lib.scree_frames_read(self._pointer, k, frame, error), error)
            return self._copy(k, frame)

    def _copy(self, k: int, frame) -> Frame:
        particles = frame.particles

        def column(name: str, kind) -> np.ndarray:
            if not particles.count:
                return np.empty(0, kind)
            return np.frombuffer(ffi.buffer(getattr(particles, name), particles.count * np.dtype(kind).itemsize), kind)

        def stacked(names, kind) -> np.ndarray:
            return np.stack([column(name, np.float32).astype(kind) for name in names], axis=1)

        position = stacked("xyz", np.float64)
        position += triple(particles.origin)
        return Frame(number=self.numbers[k], time=frame.time, path=Path(text(lib.scree_frames_path(self._pointer, k))),
                     position=position, velocity=stacked(("vx", "vy", "vz"), np.float32) if frame.has_velocity else None,
                     radius=column("radius", np.float32).copy(), material=column("material", np.uint8).copy(),
                     id=column("id", np.uint32).copy() if frame.has_id else None)

    def find(self, number: int) -> Frame:
        """The frame of that number, as in its file's name."""
        if number not in self.numbers:
            raise ArgumentError(f"there is no frame {number} in {self.folder}")
        return self[self.numbers.index(number)]

    def __repr__(self) -> str:
        return f"<Frames {self.folder}: {len(self)} of {self.kind}>"
