"""What ParaView opens: frames.pvd and every file that it names, read with VTK's own reader; and the USD file, read with a
small parser of its grammar."""
import os
import re
import sys
import xml.etree.ElementTree as tree
from pathlib import Path

import numpy as np
from fixture import ROOT
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

sys.path.insert(0, str(ROOT / "test/cli"))

from support.case import Case  # noqa: E402
from support.readers import COLUMNS, read_frame  # noqa: E402

SCENE = """scree: 1
frame_rate: 50
method: {name: pbd, radius: 0.05}
materials:
  sand: {color: [0.8, 0.7, 0.4]}
  coal: {color: [0.1, 0.1, 0.1]}
grains:
  - {material: sand, fill: {box: {min: [0, 0, 0], max: [0.5, 0.5, 0.5]}}}
  - {material: coal, fill: {box: {min: [0.5, 0, 0], max: [1, 0.5, 0.5]}}}
boundaries:
  - {name: tank, box: {min: [0, 0, 0], max: [1, 0.5, 2]}, inside: true}
bodies:
  - {name: a-gate, box: {size: [0.1, 0.5, 0.5]}, motion: keyframes, keys: [{t: 0, position: [0, 0, 1]}, {t: 1, position: [1, 0, 1], rotation: [0, 0, 1, 0]}]}
  - {name: ball, sphere: {radius: 0.1}, position: [0.5, 0.25, 1]}
"""
FRAMES = 3


def columns(path):
    """A frame as columns."""
    rows = read_frame(path)
    return {name: np.array([row[k] for row in rows]) for k, name in enumerate(COLUMNS)}


class Usd:
    """A parser for the part of the USD text grammar that such files use: prims as dicts of attributes."""

    TOKEN = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|([A-Za-z_][\w:.]*(?:\[\])?)|(-?[\d.]+(?:e[+-]?\d+)?)|(.))', re.S)

    def __init__(self, text):
        head, _, body = text.partition("\n")
        assert head == "#usda 1.0", head
        self.tokens = [next(part for part in match.groups() if part is not None) for match in self.TOKEN.finditer(body.rstrip())]
        self.at = 0
        self.meta = self.metadata()
        self.root = self.prim()
        assert self.at == len(self.tokens), self.tokens[self.at:self.at + 5]

    def take(self, expected=None):
        token = self.tokens[self.at]
        assert expected in (None, token), (token, expected, self.tokens[self.at - 5:self.at + 5])
        self.at += 1
        return token

    def peek(self):
        return self.tokens[self.at]

    def metadata(self):
        result = {}
        self.take("(")
        while self.peek() != ")":
            name = self.take()
            self.take("=")
            result[name] = self.value()
        self.take(")")
        return result

    def value(self):
        token = self.take()
        if token in "[({":
            close, items = {"[": "]", "(": ")", "{": "}"}[token], []
            while self.peek() != close:
                item = self.value()
                if token == "{":
                    self.take(":")
                    item = (item, self.value())
                items.append(item)
                if self.peek() == ",":
                    self.take()
            self.take(close)
            return dict(items) if token == "{" else items
        return token.strip('"') if token[0] == '"' else float(token)

    def prim(self):
        self.take("def")
        kind, name = self.take(), self.take().strip('"')
        assert re.fullmatch(r"[A-Za-z_]\w*", name), name
        prim = {"kind": kind, "name": name, "children": {}}
        self.take("{")
        while self.peek() != "}":
            if self.peek() == "def":
                child = self.prim()
                assert child["name"] not in prim["children"]
                prim["children"][child["name"]] = child
                continue
            if self.peek() == "uniform":
                self.take()
            kind, attribute = self.take(), self.take()
            if self.peek() == "(":
                self.metadata()
            else:
                self.take("=")
                prim[attribute] = self.value()
        self.take("}")
        return prim


