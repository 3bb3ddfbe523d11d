"""A simulation that fails: exit code 1."""
import os
import resource
import unittest

from support.case import RAIN, Case


class Failed(Case):
    def limited(self, megabytes, *words):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        return self.scree("run", RAIN, "--frames", "0", "--quiet", "--threads", "1", *words, preexec_fn=limit)

    def test_out_of_memory(self):
        """The least address space in which a small scene runs is too little for one of 300 thousand grains."""
        enough = next((size for size in range(32, 513, 16) if self.limited(size, "-o", "small").returncode == 0), None)
        if enough is None:
            self.skipTest("this build needs more address space than a limit can give (a sanitizer)")
        done = self.limited(enough, "-o", "large", "--set", "method.radius=0.003")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, r"^error: .*memory.*\n$")
        self.assertFalse(os.path.exists(self.path("large", "report.json")))


if __name__ == "__main__":
    unittest.main()
