"""Many isolated worlds side by side, each on one thread, all cores busy."""
from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from scree._scree import ffi, lib
from scree.checks import vector
from scree.errors import ArgumentError, check, failure
from scree.scene import Scene, plain
from scree.world import Start, World

# What may differ from the kept start: numbers that the state does not hold.
_FREE = [r"(gravity|wind|seed|duration|title)(\..*)?", r"camera\..*", r"method\.(?!name$|radius$).*",
         r"materials\.[^.]+\.(?!density$|grain_density$|radius_).*",
         r"(boundaries|bodies)\.\d+\.(friction_static|friction_kinetic|stiffness_n|restitution|color)",
         r"emitters\.\d+\.(rate|speed|from|until)", r"events\.\d+\..*"]


class _Hold:
    """The pointers of several worlds, held for one call."""

    def __init__(self, worlds: Sequence[World]):
        self._worlds, self._held = worlds, []

    def __enter__(self):
        try:
            for world in self._worlds:
                use = world._use()
                pointer = use.__enter__()
                self._held.append((use, pointer))
        except BaseException:
            self.__exit__()
            raise
        return ffi.new("ScreeWorld *[]", [pointer for _, pointer in self._held])

    def __exit__(self, *_) -> None:
        for use, _ in self._held:
            use.__exit__()


