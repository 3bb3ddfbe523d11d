"""Scenes: from names, files, text, dicts and sections; YAML and back; errors with file, line and column."""
import ast
import inspect
import math
from pathlib import Path

import numpy as np
import pytest
from fixture import BIN

import scree
from scree import sections as s

TEXT = """scree: 1
method: {name: none, radius: 0.05}
materials:
  sand: {density: 1500}
grains:
  - {fill: {box: {min: [0, 0, 0], max: [1, 1, 1]}}}
"""


def test_every_kind_of_source(tmp_path):
    file = tmp_path / "my.yaml"
    file.write_text(TEXT)
    hashes = set()
    for source in (TEXT, file, str(file), scree.Scene.from_yaml(TEXT), scree.Scene.from_yaml(TEXT).keys,
                   {"scree": 1, **scree.Scene.from_yaml(TEXT).keys}):
        with scree.World(source, threads=1) as world:
            hashes.add(world.state_hash)
    assert len(hashes) == 1
    assert "sommer2022/hourglass" in scree.scenes() and scree.methods().keys() >= {"pbd", "p2", "dem", "sph", "flip"}
    assert scree.Scene.from_file("burst").keys["method"]["name"] == "none"


def test_yaml_and_back():
    scene = scree.Scene(**BIN)
    again = scree.Scene.from_yaml(scene.to_yaml())
    assert again == scene and again.keys == BIN
    for name in scree.scenes():
        shipped = scree.Scene.from_file(name)
        assert scree.Scene.from_yaml(shipped.to_yaml()).keys == shipped.keys, name
    odd = scree.Scene(title='a "b": {c}, [d]\n#e ü', method={"name": "none"}, grains=[])
    assert scree.Scene.from_yaml(odd.to_yaml()) == odd


def test_every_parameter_of_the_table_can_be_written():
    """Each key of each section is taken with its default, and refuses a wrong type."""
    seen = 0
    for cls in (getattr(s, name) for name in s.SECTIONS):
        for row in cls._rows.values():
            value = {"auto": "auto", "required": None}.get(row.default, row.default)
            if row.kind in ("real", "int") and value not in ("auto", None):
                value = float(value) if row.kind == "real" else int(value)
            elif row.kind == "bool":
                value = value == "true"
            elif row.kind in ("vec2", "vec3", "quat") and value != "auto":
                value = [float(part) for part in value.strip("[]").split(",")]
            cls(**{row.name: value})
            wrong = 5 if row.kind in ("text", "name", "file", "bool", "choice") else "five"
            with pytest.raises(scree.ArgumentError, match=row.name):
                cls(**{row.name: wrong})
            if row.kind in ("real", "int") and row.high < 1e29:
                with pytest.raises(scree.ArgumentError, match="outside"):
                    cls(**{row.name: int(2 * row.high + 1) if row.kind == "int" else 2 * row.high + 1})
            assert row.name in cls.__doc__
            seen += 1
    assert seen >= len(scree.parameters()) - len(scree.parameters("scene"))


def test_a_scene_of_sections():
    scene = scree.Scene(
        gravity=np.array([0, 0, -1.62]), method=s.Method(name="pbd", radius=np.float32(0.03125)),
        materials={"dust": s.Material(density=1500, color=(0.5, 0.5, 0.5))},
        grains=[s.Grains(material="dust", fill={"sphere": s.Sphere(center=[0, 0, 0.5], radius=0.2)})],
        boundaries=[s.Boundary(plane=s.Plane(), name="floor")],
        bodies=[s.Body(name="gate", box=s.Box(size=[1, 0.1, 1]), motion="keyframes",
                       keys=[s.Key(t=0), s.Key(t=1, position=[0, 0, 2])])],
        probes=[s.Probe(kind="energy", name="e")])
    assert scene.check() == []
    with scree.World(scene, threads=1) as world:
        world.step(frames=2)
        assert len(world.grains) > 50
        understood = scree.Scene.from_yaml(world.understood())
        assert understood.keys["method"]["radius"] == 0.03125 and understood.keys["gravity"] == [0, 0, -1.62]


