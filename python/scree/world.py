"""World: grains, bodies and one method that moves them."""
from __future__ import annotations

import json
import math
import os
import tempfile
import threading
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from scree import pictures
from scree._scree import ffi, lib
from scree.bodies import Bodies, Mechanism
from scree.checks import mesh, number, triple, vector
from scree.errors import ArgumentError, BusyError, ClosedError, InputError, check, text
from scree.grains import Grains
from scree.scene import ParsedScene, Scene, overrides, suggest


class _Use:
    """The world's pointer, for one call: raises when it is closed or another thread is in a call."""

    __slots__ = ("_world",)

    def __init__(self, world: World):
        self._world = world

    def __enter__(self):
        world = self._world
        if not world._lock.acquire(blocking=False):
            raise BusyError("another thread is in a call on this world")
        if world._pointer is None:
            world._lock.release()
            raise ClosedError("the world was closed")
        return world._pointer

    def __exit__(self, *_):
        self._world._lock.release()


class Start:
    """A state that a world was in between two frames, kept in memory: see World.keep and World.reset."""

    def __init__(self, pointer):
        self._pointer = ffi.gc(pointer, lib.scree_start_free, lib.scree_start_bytes(pointer))

    @property
    def bytes(self) -> int:
        """Memory that it takes."""
        return lib.scree_start_bytes(self._pointer)


