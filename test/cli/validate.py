"""scree validate from outside: a few small cases of every law, names that are wrong, an interrupt."""
import json
import os
import signal
import subprocess
import unittest

from support.case import PATIENCE, PROGRAM, Case


class Validate(Case):
    def test_report(self):
        """Table, report and plots say the same."""
        done = self.scree("validate", "weight", "tilt", "--quick", "--quiet", "--methods", "flip,flip")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        with open(self.path("out", "validate", "report.json")) as file:
            report = json.load(file, parse_constant=self.fail)
        self.assertEqual(report["level"], "quick")
        self.assertEqual([law["name"] for law in report["laws"]], ["weight", "tilt"])
        self.assertEqual([row["law"] for row in report["rows"]], ["weight", "tilt", "tilt"])
        for row in report["rows"]:
            self.assertIn(row["verdict"], ("ok", "missed"), row)
            self.assertIn(row["case"], done.stdout)
            with open(self.path("out", "validate", f"{row['law']}.png"), "rb") as file:
                self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")
        missed = sum(row["verdict"] != "ok" for row in report["rows"])
        self.assertEqual(done.returncode, 1 if missed else 0)
        self.assertIn(f"{3 - missed} of 3 within their bands", done.stdout)

    def test_wrong_names(self):
        self.bad(2, "unknown law 'heep' \\(did you mean 'heap'\\?\\)", "validate", "heep")
        self.bad(2, "unknown method 'sqh' \\(did you mean 'sph'\\?\\)", "validate", "heap", "--methods", "pbd,sqh")
        self.bad(2, "names no method", "validate", "--methods", "")
        self.bad(2, "exclude each other", "validate", "--quick", "--fine")
        self.assertFalse(os.path.exists(self.path("out")))

    def test_help(self):
        text = self.good("validate", "--help").stdout
        for word in ("heap", "collapse", "--fine", "--methods", "example:"):
            self.assertIn(word, text)

    def test_interrupt(self):
        """Ctrl-C ends the runs; what laws are done with would be reported."""
        process = subprocess.Popen([PROGRAM, "validate", "heap", "--methods", "sph", "--threads", "2"],
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.wait_until_caught(process, signal.SIGINT)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("interrupted", errors)
        self.assertFalse(os.path.exists(self.path("out", "validate", "report.json")))  # no law is done with

    def test_folder(self):
        with open(self.path("file"), "w"):
            pass
        self.bad(3, "file", "validate", "heap", "-o", "file/deep")


if __name__ == "__main__":
    unittest.main()
