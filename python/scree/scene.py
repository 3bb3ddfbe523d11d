"""Scenes: YAML text, files, dicts, or sections whose keys are those of the library's one table of parameters."""
from __future__ import annotations

import difflib
import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from scree._scree import ffi, lib
from scree.errors import ArgumentError, InputError, check, text

_KINDS = {lib.SCREE_KIND_REAL: "real", lib.SCREE_KIND_INT: "int", lib.SCREE_KIND_BOOL: "bool",
          lib.SCREE_KIND_VEC2: "vec2", lib.SCREE_KIND_VEC3: "vec3", lib.SCREE_KIND_QUAT: "quat",
          lib.SCREE_KIND_TEXT: "text", lib.SCREE_KIND_NAME: "name", lib.SCREE_KIND_FILE: "file",
          lib.SCREE_KIND_CHOICE: "choice"}
LENGTHS = {"vec2": 2, "vec3": 3, "quat": 4}


class Parameter(NamedTuple):
    """One row of the table of parameters, as `scree list parameters` shows it."""
    section: str
    name: str
    kind: str  # real, int, bool, vec2, vec3, quat, text, name, file, choice
    default: str  # as it is written in a scene; "auto" or "required"
    low: float
    high: float
    unit: str
    words: tuple[str, ...]  # of a choice
    readers: tuple[str, ...]  # methods (or kinds of probes) that read it; empty: all
    help: str


def parameters(section: str | None = None) -> list[Parameter]:
    """The table of parameters, or the rows of one section."""
    table, readers = [], ffi.new("char[]", 256)
    for k in range(lib.scree_parameter_count()):
        row = lib.scree_parameter(k)
        kind = _KINDS[row.kind]
        words = tuple(text(row.unit).split("|")) if kind == "choice" else ()
        read_by = tuple(text(lib.scree_parameter_readers(row, readers, 256)).split())
        table.append(Parameter(text(row.section), text(row.name), kind, text(row.default_text), row.low, row.high,
                               "" if words else text(row.unit), words, read_by, text(row.help)))
    return [row for row in table if section in (None, row.section)]


def plain(value: Any) -> Any:
    """Arrays, numbers of numpy and sections as what YAML knows; numbers must be finite."""
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items() if part is not None}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise ArgumentError(f"{value} is no number that a scene can hold")
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise ArgumentError(f"a scene cannot hold a {type(value).__name__}: {value!r}")


def suggest(word: str, words) -> str:
    """` (did you mean 'x'?)` where something is near."""
    near = difflib.get_close_matches(word, list(words), 1)
    return f" (did you mean '{near[0]}'?)" if near else ""


_LISTS = ("grains", "emitters", "sinks", "boundaries", "bodies", "events", "probes")
_TOP = ("method", "materials", *_LISTS, "mechanism", "terrain", "upsample", "camera")