class Batch(Sequence[World]):
    """n worlds of one scene, stepped together over all cores, each bit for bit as it would be alone.

    The first is filled with grains; the others begin with its state, so nothing is filled twice. batch[i] is a World of
    its own: set targets and controls on it, read views from it. threads 0: one per core."""

    def __init__(self, scene: Any, n: int, *, threads: int = 0, method: str | None = None, seed: int | None = None,
                 set: Mapping[str, Any] | None = None, start: Start | None = None):
        if not isinstance(n, (int, np.integer)) or n < 1:
            raise ArgumentError(f"a batch has 1 world or more, not {n!r}")
        if not isinstance(threads, (int, np.integer)) or threads < 0:
            raise ArgumentError(f"threads: expected 0 or more, found {threads!r}")
        self.scene, self.threads = Scene.of(scene), threads
        options = {"method": method, "threads": 1, "seed": seed, "set": set}
        first = World(self.scene, _start=start, **options)
        self._options = options
        self.start: Start = start or first.keep()
        """What reset() comes back to; set it to another one, as batch.start = batch[0].keep() after it has settled."""
        with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
            self._worlds = [first, *pool.map(lambda _: World(self.scene, _start=self.start, **options), range(n - 1))]
        self._changed: dict[int, dict[str, Any]] = {}

    def __len__(self) -> int:
        return len(self._worlds)

    def __getitem__(self, i):
        return self._worlds[i]

    def __iter__(self) -> Iterator[World]:
        return iter(self._worlds)

    def close(self) -> None:
        """Closes all worlds."""
        for world in self._worlds:
            world.close()

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def step(self, frames: int = 1, worlds: Iterable[int] | None = None) -> dict[int, Exception]:
        """All worlds (or those given) go on by so many frames. One whose simulation fails does not stop the others:
        the failures are returned, by world."""
        if isinstance(frames, bool) or not isinstance(frames, (int, np.integer)) or frames < 0:
            raise ArgumentError(f"expected a count of frames of 0 or more, found {frames!r}")
        chosen = list(range(len(self))) if worlds is None else [range(len(self))[i] for i in worlds]
        if len({*chosen}) != len(chosen):
            raise ArgumentError("a world can be stepped only once at a time")
        statuses, errors = ffi.new("ScreeStatus[]", len(chosen)), ffi.new("ScreeError[]", len(chosen))
        with _Hold([self._worlds[i] for i in chosen]) as pointers:
            for i in chosen:
                self._worlds[i]._moved()
            lib.scree_worlds_frame(pointers, len(chosen), frames, self.threads, statuses, errors)
        return {i: failure(errors[k]) for k, i in enumerate(chosen) if statuses[k] != lib.SCREE_OK}

    def reset(self, i: int | None = None, seed: int | None = None, set: Mapping[str, Any] | None = None,
              start: Start | None = None) -> None:
        """World i (all without i) back to the kept start, or to another one. seed and set are those that it goes on with:
        friction, method, gravity, emitters and so on; what the state holds (grains, poses, density, radius) is the
        start's, and changing it is refused."""
        changed = plain(set or {})
        for path in changed:
            if not any(re.fullmatch(pattern, path) for pattern in _FREE):
                raise ArgumentError(f"'{path}' is part of the kept start: make another start with it")
        if seed is not None:
            changed["seed"] = int(seed)
        for k in range(len(self)) if i is None else [range(len(self))[i]]:
            self._reset_one(k, changed, start or self.start)

    def _reset_one(self, k: int, changed: dict[str, Any], start: Start) -> None:
        if changed == self._changed.get(k, {}):
            self._worlds[k].reset(start)
            return
        old, options = self._worlds[k], dict(self._options)
        old._check_idle()
        options["set"] = {**(options["set"] or {}), **changed}
        if "seed" in changed:
            options["seed"] = None
        self._worlds[k] = World(self.scene, _start=start, **options)
        self._changed[k] = changed
        old.close()

    # ---- results, stacked: the first index is the world

    def _body(self, name: str) -> int:
        """The body's number: worlds of one scene count alike."""
        return self._worlds[0].bodies[name]._id

    def _states(self, name: str) -> np.ndarray:
        """(n, 13): pose, force and torque of a body."""
        body, states = self._body(name), np.empty((len(self), 13))
        with _Hold(self._worlds) as pointers:
            lib.scree_many_body(pointers, len(self), body, ffi.from_buffer("double[]", states, require_writable=True))
        return states

    def force(self, name: str) -> np.ndarray:
        """(n, 3): force of the grains on a body, N."""
        return self._states(name)[:, 7:10]

    def torque(self, name: str) -> np.ndarray:
        """(n, 3): torque of the grains on a body, N m."""
        return self._states(name)[:, 10:]

    def pose(self, name: str) -> np.ndarray:
        """(n, 7): position and rotation of a body."""
        return self._states(name)[:, :7]

    def set_target(self, name: str, poses) -> None:
        """A pose for the body of every world: (n, 3) or (n, 7)."""
        n, body = len(self), self._body(name)
        given = np.asarray(poses, dtype=np.float64)
        if given.shape not in ((n, 3), (n, 7)):
            raise ArgumentError(f"poses of {n} worlds are ({n}, 3) or ({n}, 7), not {given.shape}")
        if not np.isfinite(given).all():
            raise ArgumentError("a pose is not finite")
        full = np.zeros((n, 7))
        full[:, 3] = 1
        full[:, :given.shape[1]] = given
        lengths = np.linalg.norm(full[:, 3:], axis=1, keepdims=True)
        if (lengths < 1e-6).any():
            raise ArgumentError("rotation: a quaternion of zeros turns nothing")
        full[:, 3:] /= lengths
        error = ffi.new("ScreeError *")
        with _Hold(self._worlds) as pointers:
            check(lib.scree_many_set_pose(pointers, n, body, ffi.from_buffer("double[]", full), error), error)

    def set_control(self, name: str, values) -> None:
        """A value for the control of every world: (n,)."""
        for world, value in zip(self, vector(values, len(self), f"values of control {name}")):
            world.mechanism.controls[name] = value

    def heights(self, corner, cell: float, shape: tuple[int, int], empty: float = 0.0) -> np.ndarray:
        """(n, ny, nx): see World.heights."""
        return np.stack([world.heights(corner, cell, shape, empty) for world in self])

    def probe(self, name: str) -> np.ndarray:
        """(n,) or (n, k): a probe's values."""
        values = [world.probe(name) for world in self]
        return np.array([list(value.values()) if isinstance(value, dict) else value for value in values])

    @property
    def state_hash(self) -> list[str]:
        """Of every world."""
        return [world.state_hash for world in self]

    @property
    def time(self) -> np.ndarray:
        """(n,): s since each world's start."""
        return np.array([world.time for world in self])

    @property
    def memory(self) -> np.ndarray:
        """(n,): bytes that each world holds."""
        return np.array([world.memory for world in self])