@pytest.mark.parametrize("make", [
    lambda: s.Material(densty=1), lambda: s.Method(name="pbd", radius=math.nan), lambda: s.Method(radius=-1),
    lambda: s.Box(min=[0, 0]), lambda: s.Grains(start="sideways"), lambda: s.Material(color="red"),
    lambda: scree.Scene(materails={}), lambda: scree.Scene(gravity=[0, 0, math.inf]),
    lambda: scree.Scene(method=object()), lambda: s.Method(rotation=1), lambda: s.Method(iterations=2.5)])
def test_wrong_keys_and_values(make):
    with pytest.raises(scree.ArgumentError):
        make()


def test_suggestions():
    with pytest.raises(scree.ArgumentError, match="did you mean 'density'"):
        s.Material(densty=1)
    with pytest.raises(scree.ArgumentError, match="did you mean 'materials'"):
        scree.Scene(materails={})


def test_errors_have_file_line_and_column(tmp_path):
    file = tmp_path / "bad.yaml"
    file.write_text(TEXT.replace("density", "densty"))
    with pytest.raises(scree.InputError) as caught:
        scree.World(file)
    error = caught.value
    assert (error.file, error.line, error.column) == (str(file), 4, 10) and "densty" in error.message
    assert str(error).startswith(f"{file}:4:10: ") and isinstance(error, ValueError)
    with pytest.raises(scree.InputError) as caught:
        scree.Scene.from_yaml("scree: 1\nmethod: {name: [pbd\n")
    assert caught.value.line >= 2
    with pytest.raises(scree.InputError):
        scree.World("no/such_scene")
    with pytest.raises(scree.InputError, match="no_such.obj"):
        scree.World({**BIN, "grains": [{"fill": {"mesh": "no_such.obj"}}]})
    with pytest.raises(scree.InputError):
        scree.World(TEXT, set={"method.radus": 1})
    with pytest.raises(scree.InputError):
        scree.World(TEXT, method="magic")
    with pytest.raises(scree.ArgumentError):
        scree.World(TEXT, set={"method.radius": math.nan})
    with pytest.raises(scree.InputError):
        scree.World("just text\nand more")
    with pytest.raises(scree.InputError):
        scree.Scene.from_yaml("- 1\n- 2\n")


def test_overrides_and_warnings():
    with scree.World(TEXT, set={"materials.sand.density": 1600, "method.radius": 0.06}, threads=1) as world:
        assert scree.Scene.from_yaml(world.understood()).keys["materials"]["sand"]["density"] == 1600
    with scree.World(TEXT.replace("1500", "1.5"), threads=1) as world:
        assert any("density" in line for line in world.warnings)


def test_a_changed_scene_is_what_is_simulated():
    scene = scree.Scene.from_yaml(TEXT)
    scene.keys["method"]["radius"] = 0.1
    with scree.World(scene, threads=1) as world:
        assert world.grains.radius[0] == np.float32(0.1)


def test_editors_know_the_keys():
    """The stub that is made when the package is built has the classes and keys that are made when it is imported."""
    stub = ast.parse((Path(scree.__file__).parent / "sections.pyi").read_text())
    classes = {node.name: node.body[-1].args for node in stub.body if isinstance(node, ast.ClassDef)}
    assert set(classes) == {"Section", *scree.sections.SECTIONS}
    for name, made in scree.sections.SECTIONS.items():
        assert [key.arg for key in classes[name].kwonlyargs] == list(inspect.signature(made).parameters)
    kinds = {key.arg: ast.unparse(key.annotation) for key in classes["Body"].kwonlyargs}
    assert kinds["density"] == "float | None" and kinds["motion"] == "Literal['free', 'keyframes', 'fixed'] | None"
    assert kinds["box"] == "Box | _Part"
