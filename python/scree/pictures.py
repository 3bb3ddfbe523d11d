"""Pictures of worlds, drawn without a screen. One renderer serves the whole process, on a thread of its own: OpenGL wants
to be called from the thread that began with it."""
from __future__ import annotations

import itertools
import math
import os
import struct
import threading
import zlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scree._scree import ffi, lib
from scree.checks import number, vector
from scree.errors import ArgumentError, check

if TYPE_CHECKING:
    from scree.world import World

_keys = itertools.count(1)
_guard = threading.Lock()
_thread: ThreadPoolExecutor | None = None
_studio = None


def _call(function, *arguments):
    """The function's value, from the renderer's thread."""
    global _thread
    with _guard:
        if _thread is None:
            _thread = ThreadPoolExecutor(1, "scree-pictures")
        thread = _thread
    return thread.submit(function, *arguments).result()


def _open():
    global _studio
    if _studio is None:
        result, error = ffi.new("ScreeStudio **"), ffi.new("ScreeError *")
        check(lib.scree_studio_open(0, result, error), error)
        _studio = result[0]
    return _studio


def forget(shot) -> None:
    """Frees what is kept to draw a world."""
    ffi.release(shot)


def _camera(world: World, wish: Mapping[str, Any] | None):
    camera = dict(world.camera)
    for key, value in (wish or {}).items():
        if key not in camera:
            raise ArgumentError(f"a camera has eye, target and fov_deg, no '{key}'")
        camera[key] = number(value, key) if key == "fov_deg" else vector(value, 3, key)
    return ffi.new("ScreeCameraDef *", {"eye": camera["eye"].tolist(), "target": camera["target"].tolist(),
                                        "fov_deg": camera["fov_deg"]})


def _rgba(world: World, size, camera, depth, color, scale, fine, shadows, legend, supersample):
    width, height = (int(side) for side in vector(size, 2, "size"))
    if not (1 <= width <= 16384 and 1 <= height <= 16384):
        raise ArgumentError(f"size: a picture has 1 to 16384 pixels on a side, not {width} by {height}")
    options = ffi.new("ScreeShotOptions *", lib.scree_shot_options_default())
    word = ffi.new("char[]", str(color).encode())
    options.width, options.height, options.color = width, height, word
    options.low, options.high = vector(scale, 2, "range") if scale is not None else (math.nan, math.nan)
    options.fine, options.shadows, options.legend, options.supersample = fine, shadows, legend, supersample
    where = _camera(world, camera)
    rgba = np.empty((height, width, 4), np.uint8)
    distances = np.empty((height, width), np.float32) if depth else None

    def work(pointer):
        studio, error = _open(), ffi.new("ScreeError *")
        if world._shot is None:
            result = ffi.new("ScreeShot **")
            check(lib.scree_shot_open(pointer, next(_keys), result, error), error)
            world._shot = ffi.gc(result[0], lib.scree_shot_close)
        check(lib.scree_shot_draw(studio, world._shot, pointer, where, options,
                                  ffi.from_buffer("uint8_t[]", rgba, require_writable=True),
                                  ffi.from_buffer("float[]", distances, require_writable=True) if depth else ffi.NULL,
                                  error), error)

    with world._use() as pointer:
        _call(work, pointer)
    return rgba, distances


def draw(world: World, size, camera, depth, *options):
    """See World.render."""
    rgba, distances = _rgba(world, size, camera, depth, *options)
    picture = np.ascontiguousarray(rgba[..., :3])
    return (picture, distances) if depth else picture


def film(world: World, path: str | os.PathLike, frames: int | None, options: Mapping[str, Any]) -> Path:
    """See World.film."""
    if frames is None:
        frames = max(round(world.duration * world.frame_rate) - world.frame, 0)
    size = options.get("size", (640, 480))
    result, error = ffi.new("ScreeFilm **"), ffi.new("ScreeError *")
    check(lib.scree_film_open(os.fspath(path).encode(), int(size[0]), int(size[1]), world.frame_rate, result, error),
          error)
    film = result[0]
    try:
        for k in range(frames + 1):
            if k:
                world.step()
            picture = world.render(**{**options, "size": size})
            rgba = np.dstack([picture, np.full(picture.shape[:2], 255, np.uint8)])
            check(lib.scree_film_add(film, ffi.from_buffer("uint8_t[]", np.ascontiguousarray(rgba)), error), error)
        closing, film = film, None
        check(lib.scree_film_close(closing, error), error)
    finally:
        if film is not None:
            lib.scree_film_abandon(film)
    return Path(path)


def png(picture: np.ndarray) -> bytes:
    """A picture as the bytes of a PNG file."""
    picture = np.ascontiguousarray(picture, np.uint8)
    if picture.ndim != 3 or picture.shape[2] != 3:
        raise ArgumentError(f"a picture is (height, width, 3), not {picture.shape}")
    height, width = picture.shape[:2]

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = np.zeros((height, 1 + 3 * width), np.uint8)
    rows[:, 1:] = picture.reshape(height, -1)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows.tobytes(), 6)) + chunk(b"IEND", b""))


def save_png(picture: np.ndarray, path: str | os.PathLike) -> Path:
    """Writes a picture of World.render as a PNG file."""
    path = Path(path)
    path.write_bytes(png(picture))
    return path
