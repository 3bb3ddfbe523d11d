"""What a run prints, with and without a terminal."""
import os
import pty
import subprocess
import unittest

from support.case import PROGRAM, RAIN, Case


class Terminal(Case):
    def test_quiet(self):
        self.assertEqual(self.run_rain("o", 3, "--quiet").stdout, "")

    def test_plain_lines(self):
        text = self.run_rain("o", 8).stdout
        self.assertRegex(text, r"(?m)^frame 8/8, t = 0\.133 s, \d+ steps, [\d.]+ ms per frame, \d+ grains, 0 s left$")
        self.assertNotIn("\r", text)
        self.assertLess(len(text.splitlines()), 12)
        self.assertRegex(text, r"o: 8 frames, \d+ steps, .* times real time")
        self.assertRegex(text, r"(?m)^mass: .* kg at the start \+ .* emitted - .* removed = .* now")
        self.assertRegex(text, r"(?m)^warnings: \d+")
        self.assertIn("report: o/report.json", text)

    def test_bar_on_a_terminal(self):
        master, slave = pty.openpty()
        program = subprocess.Popen([PROGRAM, "run", RAIN, "-o", "o", "--frames", "8"], cwd=self.folder, stdout=slave,
                                   stderr=slave, stdin=subprocess.DEVNULL)
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
        self.assertEqual(program.wait(60), 0)
        self.assertRegex(text, rb"\r\x1b\[K.*frame 8/8")

    def test_reader_that_goes_away(self):
        program = subprocess.Popen([PROGRAM, "run", RAIN, "-o", "o", "--frames", "40"], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        program.stdout.close()
        self.addCleanup(program.stderr.close)
        self.assertEqual(program.wait(60), 0, program.stderr.read())
        self.assertEqual(self.report("o")["frames"], 40)


if __name__ == "__main__":
    unittest.main()
