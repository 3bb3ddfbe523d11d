"""The real program from outside: what the tests of test/cli share."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest

PROGRAM = os.environ["SCREE"]
HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RAIN = os.path.join(HERE, "rain.yaml")
PATIENCE = 400  # s: what takes longer hangs. A busy machine, with sanitizers, is none of it; ctest ends a test after 1800 s.


def needs(there, what):
    """A test, or a class of them, that needs something that can be installed. `make test` installs it: there its absence is a
    failure."""
    if there or not os.environ.get("SCREE_STRICT"):
        return unittest.skipUnless(there, what)

    def fails(wanted):
        def test(self):
            self.fail(f"not run: {what}")
        return type(wanted.__name__, (unittest.TestCase,), {"test": test}) if isinstance(wanted, type) else test
    return fails


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="scree_cli_")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def scree(self, *words, **options):
        return subprocess.run([PROGRAM, *words], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=PATIENCE, **options)

    def good(self, *words, **options):
        done = self.scree(*words, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def bad(self, code, pattern, *words, **options):
        """Fails with this code, and the only line on stderr is the error (warnings aside)."""
        done = self.scree(*words, **options)
        lines = [line for line in done.stderr.splitlines() if not re.search(r"(^| )warning: ", line)]
        self.assertEqual(done.returncode, code, (words, done.stderr))
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertRegex(lines[0], r"(^|: )error: ")
        self.assertRegex(lines[0], pattern)
        return lines[0]

    def wait_until(self, condition, what):
        """What `condition` answers, as soon as that is something."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = condition()
            if found:
                return found
            time.sleep(0.02)
        self.fail(f"waited {PATIENCE} s for {what}")

    def wait_for_file(self, program, *names):
        def there():
            self.assertIsNone(program.poll(), "the run ended early")
            return os.path.exists(self.path(*names))
        self.wait_until(there, os.path.join(*names))

    def wait_until_caught(self, program, number):
        """Until a program that was begun handles this signal, which would have ended it before."""
        def caught():
            self.assertIsNone(program.poll(), "it ended early")
            with open(f"/proc/{program.pid}/status") as file:
                return int(re.search(r"SigCgt:\s*(\w+)", file.read())[1], 16) >> (number - 1) & 1
        self.wait_until(caught, f"a handler of signal {number}")

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