class World:
    """A world of grains.

    scene: a path, the name of a shipped scene (`sommer2022/excavator`), YAML text, a dict or a Scene. method, seed and
    set (`{"method.iterations": 8}`) override what it says, as the options of `scree run` do. threads 0: one per core.
    Use it as a context manager, or close() it; it is closed when its last reference goes, too.

    A world is used from one thread at a time: a second one gets BusyError. The interpreter's lock is released while it
    steps."""

    def __init__(self, scene: Any, *, method: str | None = None, threads: int = 0, seed: int | None = None,
                 set: Mapping[str, Any] | None = None, memory_limit: int = 0, _start: Start | None = None):
        self._pointer = None
        self._lock = threading.Lock()
        self._generation = 0
        self.scene = Scene.of(scene)
        self._set = overrides(method, seed, set)
        if not isinstance(threads, (int, np.integer)) or threads < 0:
            raise ArgumentError(f"threads: expected 0 or more, found {threads!r}")
        parsed = ParsedScene(self.scene, self._set)
        self.warnings: list[str] = parsed.warnings
        handle, error, result = ffi.new_handle(self.warnings), ffi.new("ScreeError *"), ffi.new("ScreeWorld **")
        options = ffi.new("ScreeWorldOptions *", lib.scree_world_options_default())
        options.threads, options.memory_limit, options.unfilled = threads, memory_limit, _start is not None
        options.log, options.log_context = lib.scree_py_log, handle
        self._handle = handle
        check(lib.scree_world_create(parsed.definition, options, result, error), error)
        self._pointer = ffi.gc(result[0], lib.scree_world_destroy)
        self._shot = self._folder = None
        self._wall, self._frames = 0.0, []
        if _start is not None:
            self.reset(_start)

    # ---- what is in it: made when asked for. A world that kept them, and they it, would stay until the collector looks
    # for cycles, which counts Python's objects and not the megabytes of grains behind them.

    @property
    def grains(self) -> Grains:
        """The simulated particles."""
        return Grains(self, False)

    @property
    def fine(self) -> Grains:
        """The fine grains of upsampling."""
        return Grains(self, True)

    @property
    def bodies(self) -> Bodies:
        """Bodies and boundaries by name."""
        return Bodies(self)

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism: its motors."""
        return Mechanism(self)

    # ---- life

    def _use(self) -> _Use:
        return _Use(self)

    def _check_idle(self) -> None:
        with self._use():
            pass

    def _moved(self) -> None:
        self._generation += 1

    def close(self) -> None:
        """Frees the world. Views and bodies of it raise from then on."""
        if self._pointer is None:
            return
        with self._use() as pointer:
            self._moved()
            if self._shot:
                pictures.forget(self._shot)
            self._shot = self._pointer = None
            ffi.release(pointer)

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._pointer is None

    def __enter__(self) -> World:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    # ---- time

    def step(self, frames: int | None = None, steps: int | None = None, seconds: float | None = None) -> None:
        """Goes on by so many frames (one unless told), steps of the method, or seconds, in whole frames. Views that were
        taken before raise afterwards."""
        if sum(value is not None for value in (frames, steps, seconds)) > 1:
            raise ArgumentError("one of frames, steps and seconds, not several")
        if seconds is not None:
            frames = math.ceil(number(seconds, "seconds") * self.frame_rate - 1e-6)
        count = steps if steps is not None else 1 if frames is None else frames
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 0:
            raise ArgumentError(f"expected a count of 0 or more, found {count!r}")
        function = lib.scree_world_frame if steps is None else lib.scree_world_step
        error = ffi.new("ScreeError *")
        with self._use() as pointer:
            self._moved()
            for _ in range(count):
                began = time.perf_counter()
                check(function(pointer, error), error)
                self._note(time.perf_counter() - began, steps is None)

    def _note(self, seconds: float, whole: bool) -> None:
        self._wall += seconds
        if whole:
            self._frames.append(seconds)
            del self._frames[:-1000]

    @property
    def time(self) -> float:
        """s since the start."""
        with self._use() as pointer:
            return lib.scree_world_time(pointer)

    @property
    def frame(self) -> int:
        """Frames since the start."""
        with self._use() as pointer:
            return lib.scree_world_frame_index(pointer)

    @property
    def steps(self) -> int:
        """Steps of the method since the start."""
        with self._use() as pointer:
            return lib.scree_world_step_index(pointer)

    # ---- what it is

    def _definition(self):
        with self._use() as pointer:
            return lib.scree_world_definition(pointer)

    @property
    def frame_rate(self) -> float:
        """Frames a second."""
        return self._definition().frame_rate

    @property
    def duration(self) -> float:
        """s that the scene says a run lasts."""
        return self._definition().duration

    @property
    def method(self) -> str:
        """Name of the method."""
        return text(self._definition().method.name)

    @property
    def materials(self) -> list[str]:
        """Names of the materials, in the order of grains.material."""
        definition = self._definition()
        return [text(definition.materials[k].name) for k in range(definition.material_count)]

    def understood(self) -> str:
        """The scene as YAML with every default filled in, as an output folder has it."""
        result, error = ffi.new("char **"), ffi.new("ScreeError *")
        check(lib.scree_scene_write(self._definition(), result, error), error)
        return text(ffi.gc(result[0], lib.scree_text_free))

    @property
    def terrain(self) -> tuple[np.ndarray, np.ndarray]:
        """The terrain as a mesh, relative to grains.origin: vertices and triangles; empty without one."""
        with self._use() as pointer:
            return mesh(lib.scree_world_terrain(pointer))

    def heights(self, corner, cell: float, shape: tuple[int, int], empty: float = 0.0) -> np.ndarray:
        """The surface seen from above: heights (ny, nx) of the highest grain or terrain over the middle of each cell,
        from the lowest x and y, `corner`, on; `empty` where there is none. shape is (ny, nx)."""
        ny, nx = (int(side) for side in vector(shape, 2, "shape"))
        request = ffi.new("ScreeHeightMap *", {"corner": vector(corner, 2, "corner").tolist(), "nx": nx, "ny": ny,
                                               "cell": number(cell, "cell"), "empty": empty})
        heights = np.empty((max(ny, 0), max(nx, 0)), np.float32)
        error = ffi.new("ScreeError *")
        with self._use() as pointer:
            target = ffi.from_buffer("float[]", heights, require_writable=True) if heights.size else ffi.NULL
            check(lib.scree_world_heights(pointer, request, target, error), error)
        return heights

    def impulse(self, center, radius: float, speed: float) -> None:
        """An explosion now: grains inside the sphere get the outward speed."""
        error = ffi.new("ScreeError *")
        with self._use() as pointer:
            check(lib.scree_world_impulse(pointer, vector(center, 3, "center").tolist(), number(radius, "radius"),
                                          number(speed, "speed"), error), error)

    @property
    def gravity(self) -> np.ndarray:
        """m/s2. May be set while the world runs: a bed is tilted by it."""
        return triple(self._definition().gravity)

    @gravity.setter
    def gravity(self, value) -> None:
        error = ffi.new("ScreeError *")
        with self._use() as pointer:
            check(lib.scree_world_set_gravity(pointer, vector(value, 3, "gravity").tolist(), error), error)

    def set_material(self, name: str, **keys) -> None:
        """Changes a material while the world runs: friction_angle_deg, cohesion, friction_static, friction_kinetic,
        rolling_friction (numbers, or "auto") and color (three numbers). Other keys cannot change any more."""
        names = self.materials
        if name not in names:
            raise ArgumentError(f"no material '{name}'{suggest(name, names)}")
        material = ffi.new("ScreeMaterialDef *", self._definition().materials[names.index(name)])
        known = [field for field, _ in ffi.typeof("ScreeMaterialDef").fields if field not in ("name", "source")]
        for key, value in keys.items():
            if key not in known:
                raise ArgumentError(f"unknown key '{key}' of a material{suggest(key, known)}")
            if key == "color":
                setattr(material, key, vector(value, 3, key).tolist())
            else:
                setattr(material, key, math.nan if value == "auto" else number(value, key))
        error = ffi.new("ScreeError *")
        with self._use() as pointer:
            check(lib.scree_world_set_material(pointer, material, error), error)

    # ---- numbers

    def _probes(self) -> dict[str, Any]:
        found = {}
        with self._use() as pointer:
            for k in range(lib.scree_world_probe_count(pointer)):
                state = ffi.new("ScreeProbeState *")
                if lib.scree_world_probe(pointer, k + 1, state) == lib.SCREE_OK:
                    found[text(state.name)] = state
        return found

    @property
    def probes(self) -> dict[str, Any]:
        """Every probe's value, by name."""
        return {name: _probe_value(state) for name, state in self._probes().items()}

    def probe(self, name: str):
        """What a probe of the scene measured at the end of the last frame: a float, an array of x, y, z, or a dict."""
        states = self._probes()
        if name not in states:
            raise KeyError(f"the scene has no probe '{name}'{suggest(name, states)}")
        return _probe_value(states[name])

    @property
    def state_hash(self) -> str:
        """16 hex digits over particles, bodies and terrain: equal hashes, equal bits."""
        with self._use() as pointer:
            return f"{lib.scree_world_state_hash(pointer):016x}"

    @property
    def grains_hash(self) -> str:
        """The same over the fine grains."""
        with self._use() as pointer:
            return f"{lib.scree_world_grains_hash(pointer):016x}"

    def report(self) -> dict[str, Any]:
        """What the run came to so far, in the shape of report.json."""
        now = ffi.new("ScreeStatistics *")
        with self._use() as pointer:
            lib.scree_world_statistics(pointer, now)
            phases = {text(now.phases[k].name): 1e3 * now.phases[k].seconds / max(now.steps, 1)
                      for k in range(now.phase_count)}
            warnings = {text(now.warnings[k].name): now.warnings[k].count for k in range(now.warning_count)}
        total = 1e3 * float(np.median(self._frames)) if self._frames else 0.0
        return {
            "scree": version(), "scene": Path(self.scene.name).stem, "method": self.method, "device": "cpu",
            "threads": now.threads, "simd": text(now.simd), "frames": now.frames, "steps": now.steps,
            "simulated_s": self.time, "wall_s": self._wall,
            "particles": {"coarse": now.coarse, "grains": now.grains, "boundary": now.boundary_samples,
                          "body": now.body_samples},
            "ms_per_frame": {"total": total, "coarse": 1e3 * now.frame_seconds_coarse,
                             "upsample": 1e3 * now.frame_seconds_upsample, "bodies": 1e3 * now.frame_seconds_bodies,
                             "output": 0.0},
            "phases_ms": phases, "memory_peak_mb": now.memory_peak_bytes / 2**20,
            "mass": {"initial": now.mass_initial, "emitted": now.mass_emitted, "removed": now.mass_removed,
                     "final": now.mass_final},
            "max_overlap": None if math.isnan(now.max_overlap) else now.max_overlap, "max_speed": now.max_speed,
            "warnings": warnings, "state_hash": self.state_hash, "grains_hash": self.grains_hash,
            "probes": {name: {"last": value if not isinstance(value, np.ndarray) else
                              dict(zip("xyz", value.tolist())), "unit": text(state.unit)}
                       for name, state in self._probes().items() for value in [_probe_value(state)]},
        }

    @property
    def memory(self) -> int:
        """Bytes that it holds now."""
        now = ffi.new("ScreeStatistics *")
        with self._use() as pointer:
            lib.scree_world_statistics(pointer, now)
        return now.memory_bytes

    # ---- keeping

    def keep(self) -> Start:
        """The state now, in memory: reset(start) comes back to it, and goes on with the same bits."""
        result, error = ffi.new("ScreeStart **"), ffi.new("ScreeError *")
        with self._use() as pointer:
            check(lib.scree_world_keep(pointer, result, error), error)
        return Start(result[0])

    def reset(self, start: Start) -> None:
        """Back to a state that keep() has taken, of this world or of another of the same scene."""
        if not isinstance(start, Start):
            raise TypeError(f"reset takes what keep() gave, not a {type(start).__name__}")
        error = ffi.new("ScreeError *")
        with self._use() as pointer:
            self._moved()
            check(lib.scree_world_reset(pointer, start._pointer, error), error)

    def save(self, path: str | os.PathLike) -> None:
        """Writes the world, scene and files included, to one file: scree.load(path) goes on from it bit for bit."""
        error = ffi.new("ScreeError *")
        with tempfile.TemporaryDirectory(prefix="scree_") as folder, self._use() as pointer:
            check(lib.scree_world_save(pointer, f"{folder}/checkpoint.scree".encode(), error), error)
            files = {}
            for k in range(lib.scree_world_file_count(pointer)):
                name, place = ffi.new("char **"), ffi.new("char **")
                lib.scree_world_file(pointer, k, name, place)
                files[text(name[0])] = text(place[0])
            about = {"name": self.scene.name, "set": self._set}
            target = Path(path)
            unfinished = target.with_name(target.name + ".unfinished")
            try:
                with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
                    archive.writestr("about.json", json.dumps(about))
                    archive.writestr("scene.yaml", self.scene.source())
                    archive.write(f"{folder}/checkpoint.scree", "checkpoint.scree")
                    for name, place in files.items():
                        archive.write(place, f"files/{name}")
                os.replace(unfinished, target)
            finally:
                unfinished.unlink(missing_ok=True)

    def load_checkpoint(self, path: str | os.PathLike) -> None:
        """Goes on from a checkpoint.scree of the same scene, as `scree run --resume` does."""
        error = ffi.new("ScreeError *")
        with self._use() as pointer:
            self._moved()
            check(lib.scree_world_load(pointer, os.fspath(path).encode(), error), error)

    # ---- pictures

    @property
    def camera(self) -> dict[str, Any]:
        """Where the scene is seen from: eye, target, fov_deg."""
        with self._use() as pointer:
            camera = lib.scree_world_camera(pointer)
        return {"eye": triple(camera.eye), "target": triple(camera.target), "fov_deg": camera.fov_deg}

    def render(self, size: tuple[int, int] = (640, 480), camera: Mapping[str, Any] | None = None, depth: bool = False,
               color: str = "material", range: tuple[float, float] | None = None, fine: bool = True,
               shadows: bool = True, legend: bool = True, supersample: bool = False):
        """A picture without a screen: (height, width, 3) uint8; with depth=True a pair, the second (height, width)
        float32, m along the view, inf where nothing is. camera: eye, target, fov_deg, any of them."""
        return pictures.draw(self, size, camera, depth, color, range, fine, shadows, legend, supersample)

    def film(self, path: str | os.PathLike, frames: int | None = None, **options) -> Path:
        """Goes on by so many frames (to the scene's end unless told) and films them: .mp4 or .webm, one picture a frame.
        Options are those of render."""
        return pictures.film(self, path, frames, options)

    def _repr_png_(self) -> bytes:
        return pictures.png(self.render(size=(640, 400)))

    def __repr__(self) -> str:
        if self.closed:
            return "<World, closed>"
        return f"<World {Path(self.scene.name).stem}: {self.method}, {len(self.grains)} grains, t = {self.time:g} s>"


