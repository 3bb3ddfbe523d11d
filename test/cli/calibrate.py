"""scree calibrate: the tables in the sources are what it makes of the samples that are stored; what it refuses."""
import os
import pathlib
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["SCREE_SOURCE"])
TABLES = {"pbd": "src/methods/common/position_calibration.h", "dem": "src/methods/dem/calibration_table.h"}


def calibrate(*arguments):
    return subprocess.run([os.environ["SCREE"], "calibrate", *arguments], capture_output=True, text=True, check=False)


class Calibrate(unittest.TestCase):
    def test_the_tables_are_fresh(self):
        for method, table in TABLES.items():
            with tempfile.TemporaryDirectory() as folder:
                samples = SOURCE / "app" / "validate" / "samples" / f"{method}.csv"
                done = calibrate(method, "--from", str(samples), "-o", folder)
                self.assertEqual(done.returncode, 0, done.stderr)
                made = (pathlib.Path(folder) / f"{method}.h").read_text()
                self.assertEqual(made, (SOURCE / table).read_text(), f"{table} is stale")

    def test_p2_has_the_table_of_pbd(self):
        with tempfile.TemporaryDirectory() as folder:
            done = calibrate("p2", "--from", str(SOURCE / "app" / "validate" / "samples" / "pbd.csv"), "-o", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual((pathlib.Path(folder) / "p2.h").read_text(), (SOURCE / TABLES["pbd"]).read_text())

    def test_refusals_are_one_line(self):
        for arguments in (["sph"], ["pb"], ["d"], [""], ["pbd", "--from", "/nowhere.csv"], ["pbd", "--from", __file__]):
            with tempfile.TemporaryDirectory() as folder:
                done = calibrate(*arguments, "-o", folder)
                self.assertEqual(done.returncode, 2, arguments)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
