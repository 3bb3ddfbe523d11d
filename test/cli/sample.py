"""scree sample: points in and on a mesh."""
import os
import unittest

from support.case import Case
from support.readers import read_frame


class Sample(Case):
    CUBE = "".join("v %d %d %d\n" % (x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)) + \
        "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n"

    def test_volume_and_surface(self):
        self.write("cube.obj", self.CUBE)
        for words in ([], ["--volume", "--dense"], ["--surface"], ["--maximal"]):
            self.good("sample", "cube.obj", "--radius", "0.08", "-o", "points.ply", *words)
            rows = read_frame(self.path("points.ply"))
            self.assertGreater(len(rows), 50)
            margin = -1e-4 if "--surface" in words else 0.08 - 2e-3
            for k, row in enumerate(rows):
                self.assertTrue(all(margin <= value <= 1 - margin for value in row[:3]), row)
                self.assertEqual(row[3:6] + row[7:], (0, 0, 0, k, 0))
                self.assertAlmostEqual(row[6], 0.08, places=6)

    def test_bad_input(self):
        self.write("cube.obj", self.CUBE)
        self.write("rubbish.obj", bytes(range(256)))
        self.bad(2, "--radius", "sample", "cube.obj")
        self.bad(2, "--radius", "sample", "cube.obj", "--radius", "-1")
        self.bad(2, "exclude", "sample", "cube.obj", "--radius", "0.1", "--volume", "--surface")
        self.bad(2, "missing.obj", "sample", "missing.obj", "--radius", "0.1")
        self.bad(2, "rubbish.obj", "sample", "rubbish.obj", "--radius", "0.1")
        self.bad(3, "cannot be written", "sample", "cube.obj", "--radius", "0.1", "-o", "none/there.ply")
        self.assertEqual(sorted(os.listdir(self.folder)), ["cube.obj", "rubbish.obj"])


if __name__ == "__main__":
    unittest.main()
