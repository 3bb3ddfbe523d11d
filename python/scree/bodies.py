"""Bodies, boundaries and the motors of a mechanism."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scree._scree import ffi, lib
from scree.checks import mesh, number, triple, vector
from scree.errors import ArgumentError, check, text
from scree.scene import suggest

if TYPE_CHECKING:
    from scree.world import World


class Pose(NamedTuple):
    """Where a body's own frame is: position (m) and rotation (quaternion w, x, y, z)."""
    position: np.ndarray
    rotation: np.ndarray

    @classmethod
    def of(cls, value: Any) -> Pose:
        """From a Pose, (position, rotation), three numbers, or seven."""
        if isinstance(value, (tuple, list)) and len(value) == 2:
            position, rotation = value
        else:
            array = np.asarray(value, dtype=object)
            if array.shape not in ((3,), (7,)):
                raise ArgumentError(f"a pose has 3 numbers, 7, or is (position, rotation); found shape {array.shape}")
            position, rotation = array[:3].tolist(), array[3:].tolist() or (1, 0, 0, 0)
        rotation = vector(rotation, 4, "rotation")
        length = np.linalg.norm(rotation)
        if length < 1e-6:
            raise ArgumentError("rotation: a quaternion of zeros turns nothing")
        return cls(vector(position, 3, "position"), rotation / length)


class Body:
    """A body, a boundary, or a part of a mechanism. What it says is as of now."""

    __slots__ = ("_world", "_id", "name")

    def __init__(self, world: World, number: int):
        self._world, self._id = world, number
        self.name = text(self._state().name)

    def _state(self):
        state = ffi.new("ScreeBodyState *")
        with self._world._use() as pointer:
            if lib.scree_world_body(pointer, self._id, state) != lib.SCREE_OK:
                raise ArgumentError(f"there is no body {self._id}")
        return state

    def _set(self, function, *values):
        with self._world._use() as pointer:
            error = ffi.new("ScreeError *")
            check(function(pointer, self._id, *values, error), error)

    @property
    def pose(self) -> Pose:
        """Position and rotation of its own frame."""
        pose = self._state().pose
        return Pose(triple(pose.position), np.array([pose.rotation.w, *triple(pose.rotation)]))

    @property
    def target(self) -> Pose:
        """Set it to a pose: a body with `motion: fixed` or keyframes goes there over the next frame, and grains feel its
        velocity; a free one is put there at once. What is read is the pose."""
        return self.pose

    @target.setter
    def target(self, value) -> None:
        pose = Pose.of(value)
        self._set(lib.scree_world_set_pose, {"position": pose.position.tolist(), "rotation": pose.rotation.tolist()})

    @property
    def force(self) -> np.ndarray:
        """N, of the grains, world axes, mean over the last frame."""
        return triple(self._state().force)

    @property
    def torque(self) -> np.ndarray:
        """N m, of the grains about the centre of mass."""
        return triple(self._state().torque)

    @property
    def center(self) -> np.ndarray:
        """Centre of mass, m."""
        return triple(self._state().center)

    @property
    def mass(self) -> float:
        """kg; 0 where forces do not move it."""
        return self._state().mass

    @property
    def is_boundary(self) -> bool:
        """Whether it is a boundary of the scene."""
        return bool(self._state().is_boundary)

    @property
    def velocity(self) -> np.ndarray:
        """m/s, of the centre of mass. Set it on a free body."""
        return triple(self._state().velocity)

    @velocity.setter
    def velocity(self, value) -> None:
        self._set(lib.scree_world_set_velocity, vector(value, 3, "velocity").tolist(), self.spin.tolist())

    @property
    def spin(self) -> np.ndarray:
        """rad/s, world axes. Set it on a free body."""
        return triple(self._state().spin)

    @spin.setter
    def spin(self, value) -> None:
        self._set(lib.scree_world_set_velocity, self.velocity.tolist(), vector(value, 3, "spin").tolist())

    def apply(self, force=(0, 0, 0), torque=(0, 0, 0)) -> None:
        """A load from outside, in N and N m about the centre of mass, held until it is set again."""
        self._set(lib.scree_world_set_force, vector(force, 3, "force").tolist(), vector(torque, 3, "torque").tolist())

    @property
    def mesh(self) -> tuple[np.ndarray, np.ndarray]:
        """Its surface in its own frame: vertices (n, 3) and triangles (m, 3); copies."""
        view = ffi.new("ScreeMeshView *")
        with self._world._use() as pointer:
            lib.scree_world_body_mesh(pointer, self._id, view)
            return mesh(view)

    def __repr__(self) -> str:
        return f"<Body {self.name!r} at {self.pose.position.round(4).tolist()}>"


class Bodies(Mapping):
    """Bodies and boundaries by name; those without a name by their place: world.bodies[0]."""

    def __init__(self, world: World):
        self._world = world

    def _all(self) -> list[Body]:
        with self._world._use() as pointer:
            count = lib.scree_world_body_count(pointer)
        return [Body(self._world, k + 1) for k in range(count)]

    def __getitem__(self, name: str | int) -> Body:
        if isinstance(name, (int, np.integer)):
            return self._all()[name]
        with self._world._use() as pointer:
            found = lib.scree_world_find_body(pointer, str(name).encode())
        if not found:
            raise KeyError(f"no body is called '{name}'{suggest(str(name), self)}")
        return Body(self._world, found)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(body.name for body in self._all() if body.name))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Controls(MutableMapping):
    """Motors of a mechanism by name. A value that is set wins over the control file until it is deleted."""

    def __init__(self, world: World):
        self._world = world

    def _read(self, number: int):
        name, value, low, high = ffi.new("char **"), ffi.new("double *"), ffi.new("double *"), ffi.new("double *")
        with self._world._use() as pointer:
            lib.scree_world_control(pointer, number, name, value, low, high)
        return text(name[0]), value[0], (low[0], high[0])

    def _find(self, name: str) -> int:
        with self._world._use() as pointer:
            found = lib.scree_world_find_control(pointer, str(name).encode())
        if not found:
            raise KeyError(f"no control is called '{name}'{suggest(str(name), self)}")
        return found

    def __getitem__(self, name: str) -> float:
        return self._read(self._find(name))[1]

    def __setitem__(self, name: str, value: float) -> None:
        control, value = self._find(name), number(value, f"control {name}")
        with self._world._use() as pointer:
            error = ffi.new("ScreeError *")
            check(lib.scree_world_set_control(pointer, control, value, error), error)

    def __delitem__(self, name: str) -> None:
        control = self._find(name)
        with self._world._use() as pointer:
            lib.scree_world_release_control(pointer, control)

    def range(self, name: str) -> tuple[float, float]:
        """Least and greatest value."""
        return self._read(self._find(name))[2]

    def __iter__(self) -> Iterator[str]:
        with self._world._use() as pointer:
            count = lib.scree_world_control_count(pointer)
        return iter([self._read(k + 1)[0] for k in range(count)])

    def __len__(self) -> int:
        with self._world._use() as pointer:
            return lib.scree_world_control_count(pointer)


class Mechanism:
    """The mechanism of a world: its motors. Its parts are among world.bodies."""

    def __init__(self, world: World):
        self.controls = Controls(world)
