"""Frames of a run as arrays: every format, read by the package and by the add-on for Blender."""
import importlib.util
import sys
import types

import numpy as np
import pytest
from fixture import ROOT

import scree

sys.path.insert(0, str(ROOT / "test/cli"))

from support.case import Case  # noqa: E402
from support.readers import read_frame  # noqa: E402

SCENE = """scree: 1
method: {name: pbd, radius: 0.05}
materials: {sand: {radius_spread: 0.2}, coal: {}}
grains:
  - {material: sand, velocity: [1, 0, 0], fill: {box: {min: [20000, 0, 0], max: [20000.6, 0.5, 0.5]}}}
  - {material: coal, fill: {box: {min: [20000.6, 0, 0], max: [20001, 0.5, 0.5]}}}
boundaries: [{plane: {}}]
upsample: {radius: 0.02}
"""


def add_on():
    """The add-on's module, without a Blender round it: its readers need none."""
    names = {"bpy": {}, "bpy.app": {}, "bpy.app.handlers": {"persistent": lambda function: function},
             "bpy.types": {"Operator": object}, "bpy.props": {"StringProperty": lambda **_: None},
             "mathutils": dict.fromkeys(("Matrix", "Quaternion", "Vector"))}
    for name, members in names.items():
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(members)
    sys.modules["bpy"].types, sys.modules["bpy"].props = sys.modules["bpy.types"], sys.modules["bpy.props"]
    specification = importlib.util.spec_from_file_location("scree_frames", ROOT / "python/blender/scree_frames.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    for name in names:
        del sys.modules[name]
    return module


class FramesOfARun(Case):
    def setUp(self):
        super().setUp()
        self.write("s.yaml", SCENE)
        self.good("run", "s.yaml", "-o", "ply", "--frames", "3", "--quiet")
        for words in ("none", "velocity", "velocity,id"):
            self.good("run", "s.yaml", "-o", words, "--frames", "3", "--quiet", "--frames-format", "compact",
                      "--frames-columns", words)
        self.good("export", "ply", "--format", "vtp", "-o", "vtp", "--quiet")

    def test_formats_agree(self):
        exact = scree.Frames(self.path("ply"))
        self.assertEqual((exact.kind, exact.numbers, len(exact)), ("grains", [0, 1, 2, 3], 4))
        for k, frame in enumerate(exact):
            rows = np.array(read_frame(self.path("ply", f"grains_{k:06d}.ply")), float)
            self.assertTrue(np.array_equal(frame.position, rows[:, :3]) and np.array_equal(frame.velocity, rows[:, 3:6]))
            self.assertTrue(np.array_equal(frame.radius, rows[:, 6]) and np.array_equal(frame.material, rows[:, 8]))
            self.assertEqual((frame.number, frame.path.name), (k, f"grains_{k:06d}.ply"))
            self.assertAlmostEqual(frame.time, k / 60)
        self.assertTrue(np.array_equal(scree.Frames(self.path("vtp"))[3].position, exact[3].position))
        self.assertEqual(len(exact[1:]), 3)
        self.assertEqual(exact[-1].number, 3)
        self.assertEqual(scree.Frames(self.path("ply"), "coarse").find(2).number, 2)

    def test_compact_frames_are_near(self):
        """20 km from zero the floats of a PLY frame have steps of 2 mm, a tenth of the radius; a compact frame has the
        places as the world had them."""
        with scree.World(self.path("s.yaml"), threads=1) as world:
            world.step(frames=3)
            position, radius, velocity = world.fine.position, world.fine.radius.copy(), world.fine.velocity
            material, order = world.fine.material.copy(), np.argsort(world.fine.id.copy())
        for words in ("velocity", "none", "velocity,id"):
            frame = scree.Frames(self.path(words))[-1]
            self.assertEqual((frame.velocity is None, frame.id is None), (words == "none", "id" not in words))
            self.assertEqual(len(frame), len(radius))
        who = np.argsort(frame.id)
        distance = np.linalg.norm(frame.position[who] - position[order], axis=1) / radius[order]
        self.assertLess(distance.max(), 0.007)
        self.assertLess(np.abs(frame.radius[who] / radius[order] - 1).max(), 0.001)
        self.assertLess(np.abs(frame.velocity[who] - velocity[order]).max(), 0.005 * np.abs(velocity).max() + 1e-6)
        self.assertTrue(np.array_equal(frame.material[who], material[order]))

    def test_the_add_on_reads_the_same(self):
        module = add_on()
        for folder in ("ply", "vtp", "none", "velocity", "velocity,id"):
            for kind in ("coarse", "grains"):
                frame = scree.Frames(self.path(folder), kind).find(2)
                files = module.frame_files(frame.path.parent, kind)
                self.assertEqual(files[2], frame.path)
                positions, velocities, radii, materials = module.read_grains(files[2])
                self.assertLess(np.abs(positions - frame.position).max(), 1e-9)
                self.assertTrue(np.array_equal(velocities, np.zeros_like(velocities) if frame.velocity is None else
                                               frame.velocity))
                self.assertTrue(np.array_equal(radii, frame.radius) and np.array_equal(materials, frame.material))
        damaged = frame.path.read_bytes()
        for bad in (damaged[:-1], damaged[:60], b"", damaged[:16] + b"\xff" * 8 + damaged[24:]):
            frame.path.write_bytes(bad)
            with pytest.raises(ValueError):
                module.read_grains(frame.path)
            with pytest.raises(scree.InputError) as trouble:
                scree.Frames(frame.path.parent, "grains").find(2)
            self.assertIn(frame.path.name, trouble.value.file)

    def test_what_is_not_there(self):
        with pytest.raises(scree.InputError):
            scree.Frames(self.path("missing"))
        self.write("empty.txt", "")
        with pytest.raises(scree.InputError):
            scree.Frames(self.path("."))
        frames = scree.Frames(self.path("none"))
        with pytest.raises(scree.ArgumentError):
            frames.find(17)
        with pytest.raises(IndexError):
            frames[4]
        with pytest.raises(scree.ArgumentError):
            scree.Frames(self.path("none"), "fine")
