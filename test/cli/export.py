"""scree export: PLY to VTP and compact frames, and back."""
import math
import os
import struct
import unittest

from support.case import Case
from support.readers import read_compact, read_frame, read_vtp


class Export(Case):
    def test_there_and_back(self):
        self.run_rain("o", 2)
        self.assertIn("3 files written", self.good("export", "o", "--format", "vtp").stdout)
        self.good("export", "o", "--format", "vtp", "-o", "vtp")
        self.good("export", "vtp", "--format", "ply", "-o", "ply", "--quiet")
        for k in range(3):
            name = "coarse_%06d" % k
            self.assertEqual(read_vtp(self.path("o", name + ".vtp")), read_frame(self.path("o", name + ".ply")))
            with open(self.path("o", name + ".ply"), "rb") as one, open(self.path("ply", name + ".ply"), "rb") as two:
                self.assertEqual(one.read(), two.read())
        self.assertIn("3 were there", self.good("export", "o", "--format", "ply").stdout)

    def test_compact(self):
        self.run_rain("c", 2, "--frames-format", "compact", "--frames-columns", "velocity,id")
        self.run_rain("o", 2)
        self.good("export", "o", "--format", "compact", "--columns", "velocity,id")
        for form in ("ply", "vtp"):
            self.good("export", "c", "--format", form, "-o", form)
        for k in range(3):
            name = "coarse_%06d" % k
            _, rows = read_compact(self.path("c", name + ".compact"))
            expected = [tuple(float(self.as_float(value)) for value in row) for row in rows]
            self.assertEqual([tuple(map(float, row)) for row in read_frame(self.path("ply", name + ".ply"))], expected)
            self.assertEqual([tuple(map(float, row)) for row in read_vtp(self.path("vtp", name + ".vtp"))], expected)
            # From a PLY frame, whose floats have steps of 0.1 mm here, it is the same within those.
            for one, two in zip(sorted(read_compact(self.path("o", name + ".compact"))[1], key=lambda row: row[7]),
                                sorted(rows, key=lambda row: row[7])):
                self.assertLess(math.dist(one[:3], two[:3]), 3e-4)
        self.assertIn("3 were there", self.good("export", "c", "--format", "compact").stdout)
        self.good("export", "c", "--format", "usda", "-o", "usd")
        self.good("export", "c", "--format", "compact", "--columns", "none", "-o", "small")
        told = self.good("export", "small", "--format", "ply", "-o", "again")
        self.assertIn("without velocities and ids", told.stderr)
        self.assertEqual({row[3:6] for row in read_frame(self.path("again", "coarse_000002.ply"))}, {(0, 0, 0)})
        self.good("export", "small", "--format", "usda", "-o", "small")
        with open(self.path("small", "frames.usda")) as file:
            self.assertNotIn("velocities", file.read())
        self.bad(2, "for compact frames", "export", "c", "--format", "ply", "--columns", "id")
        self.bad(2, "hold no velocities", "render", "small", "--frame", "0", "--color", "speed", "-o", "s.png")
        with open(self.path("small", "coarse_000000.compact"), "r+b") as file:
            file.truncate(200)
        self.bad(2, r"coarse_000000\.compact: error: damaged frame: it ends early", "export", "small", "--format", "ply", "-o", "x")

    @staticmethod
    def as_float(value):
        """As a column of 32 bits holds it."""
        return struct.unpack("<f", struct.pack("<f", value))[0] if isinstance(value, float) else value

    def test_bad_folders(self):
        os.mkdir(self.path("empty"))
        self.bad(2, "no frames", "export", "empty", "--format", "ply")
        self.bad(2, "No such file", "export", "missing", "--format", "ply")
        self.bad(2, "--format", "export", "empty")
        self.write("empty/coarse_000000.ply", b"ply\nformat binary_little_endian 1.0\nelement vertex 99\n")
        self.bad(2, r"coarse_000000\.ply: error: damaged", "export", "empty", "--format", "vtp")
        self.write("file", "")
        self.run_rain("o", 0)
        self.bad(3, "it is a file", "export", "o", "--format", "vtp", "-o", "file")


if __name__ == "__main__":
    unittest.main()
