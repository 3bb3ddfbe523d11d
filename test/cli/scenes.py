"""Every shipped scene runs for some frames, with grains twice as large: all that it uses is there, and nothing that it
says is without effect."""
import concurrent.futures
import glob
import os
import re
import unittest

from support.case import Case

SCENES = os.path.join(os.environ["SCREE_SOURCE"], "scenes")


class Scenes(Case):
    def run_scene(self, path):
        name = os.path.relpath(path, SCENES)[:-len(".yaml")]
        with open(path) as file:
            text = file.read()
        sets = []
        for section in ("method", "upsample"):
            radius = re.search(rf"^{section}:.*\bradius: ([0-9.e-]+)", text, re.M)
            if radius:
                sets += ["--set", f"{section}.radius={2 * float(radius.group(1))}"]
        done = self.scree("run", name, "-o", name.replace("/", "_"), "--frames", "2", "--frames-format", "none",
                          "--threads", "1", "--quiet", *sets)
        return name, done

    def test_every_scene_runs(self):
        paths = sorted(glob.glob(os.path.join(SCENES, "*", "*.yaml")))
        self.assertGreater(len(paths), 40)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for name, done in pool.map(self.run_scene, paths):
                with self.subTest(name):
                    self.assertEqual(done.returncode, 0, (name, done.stderr))
                    self.assertNotIn("is not read", done.stderr, name)
                    report = self.report(name.replace("/", "_"))
                    self.assertEqual(report["frames"], 2)


if __name__ == "__main__":
    unittest.main()