class Paraview(Case):
    def setUp(self):
        super().setUp()
        self.write("s.yaml", SCENE)
        self.good("run", "s.yaml", "-o", "o", "--frames", str(FRAMES), "--quiet")

    def read_vtp(self, *names):
        reader = vtkXMLPolyDataReader()
        reader.SetFileName(self.path(*names))
        reader.Update()
        return reader.GetOutput()

    def series(self, folder):
        """Entries of frames.pvd: {(time, name): file}."""
        collection = tree.parse(self.path(folder, "frames.pvd")).getroot()
        self.assertEqual(collection.get("type"), "Collection")
        entries = {(float(e.get("timestep")), e.get("name")): e.get("file") for e in collection.iter("DataSet")}
        self.assertEqual(len(entries), sum(1 for _ in collection.iter("DataSet")))
        return entries

    def poses(self):
        rows = [line.split(",") for line in Path(self.path("o", "bodies.csv")).read_text().splitlines()[1:]]
        return {(int(row[0]), row[2]): [float(value) for value in row[3:10]] for row in rows}

    def test_the_series_is_read_by_vtk(self):
        self.good("export", "o", "--format", "vtp", "-o", "v")
        entries, poses = self.series("v"), self.poses()
        self.assertEqual(len(entries), 2 * (FRAMES + 1))
        for (time, name), file in entries.items():
            frame = round(time * 50)
            data = self.read_vtp("v", file)
            self.assertAlmostEqual(data.GetFieldData().GetArray("TimeValue").GetValue(0), time, places=12)
            points = vtk_to_numpy(data.GetPoints().GetData())
            if name == "coarse":
                ply = columns(self.path("o", f"coarse_{frame:06d}.ply"))
                np.testing.assert_array_equal(points, np.stack([ply["x"], ply["y"], ply["z"]], 1))
                for field in ("radius", "id", "material"):
                    np.testing.assert_array_equal(vtk_to_numpy(data.GetPointData().GetArray(field)), ply[field])
                velocity = vtk_to_numpy(data.GetPointData().GetArray("velocity"))
                np.testing.assert_array_equal(velocity[:, 2], ply["vz"])
                continue
            self.assertEqual(name, "bodies")
            bodies = vtk_to_numpy(data.GetCellData().GetArray("body"))
            self.assertEqual(sorted(set(bodies.tolist())), [1, 2, 3])
            for number, body in ((2, "a-gate"), (3, "ball")):
                cells = np.flatnonzero(bodies == number)
                corners = points[[data.GetCell(int(c)).GetPointId(k) for c in cells for k in range(3)]]
                middle = (corners.min(axis=0) + corners.max(axis=0)) / 2
                np.testing.assert_allclose(middle, poses[frame, body][:3], atol=2e-3)

    def test_a_run_of_vtp_frames_has_its_series(self):
        self.good("run", "s.yaml", "-o", "w", "--frames", "2", "--frames-format", "vtp", "--quiet")
        for file in self.series("w").values():
            self.assertTrue(os.path.exists(self.path("w", file)), file)
        self.assertEqual(len(self.series("w")), 6)
        self.good("run", "s.yaml", "-o", "w", "--frames", "1", "--quiet")  # what is older goes away
        self.assertFalse([name for name in os.listdir(self.path("w")) if name.endswith((".pvd", ".vtp"))])

    def test_usd(self):
        self.good("export", "o", "--format", "usda", "-o", "u")
        usd = Usd(Path(self.path("u", "frames.usda")).read_text())
        self.assertEqual(usd.meta["timeCodesPerSecond"], 50)
        self.assertEqual((usd.meta["startTimeCode"], usd.meta["endTimeCode"]), (0, FRAMES))
        self.assertEqual((usd.meta["upAxis"], usd.meta["metersPerUnit"]), ("Z", 1))
        self.assertEqual(usd.root["name"], usd.meta["defaultPrim"])
        prims = usd.root["children"]
        self.assertEqual(set(prims), {"grains", "tank_1", "a_gate_2", "ball_3"})
        grains = prims["grains"]
        for frame in range(FRAMES + 1):
            ply = columns(self.path("o", f"coarse_{frame:06d}.ply"))
            points = np.array(grains["points.timeSamples"][frame])
            np.testing.assert_allclose(points, np.stack([ply["x"], ply["y"], ply["z"]], 1), atol=1e-6)
            np.testing.assert_allclose(grains["widths.timeSamples"][frame], 2 * ply["radius"], rtol=1e-5)
            np.testing.assert_allclose(np.array(grains["velocities.timeSamples"][frame])[:, 2], ply["vz"], rtol=1e-4, atol=1e-6)
            self.assertEqual(grains["ids.timeSamples"][frame], ply["id"].tolist())
            colors = np.array(grains["primvars:displayColor.timeSamples"][frame])
            np.testing.assert_allclose(colors, np.where(ply["material"][:, None] == 0, [0.8, 0.7, 0.4], [0.1, 0.1, 0.1]))
        poses = self.poses()
        for prim, body in (("a_gate_2", "a-gate"), ("ball_3", "ball")):
            mesh = prims[prim]
            self.assertEqual(mesh["kind"], "Mesh")
            self.assertEqual(set(mesh["faceVertexCounts"]), {3.0})
            self.assertEqual(len(mesh["faceVertexIndices"]), 3 * len(mesh["faceVertexCounts"]))
            self.assertLess(max(mesh["faceVertexIndices"]), len(mesh["points"]))
            self.assertEqual(mesh["xformOpOrder"], ["xformOp:translate", "xformOp:orient"])
            for frame in range(FRAMES + 1):
                np.testing.assert_allclose(mesh["xformOp:translate.timeSamples"][frame], poses[frame, body][:3], atol=1e-6)
                np.testing.assert_allclose(mesh["xformOp:orient.timeSamples"][frame], poses[frame, body][3:], atol=1e-6)

    def test_a_damaged_frame_leaves_nothing(self):
        os.truncate(self.path("o", "coarse_000002.ply"), 300)
        self.bad(2, "coarse_000002.ply", "export", "o", "--format", "usda", "-o", "u")
        self.assertEqual(os.listdir(self.path("u")), [])
