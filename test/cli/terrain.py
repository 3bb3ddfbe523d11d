"""Terrain from outside: what a scene may say, the mesh of every frame, mass, resuming, pictures that do not fit."""
import json
import struct
import sys
import unittest
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "support"))
from case import Case  # noqa: E402

SCENE = """scree: 1
duration: 0.5
frame_rate: 20
method: {name: pbd, radius: 0.02}
materials: {sand: {density: 1600}}
terrain: {%s}
bodies:
  - {name: ball, sphere: {radius: 0.1}, density: 4000, position: [0.5, 0.5, 0.45], velocity: [0, 0, -2]}
probes:
  - {name: load, kind: force_on, target: terrain}
"""


def png(width, height, depth=16, color=0, damage=False):
    channels = 3 if color == 2 else 1
    rows = b"".join(b"\0" + bytes((7 * (x + y)) % 256 for x in range(width * channels * depth // 8))
                    for y in range(height))

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    data = chunk(b"IDAT", zlib.compress(rows))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0)) +
            (data[:len(data) // 2] if damage else data + chunk(b"IEND", b"")))


class Terrain(Case):
    def test_a_run_writes_meshes_and_keeps_mass(self):
        scene = self.write("ground.yaml", SCENE % "size: [1, 1], cell: 0.05, height: 0.3")
        self.good("run", scene, "-o", self.path("out"), "--quiet")
        report = json.loads(Path(self.path("out", "report.json")).read_text())
        mass = report["mass"]
        self.assertAlmostEqual(mass["initial"], 480, places=6)
        self.assertAlmostEqual(mass["final"], mass["initial"], places=9)
        self.assertIn("terrain", report["phases_ms"])
        frames = sorted(Path(self.path("out")).glob("terrain_*.ply"))
        self.assertEqual([f.name for f in frames], ["terrain_%06d.ply" % k for k in range(11)])
        first, last = frames[0].read_bytes(), frames[-1].read_bytes()
        self.assertIn(b"element vertex 400\n", first)
        self.assertIn(b"element face 722\n", first)
        self.assertNotEqual(first, last)
        half = ["run", scene, "-o", self.path("half"), "--quiet", "--checkpoint-every", "1"]
        self.good(*half, "--frames", "5")
        self.good(*half, "--resume")
        resumed = json.loads(Path(self.path("half", "report.json")).read_text())
        self.assertEqual(resumed["state_hash"], report["state_hash"])

    def test_the_folder_of_a_run_has_the_files_of_its_scene(self):
        """The scene beside the frames finds what it names: it can be checked, run again, gone on with and drawn."""
        keys = "size: [0.8, 0.6], cell: 0.1, png: maps/hills.png, height_range: [0.1, 0.4]"
        Path(self.path("maps")).mkdir()
        self.write("maps/hills.png", png(8, 6))
        self.write("rock.obj", "v 0 0 0\nv .1 0 0\nv 0 .1 0\nv 0 0 .1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
        scene = self.write("hills.yaml", SCENE % keys + "boundaries: [{mesh: rock.obj, position: [0.2, 0.2, 0.5]}]\n")
        short = ["--frames", "2", "--quiet", "--checkpoint-every", "1", "-o"]
        self.good("run", scene, *short, self.path("out"))
        Path(self.path("maps", "hills.png")).rename(self.path("maps", "gone.png"))
        Path(self.path("rock.obj")).rename(self.path("gone.obj"))
        first, copy = self.report("out"), self.path("out", "scene.yaml")
        self.good("check", copy)
        self.assertEqual(self.good("render", "out", "-o", "still.png", "--frame", "1").stderr, "")
        self.good("run", copy, *short, self.path("again"))
        self.assertEqual(self.report("again")["state_hash"], first["state_hash"])
        self.good("run", copy, "--frames", "4", "--quiet", "--resume", "-o", self.path("out"))
        self.assertEqual(self.report("out")["frames"], 4)

    def test_pictures(self):
        keys = "size: [0.8, 0.6], cell: 0.1, png: hills.png, height_range: [0.1, 0.4]"
        scene = self.write("hills.yaml", SCENE % keys)
        self.write("hills.png", png(8, 6))
        self.good("check", scene)
        for words, data in {
            r"grey picture of 16 bits, this one is grey of 8 bits": png(8, 6, depth=8),
            r"this one is coloured of 16 bits": png(8, 6, color=2),
            r"has 6 x 8 pixels, but size and cell make 8 x 6 columns": png(6, 8),
            r"is not a PNG file": b"P5 8 6 255 " + bytes(48),
            r"png '.*hills\.png': ": png(8, 6, damage=True),
        }.items():
            self.write("hills.png", data)
            for command in ("check", "run"):
                self.bad(2, r"hills\.yaml:6:1: error: .*" + words, command, scene)

    def test_what_cannot_be(self):
        for words, keys in {
            r"4e\+12 columns would need": "size: [2000, 2000], cell: 1e-3, height: 1",
            r"did you mean 'compaction'": "compation: 0.2",
            r"hills2\.png": "png: hills2.png",
        }.items():
            self.bad(2, words, "check", self.write("bad.yaml", SCENE % keys))
        odd = self.good("check", self.write("odd.yaml", SCENE % "size: [1.03, 1], cell: 0.05, height: 0.1"))
        self.assertRegex(odd.stderr, r"odd\.yaml:6:1: warning: terrain: size is not a whole number of cells")


if __name__ == "__main__":
    unittest.main()