def _probe_value(state):
    suffixes = [text(state.suffixes[k]).lstrip("_") for k in range(state.value_count)]
    values = [state.values[k] for k in range(state.value_count)]
    if suffixes == [""]:
        return values[0]
    if suffixes == ["x", "y", "z"]:
        return np.array(values)
    return dict(zip(suffixes, values))


def load(path: str | os.PathLike, *, threads: int = 0) -> World:
    """The world that World.save has written, or the output folder of a `scree run` at its last checkpoint."""
    path = Path(path)
    if path.is_dir():
        if not (path / "checkpoint.scree").is_file():
            raise InputError("there is no checkpoint.scree", str(path))
        world = World(path / "scene.yaml", threads=threads)
        world.load_checkpoint(path / "checkpoint.scree")
        return world
    folder = tempfile.TemporaryDirectory(prefix="scree_")  # for the scene's files, as long as the world lives
    try:
        with zipfile.ZipFile(path) as archive:
            about, source = json.loads(archive.read("about.json")), archive.read("scene.yaml").decode()
            for name in archive.namelist():
                if name == "checkpoint.scree" or name.startswith("files/"):
                    archive.extract(name, folder.name)
            overridden = dict(about["set"])
            scene = Scene.from_yaml(source, Path(folder.name) / "files", str(about["name"]))
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError, OSError) as trouble:
        raise InputError(f"is no world that scree has saved: {trouble}", str(path)) from trouble
    world = World(scene, threads=threads, set=overridden)
    world._folder = folder
    world.load_checkpoint(Path(folder.name) / "checkpoint.scree")
    return world


def version() -> str:
    """Version of the library."""
    return text(lib.scree_version())
