"""scree bench: every suite runs, in a moment, and its JSON is what the page of figures is made from. Nothing is measured."""
import json
import math
import os
import re
import unittest

from support.case import Case

# Run as parts of others: sommer has upsample, dem has exchange, geometry has sampling.
PARTS = {"upsample", "exchange", "sampling"}


class Bench(Case):
    def suites(self):
        text = self.good("bench", "--help").stdout
        names = re.findall(r"^  (\w+) +\S", text.split("options:")[0].split("SUITE is one of")[1], re.M)
        self.assertGreater(len(names), 9)
        return names

    def run_suite(self, name, *options):
        self.good("bench", name, "--quick", "--report", "r.json", *options)
        with open(self.path("r.json")) as file:
            return json.load(file)

    def test_every_suite(self):
        with open(os.path.join(os.environ["SCREE_SOURCE"], "bench/targets.json")) as file:
            targets = json.load(file)
        names = self.suites()
        self.assertEqual(set(names), set(targets), "every suite has a place in bench/targets.json")
        for name in names:
            if name in PARTS:
                continue
            with self.subTest(name):
                table = self.run_suite(name)
                self.assertEqual((table["suite"], table["threads"], table["quick"]), (name, 2, True))
                self.assertTrue(table["counts"], "it says which of several measurements count")
                self.assertTrue(table["rows"])
                for row in table["rows"]:
                    self.assertEqual(list(row), ["name", "ours", "reference", "ratio", "unit", "note"])
                    self.assertTrue(row["name"] and math.isfinite(row["ours"]), row)
                    self.assertEqual(row["ratio"] is None, row["reference"] is None, row)
                    if row["reference"]:
                        self.assertAlmostEqual(row["ratio"], row["ours"] / row["reference"], delta=1e-4 * row["ratio"] + 1e-9)

    def test_threads(self):
        """Suites that compare threads compare one with those asked for, and with one alone there is nothing to compare."""
        for threads, words in ((1, []), (3, ["3 threads"])):
            for name in ("neighbors", "scaling", "dem"):
                table = self.run_suite(name, "--threads", str(threads))
                found = {word for row in table["rows"] for word in re.findall(r"\d+ threads", row["name"])}
                self.assertEqual((table["threads"], sorted(found)), (threads, words), name)


if __name__ == "__main__":
    unittest.main()
