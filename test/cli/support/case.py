"""The real program from outside: what the tests of test/cli share."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["SCREE"]
HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RAIN = os.path.join(HERE, "rain.yaml")


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="scree_cli_")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def scree(self, *words, **options):
        return subprocess.run([PROGRAM, *words], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=120, **options)

    def good(self, *words, **options):
        done = self.scree(*words, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def bad(self, code, pattern, *words, **options):
        """Fails with this code, and the only line on stderr is the error (warnings aside)."""
        done = self.scree(*words, **options)
        lines = [line for line in done.stderr.splitlines() if " warning: " not in line]
        self.assertEqual(done.returncode, code, (words, done.stderr))
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertRegex(lines[0], r"(^|: )error: ")
        self.assertRegex(lines[0], pattern)
        return lines[0]

    def run_rain(self, folder, frames, *words):
        return self.good("run", RAIN, "-o", folder, "--frames", str(frames), *words)

    def report(self, folder):
        with open(self.path(folder, "report.json")) as file:
            return json.load(file, parse_constant=self.fail)

    def frame_files(self, folder, kind="coarse", ending="ply"):
        return sorted(name for name in os.listdir(self.path(folder))
                      if re.fullmatch(kind + r"_\d{6}\." + ending, name))

    def write(self, name, data):
        with open(self.path(name), "wb" if isinstance(data, bytes) else "w") as file:
            file.write(data)
        return self.path(name)
