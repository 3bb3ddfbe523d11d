"""scree export: PLY to VTP and back."""
import os
import unittest

from support.case import Case
from support.readers import read_frame, read_vtp


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
