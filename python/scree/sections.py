"""The sections of a scene as classes: Method, Material, Grains, Emitter, Sink, Boundary, Body, Key, Mechanism, Event,
Impulse, Terrain, Upsample, Camera, Probe, and the shapes Box, Sphere, Cylinder, Capsule, Plane, Disc.

They are made from the library's table of parameters when the package is imported: help(scree.sections.Material) lists the
keys with kind, default, unit and what they do."""
from __future__ import annotations

import inspect
import keyword
from typing import Any

from scree.errors import ArgumentError
from scree.scene import LENGTHS, Parameter, parameters, plain, suggest


class Section(dict):
    """A part of a scene: a dict whose keys are checked against the table of parameters when they are set."""
    _rows: dict[str, Parameter] = {}
    _parts: tuple[str, ...] = ()  # keys that hold sections of their own

    def __init__(self, **keys):
        super().__init__()
        for name, value in keys.items():
            self[name] = value

    def __setitem__(self, name, value):
        if name in self._rows:
            value = _checked(type(self).__name__, self._rows[name], value)
        elif name in self._parts:
            value = plain(value)
        else:
            raise ArgumentError(f"{type(self).__name__} has no key '{name}'{suggest(name, [*self._rows, *self._parts])}")
        super().__setitem__(name, value)


def _checked(owner: str, row: Parameter, value: Any) -> Any:
    value = plain(value)
    where = f"{owner}.{row.name}"
    if value is None or value == "auto" and row.default == "auto":
        return value
    if row.kind == "bool" and not isinstance(value, bool):
        raise ArgumentError(f"{where}: expected True or False, found {value!r}")
    if row.kind == "choice" and value not in row.words:
        raise ArgumentError(f"{where}: expected one of {', '.join(row.words)}, found {value!r}")
    if row.kind in ("text", "name", "file") and not isinstance(value, str):
        raise ArgumentError(f"{where}: expected a string, found {value!r}")
    if row.kind == "int" and (isinstance(value, bool) or not isinstance(value, int)):
        raise ArgumentError(f"{where}: expected a whole number, found {value!r}")
    numbers = value if row.kind in LENGTHS else [value] if row.kind in ("real", "int") else []
    if row.kind in LENGTHS and (not isinstance(value, list) or len(value) != LENGTHS[row.kind]):
        raise ArgumentError(f"{where}: expected {LENGTHS[row.kind]} numbers, found {value!r}")
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, (int, float)):
            raise ArgumentError(f"{where}: expected a number, found {number!r}")
        if not row.low <= number <= row.high:
            raise ArgumentError(f"{where}: {number} lies outside {row.low:g} to {row.high:g}")
    return value


_SHAPES = ("box", "sphere", "cylinder", "capsule", "plane", "disc", "mesh")
# Which sections a class takes its keys from, and which keys of it hold sections of their own.
_CLASSES = {
    "Method": (("method",), ()), "Material": (("material",), ()), "Grains": (("grains",), ("fill",)),
    "Emitter": (("emitter",), ("disc",)), "Sink": (("placement",), _SHAPES),
    "Boundary": (("boundary", "placement"), (*_SHAPES, "keys")), "Body": (("body", "placement"), (*_SHAPES, "keys")),
    "Key": (("key",), ()), "Mechanism": (("mechanism",), ()), "Event": (("event",), ("impulse",)),
    "Impulse": (("impulse",), ()), "Terrain": (("terrain",), ()), "Upsample": (("upsample",), ()),
    "Camera": (("camera",), ()), "Probe": (("probe",), ("box",)), "Box": (("box", "sized_box"), ()),
    "Sphere": (("sphere",), ()), "Cylinder": (("cylinder",), ()), "Capsule": (("capsule",), ()),
    "Plane": (("plane",), ()), "Disc": (("disc",), ()),
}


def _make_class(name: str, sections: tuple[str, ...], parts: tuple[str, ...]) -> type[Section]:
    rows = {row.name: row for section in sections for row in parameters(section)}
    lines = ["A section of a scene. Keys, with kind, default and unit:", ""]
    for row in rows.values():
        words = "|".join(row.words)
        lines.append(f"{row.name}: {words or row.kind}, {row.default or 'none'} {row.unit}".rstrip() + f"; {row.help}")
    lines += [f"{part}: a section of its own" for part in parts]
    keys = [inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY) for key in dict.fromkeys([*rows, *parts])
            if not keyword.iskeyword(key)]
    return type(name, (Section,), {"__doc__": "\n".join(lines), "_rows": rows, "_parts": parts, "__module__": __name__,
                                   "__signature__": inspect.Signature(keys)})


SECTIONS: dict[str, type[Section]] = {name: _make_class(name, *parts) for name, parts in _CLASSES.items()}
globals().update(SECTIONS)
__all__ = ["Section", *SECTIONS]
