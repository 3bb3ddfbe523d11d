"""Help, version, lists and bad usage."""
import os
import subprocess
import unittest

from support.case import PROGRAM, RAIN, Case

COMMANDS = ["run", "view", "render", "compare", "sample", "bench", "check", "export", "list"]


class Usage(Case):
    def test_help_of_the_program(self):
        for words in (["--help"], ["-h"], ["help"]):
            text = self.good(*words).stdout
            for command in COMMANDS:
                self.assertIn(command, text)
            self.assertIn("example", text)

    def test_help_of_every_command(self):
        for command in COMMANDS:
            for words in ([command, "--help"], [command, "-h"], ["help", command]):
                text = self.good(*words).stdout
                self.assertIn("usage: scree " + command, text)
                self.assertRegex(text, r"example:\n  scree " + command)
        for option in ("-o", "--method", "--frames", "--seconds", "--threads", "--set", "--frames-format", "--report",
                       "--checkpoint-every", "--resume", "--quiet", "--seed"):
            self.assertIn(option, self.good("run", "--help").stdout)

    def test_version(self):
        self.assertRegex(self.good("--version").stdout, r"^scree \d+\.\d+\.\d+\n$")

    def test_bad_usage(self):
        self.bad(2, "no command")
        self.bad(2, "did you mean 'run'", "rnu")
        self.bad(2, "unknown option '--wat'", "--wat")
        self.bad(2, "usage: scree run SCENE", "run")
        self.bad(2, "did you mean '--frames'", "run", RAIN, "--frmes", "3")
        self.bad(2, "too many", "run", RAIN, RAIN)
        self.bad(2, "needs a value", "run", RAIN, "--frames")
        self.bad(2, "takes no value", "run", RAIN, "--quiet=1")
        self.bad(2, "exclude each other", "run", RAIN, "--frames", "1", "--seconds", "1")
        self.bad(2, "expected one of ply", "run", RAIN, "--frames-format", "obj")
        for value in ("x", "-1", "1.5", "3x", "", "99999999999999999999"):
            self.bad(2, "--frames '.*' *: expected a whole number", "run", RAIN, "--frames", value)
        for value in ("nan", "inf", "-1", "1s", "1e400"):
            self.bad(2, "--seconds '.*': expected a number", "run", RAIN, "--seconds", value)
        self.bad(2, "whole number from 0 to 9007199254740992", "run", RAIN, "--seed", "9007199254740993")
        self.bad(2, "usage: scree list", "list")
        self.bad(2, "did you mean 'probes'", "list", "probs")
        self.assertEqual(os.listdir(self.folder), [])

    def test_bench(self):
        self.bad(2, "no suite 'nonsense'", "bench", "nonsense")
        self.bad(2, "did you mean 'neighbors'", "bench", "neighbrs")

    def test_lists(self):
        self.assertRegex(self.good("list", "methods").stdout, r"(?m)^none ")
        self.assertRegex(self.good("list", "parameters").stdout, r"(?m)^method\.radius .*m, .* default 0\.02")
        self.assertRegex(self.good("list", "parameters").stdout, r"(?m)^gravity +\[x, y, z\] m/s\^2, .* default \[0, 0, -9\.81\]")
        probes = self.good("list", "probes").stdout
        for kind in "flow repose_angle runout force_on packing mass_in pose_of creep energy".split():
            self.assertRegex(probes, r"(?m)^%s " % kind)
        self.assertIn("plane_z", probes)
        self.good("list", "scenes")

    def test_standard_output_that_is_full(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, "list", "parameters"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
