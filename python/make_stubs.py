"""Writes the types of scree.sections, whose classes are made from the table of parameters when the package is imported, for
editors and type checkers: make_stubs.py FOLDER, where FOLDER holds the built package. setup.py calls it."""
import keyword
import sys
from pathlib import Path

TYPES = {"real": "float", "int": "int", "bool": "bool", "vec2": "_Numbers", "vec3": "_Numbers", "quat": "_Numbers",
         "text": "str", "name": "str", "file": "str"}
PARTS = {"fill": "_Part", "keys": "Sequence[Key | Mapping[str, Any]]", "mesh": "str | _Part"}

HEAD = '''"""Made by make_stubs.py from the library's table of parameters; do not edit."""
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from scree.scene import Parameter

_Numbers = Sequence[float] | np.ndarray
_Part = Mapping[str, Any]
SECTIONS: dict[str, type[Section]]

class Section(dict[str, Any]):
    _rows: dict[str, Parameter]
    _parts: tuple[str, ...]
    def __init__(self, **keys: Any) -> None: ...
'''


def kind_of(row):
    """The type of a key's value; None leaves the key out of the scene."""
    known = f"Literal[{', '.join(repr(word) for word in row.words)}]" if row.words else TYPES[row.kind]
    return known + (" | Literal['auto']" if row.default == "auto" and known != "str" else "") + " | None"


def make(sections):
    """The text of the stub."""
    parts = [HEAD]
    for name, made in sections.SECTIONS.items():
        keys = {key: kind_of(row) for key, row in made._rows.items()}
        for part in made._parts:
            keys[part] = PARTS.get(part, f"{part.capitalize()} | _Part")
        lines = [f"        {key}: {kind} = ...," for key, kind in keys.items() if not keyword.iskeyword(key)]
        if any(keyword.iskeyword(key) for key in keys):
            lines.append("        **keys: Any,")
        parts.append(f"class {name}(Section):\n    def __init__(\n        self,\n        *,\n" + "\n".join(lines) + "\n    ) -> None: ...\n")
    return "\n".join(parts)


if __name__ == "__main__":
    folder = Path(sys.argv[1]).resolve()
    sys.path.insert(0, str(folder))
    from scree import sections as built
    (folder / "scree" / "sections.pyi").write_text(make(built))
