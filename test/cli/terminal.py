"""What a run prints, with and without a terminal."""
import os
import pty
import re
import subprocess
import time
import unittest

from support.case import PATIENCE, PROGRAM, RAIN, Case

# Enough grains that placing them takes several changes of the line, on a machine some times as fast as today's, too.
DENSE = """scree: 1
method: {name: none, radius: 0.009}
grains: [{material: sand, start: dense, fill: {box: {min: [0, 0, 0], max: [0.6, 0.6, 0.6]}}}]
materials: {sand: {}}
boundaries: [{plane: {point: [0, 0, 0], normal: [0, 0, 1]}}]
"""


class Terminal(Case):
    def test_quiet(self):
        self.assertEqual(self.run_rain("o", 3, "--quiet").stdout, "")

    def test_plain_lines(self):
        began = time.monotonic()
        text = self.run_rain("o", 8).stdout
        self.assertRegex(text, r"(?m)^frame 8/8, t = 0\.133 s, \d+ steps, [\d.]+ ms per frame, \d+ grains, 0 s left$")
        self.assertNotIn("\r", text)
        # The first frame, the last, and every two seconds; what was prepared, as seldom; a few lines at the end.
        self.assertLess(len(text.splitlines()), 12 + (time.monotonic() - began))
        self.assertRegex(text, r"o: 8 frames, \d+ steps, .* times real time")
        self.assertRegex(text, r"(?m)^mass: .* kg at the start \+ .* emitted - .* removed = .* now")
        self.assertRegex(text, r"(?m)^warnings: \d+")
        self.assertIn("report: o/report.json", text)

    def on_a_terminal(self, *words):
        """What `scree` prints where it can overwrite a line."""
        master, slave = pty.openpty()
        program = subprocess.Popen([PROGRAM, *words], cwd=self.folder, stdout=slave, stderr=slave,
                                   stdin=subprocess.DEVNULL)
        os.close(slave)
        text = b""
        while True:
            try:
                data = os.read(master, 4096)
            except OSError:
                break
            if not data:
                break
            text += data
        os.close(master)
        self.assertEqual(program.wait(PATIENCE), 0)
        return text

    def test_bar_on_a_terminal(self):
        self.assertRegex(self.on_a_terminal("run", RAIN, "-o", "o", "--frames", "8"), rb"\r\x1b\[K.*frame 8/8")

    def test_what_is_prepared(self):
        """Before the first frame one line says what is done and how far it is; every text of it is overwritten."""
        scene = self.write("dense.yaml", DENSE)
        text = self.on_a_terminal("run", scene, "-o", "o", "--frames", "1").split(b"frame 1/1")[0]
        said = re.findall(rb"\r\x1b\[K([a-z ]+): (\d+) %(?=\r)", text)
        self.assertLessEqual({b"loading fills", b"loading solids", b"making distance grids", b"placing grains"},
                             {what for what, _ in said})
        self.assertGreater(len({share for what, share in said if what == b"placing grains"}), 1)
        self.assertNotIn(b"\n", text)
        self.assertEqual(self.on_a_terminal("run", scene, "-o", "q", "--frames", "1", "--quiet"), b"")

    def test_what_is_prepared_without_a_terminal(self):
        """Only what takes seconds is said, in plain lines."""
        scene = self.write("dense.yaml", DENSE)
        began = time.monotonic()
        text = self.good("run", scene, "-o", "o", "--frames", "1").stdout
        lines = [line for line in text.splitlines() if "%" in line]
        self.assertLessEqual(len(lines), (time.monotonic() - began) / 2)
        for line in lines:
            self.assertRegex(line, r"^[a-z ]+: \d+ %$")
        self.assertNotIn("\r", text)

    def test_reader_that_goes_away(self):
        program = subprocess.Popen([PROGRAM, "run", RAIN, "-o", "o", "--frames", "40"], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        program.stdout.close()
        self.addCleanup(program.stderr.close)
        self.assertEqual(program.wait(PATIENCE), 0, program.stderr.read())
        self.assertEqual(self.report("o")["frames"], 40)


if __name__ == "__main__":
    unittest.main()