def _flow(value: Any) -> str:
    """A value in YAML's flow style."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_word(key)}: {_flow(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(part) for part in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _word(value)
    return repr(value)


def _word(word: str) -> str:
    return word if re.fullmatch(r"[A-Za-z][\w./-]*", word) and word.lower() not in \
        ("true", "false", "yes", "no", "on", "off", "null", "nan", "inf", "y", "n") else json.dumps(word)


class Scene:
    """A scene. Keys are those of a scene file: `Scene(method=..., materials={"sand": ...}, grains=[...], ...)`, with
    dicts or the classes of scree.sections as parts. Parts are checked by the library when a
    world is made or `check()` is called. Files that it names are looked up in `folder` and in the shipped assets."""

    def __init__(self, *, folder: str | os.PathLike | None = None, name: str = "scene", **keys):
        known = {row.name for row in parameters("scene")} | set(_TOP)
        for key in keys:
            if key not in known:
                raise ArgumentError(f"a scene has no key '{key}'{suggest(key, known)}")
        self.name, self.folder = name, os.fspath(folder) if folder is not None else None
        self.keys: dict[str, Any] = plain(keys)
        self._text: str | None = None
        self._file: str | None = None

    @classmethod
    def from_yaml(cls, source: str, folder: str | os.PathLike | None = None, name: str = "scene") -> Scene:
        """The scene that YAML text describes."""
        data, result, error = source.encode(), ffi.new("char **"), ffi.new("ScreeError *")
        check(lib.scree_scene_json(data, len(data), name.encode(), result, error), error)
        keys = json.loads(text(ffi.gc(result[0], lib.scree_text_free)))
        if not isinstance(keys, dict):
            raise InputError("a scene is a mapping that starts with 'scree: 1'", name, 1, 1)
        keys.pop("scree", None)
        scene = cls.__new__(cls)
        scene.name, scene.folder, scene.keys = name, os.fspath(folder) if folder is not None else None, keys
        scene._text, scene._file = source, None
        return scene

    @classmethod
    def from_file(cls, path: str | os.PathLike) -> Scene:
        """The scene of a file, or of a shipped one by its name (`sommer2022/hourglass`, `hourglass`)."""
        found, error = ffi.new("char[]", 4096), ffi.new("ScreeError *")
        check(lib.scree_scene_find(os.fspath(path).encode(), found, 4096, error), error)
        file = Path(text(found))
        try:
            source = file.read_text()
        except (OSError, UnicodeDecodeError) as trouble:
            raise InputError(f"cannot be read: {trouble}", str(file)) from trouble
        scene = cls.from_yaml(source, file.parent, str(file))
        scene._file = str(file)
        return scene

    @classmethod
    def of(cls, source: Any) -> Scene:
        """A scene from what a World takes: a scene, a dict, YAML text, a path or the name of a shipped scene."""
        if isinstance(source, Scene):
            return source
        if isinstance(source, Mapping):
            keys = dict(source)
            keys.pop("scree", None)
            return cls(**keys)
        if isinstance(source, str) and "\n" in source:
            return cls.from_yaml(source)
        if isinstance(source, (str, os.PathLike)):
            return cls.from_file(source)
        raise TypeError(f"a scene is a path, a name, YAML text, a dict or a Scene, not a {type(source).__name__}")

    def to_yaml(self) -> str:
        """The scene as YAML, with the keys that were given."""
        lines = ["scree: 1"]
        for key, value in plain(self.keys).items():
            if isinstance(value, list) and value and not all(isinstance(part, (int, float)) for part in value):
                lines += [f"{key}:"] + [f"  - {_flow(part)}" for part in value]
            elif key == "materials" and value:
                lines += [f"{key}:"] + [f"  {_word(name)}: {_flow(part)}" for name, part in value.items()]
            else:
                lines.append(f"{key}: {_flow(value)}")
        return "\n".join(lines) + "\n"

    def source(self) -> str:
        """The text that a world is made from: the file's own where there is one, so that errors point into it."""
        if self._text is not None and Scene.from_yaml(self._text).keys == self.keys:
            return self._text
        return self.to_yaml()

    def check(self, **options) -> list[str]:
        """Everything that can be known without simulating; raises what is wrong and returns the warnings."""
        parsed = ParsedScene(self, overrides(**options))
        error = ffi.new("ScreeError *")
        check(lib.scree_world_check(parsed.definition, ffi.NULL, error), error)
        return parsed.warnings

    def __eq__(self, other) -> bool:
        return isinstance(other, Scene) and plain(self.keys) == plain(other.keys)

    __hash__ = None

    def __repr__(self) -> str:
        return f"<Scene {self.name}: {self.keys.get('title') or 'no title'}>"


def overrides(method: str | None = None, seed: int | None = None, set: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What overrides a scene: path and value, as `--set` has them."""
    result = plain(set or {})
    if method is not None:
        result["method.name"] = str(method)
    if seed is not None:
        result["seed"] = int(seed)
    return result


@ffi.def_extern()
def scree_py_warning(context, line):
    ffi.from_handle(context).append(text(line))


@ffi.def_extern()
def scree_py_log(context, level, line):
    ffi.from_handle(context).append(text(line))


@ffi.def_extern()
def scree_py_scene(context, name, path, title):
    ffi.from_handle(context)[text(name)] = text(title)
    return 0


class ParsedScene:
    """A definition that the library has made of a scene, with what it warned of."""

    def __init__(self, scene: Scene, overridden: Mapping[str, Any]):
        self.warnings: list[str] = []
        handle, error, result = ffi.new_handle(self.warnings), ffi.new("ScreeError *"), ffi.new("ScreeScene **")
        texts = [ffi.new("char[]", f"{path}={_flow(value)}".encode()) for path, value in overridden.items()]
        sets = ffi.new("char *[]", texts)
        options = ffi.new("ScreeSceneOptions *", {"sets": ffi.cast("const char *const *", sets), "set_count": len(texts),
                                                  "warning": lib.scree_py_warning, "warning_context": handle})
        source = scene.source().encode()
        name = scene._file or scene.name
        folder = (scene.folder or os.getcwd()).encode()
        check(lib.scree_scene_parse(source, len(source), name.encode(), folder, options, result, error), error)
        self.scene = ffi.gc(result[0], lib.scree_scene_free)
        self.definition = lib.scree_scene_definition(self.scene)


def scenes() -> dict[str, str]:
    """The shipped scenes: name and title."""
    found: dict[str, str] = {}
    handle, error = ffi.new_handle(found), ffi.new("ScreeError *")
    check(lib.scree_scene_list(lib.scree_py_scene, handle, error), error)
    return found


def methods() -> dict[str, str]:
    """The methods of this build: name and what each is."""
    return {text(info.name): text(info.summary)
            for info in (lib.scree_method_info(k) for k in range(lib.scree_method_count()))}
