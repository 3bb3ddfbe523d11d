"""The particles of a world as arrays."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scree._scree import ffi, lib
from scree.checks import triple
from scree.errors import ArgumentError
from scree.scene import suggest
from scree.views import View

if TYPE_CHECKING:
    from scree.world import World

_FIELDS = {"x": np.float32, "y": np.float32, "z": np.float32, "vx": np.float32, "vy": np.float32, "vz": np.float32,
           "radius": np.float32, "id": np.uint32, "material": np.uint8}


class Grains:
    """The particles of a world: `world.grains` the simulated ones, `world.fine` those of upsampling.

    x, y, z, vx, vy, vz, radius, id, material are views without a copy (see View), positions relative to `origin`;
    position, velocity (n by 3, float64) and pressure (Pa) are copies in world coordinates. Order changes between steps:
    ids tell who is who."""

    __slots__ = ("_world", "_fine")

    def __init__(self, world: World, fine: bool):
        self._world, self._fine = world, fine

    def _particles(self):
        with self._world._use() as pointer:
            return lib.scree_world_grains(pointer) if self._fine else lib.scree_world_particles(pointer)

    def array(self, name: str, copy: bool = False):
        """One field by its name: a View, or with copy=True an array that stays."""
        if name not in _FIELDS:
            raise ArgumentError(f"grains have no field '{name}'{suggest(name, _FIELDS)}")
        particles, kind = self._particles(), np.dtype(_FIELDS[name])
        if particles.count == 0:
            raw = np.empty(0, kind)
        else:
            buffer = ffi.buffer(getattr(particles, name), particles.count * kind.itemsize)
            raw = np.frombuffer(buffer, dtype=kind)
        return raw.copy() if copy else View(raw, self._world)

    x = property(lambda self: self.array("x"), doc="x - origin, m")
    y = property(lambda self: self.array("y"), doc="y - origin, m")
    z = property(lambda self: self.array("z"), doc="z - origin, m")
    vx = property(lambda self: self.array("vx"), doc="velocity along x, m/s")
    vy = property(lambda self: self.array("vy"), doc="velocity along y, m/s")
    vz = property(lambda self: self.array("vz"), doc="velocity along z, m/s")
    radius = property(lambda self: self.array("radius"), doc="m")
    id = property(lambda self: self.array("id"), doc="who a grain is; never used again")
    material = property(lambda self: self.array("material"), doc="index into world.materials")

    @property
    def origin(self) -> np.ndarray:
        """What x, y, z count from; fixed for the life of a world."""
        return triple(self._particles().origin)

    @property
    def position(self) -> np.ndarray:
        """(n, 3) float64, world coordinates; a copy."""
        return self._stack("xyz") + self.origin

    @property
    def velocity(self) -> np.ndarray:
        """(n, 3) float64, m/s; a copy."""
        return self._stack(("vx", "vy", "vz"))

    def _stack(self, names) -> np.ndarray:
        return np.stack([self.array(name, copy=True).astype(np.float64) for name in names], axis=1)

    @property
    def pressure(self) -> np.ndarray:
        """Pa at every grain, as of the last step; a copy. Raises where the method knows none."""
        values = np.empty(len(self), np.float32)
        with self._world._use() as pointer:
            known = lib.scree_world_pressure(pointer, self._fine, ffi.from_buffer("float[]", values, require_writable=True)
                                             if len(values) else ffi.NULL)
        if not known and len(values):
            raise ArgumentError(f"method {self._world.method} knows no pressure")
        return values

    def __len__(self) -> int:
        return self._particles().count
