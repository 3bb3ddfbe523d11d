"""Laws of `scree validate` that small cases obey with every method. The others need the sizes of `make truth`."""
import json
import os
import subprocess
import tempfile
import unittest

METHODS = ("pbd", "p2", "dem", "sph", "flip")


def validate(test, *words):
    """Rows of the report; the exit code says whether all are in their bands."""
    with tempfile.TemporaryDirectory(prefix="scree_laws_") as folder:
        command = [os.environ["SCREE"], "validate", *words, "--quick", "--quiet", "-o", folder]
        done = subprocess.run(command, capture_output=True, text=True, timeout=1500)
        test.assertIn(done.returncode, (0, 1), done.stderr)
        with open(os.path.join(folder, "report.json")) as file:
            report = json.load(file)
    missed = [row for row in report["rows"] if row["verdict"] != "ok"]
    test.assertEqual(done.returncode, 1 if missed else 0)
    return report


class Laws(unittest.TestCase):
    def test_every_law_has_rows(self):
        """Which bands small cases miss says nothing; that each case of each law runs does."""
        report = validate(self, "--methods", "pbd,flip")
        for law in report["laws"]:
            for method in ("pbd", "flip"):
                rows = [row for row in report["rows"] if (row["law"], row["method"]) == (law["name"], method)]
                self.assertTrue(rows, (law["name"], method))
                self.assertFalse([row for row in rows if row["verdict"] == "failed"], rows)

    def test_statics(self):
        """Solids bear the weight; a dense fill that settles keeps its bulk density."""
        rows = validate(self, "weight", "dense")["rows"]
        for method in METHODS:
            for case in ("load over weight", "settled bulk density"):
                found = [row for row in rows if (row["method"], row["case"]) == (method, case)]
                self.assertEqual([row["verdict"] for row in found], ["ok"], (method, case, found))

    def test_friction_with_solids(self):
        """A bed rests and slides on a plane by sqrt(tan(angle) of the plane), in every method."""
        rows = validate(self, "slide")["rows"]
        self.assertEqual(len(rows), 2 * len(METHODS))
        self.assertFalse([row for row in rows if row["verdict"] != "ok"], rows)


if __name__ == "__main__":
    unittest.main()
