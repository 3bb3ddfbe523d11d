"""--device and SCREE_DEVICE: what they name, what is said, what the report holds."""
import os
import subprocess
import unittest

from support.case import HERE, PROGRAM, Case, needs

SCENE = os.path.join(HERE, "device.yaml")
DEVICES = subprocess.run([PROGRAM, "list", "devices"], capture_output=True, text=True).stdout.splitlines()


class Device(Case):
    def run_on(self, device, *words, **options):
        done = self.good("run", SCENE, "-o", device, "--frames", "4", "--frames-format", "none", "--device", device, *words,
                         **options)
        return done, self.report(device)

    def test_list(self):
        self.assertRegex(DEVICES[0], "^cpu ")

    def test_not_there(self):
        self.bad(2, "'opencl:99' is not there", "run", SCENE, "--device", "opencl:99")
        self.bad(2, "expected cpu, opencl or opencl:N", "run", SCENE, "--device", "gpu")
        self.bad(2, "'opencl:77' is not there", "run", SCENE, env=os.environ | {"SCREE_DEVICE": "opencl:77"})
        self.bad(2, "'opencl:99' is not there", "bench", "geometry", "--device", "opencl:99")
        self.bad(2, "expected cpu, opencl or opencl:N", "bench", "geometry", env=os.environ | {"SCREE_DEVICE": "gpu"})
        self.assertFalse(os.path.exists(self.path("out")))

    def test_no_key(self):
        self.bad(2, "unknown key 'device'", "check", SCENE, "--set", "method.device=cpu")

    @needs(len(DEVICES) > 1, "no OpenCL device")
    def test_same_bits(self):
        said, there = self.run_on("opencl:0")
        _, here = self.run_on("cpu", env=os.environ | {"SCREE_DEVICE": "opencl:77"})  # which the option overrules
        self.assertIn("note: pbd and fine grains on opencl:0", said.stderr)
        self.assertEqual((here["device"], there["device"]), ("cpu", "opencl:0"))
        for key in ("grains_hash", "state_hash"):
            self.assertEqual(here[key], there[key])
        self.assertNotIn("bus_kb_per_step", here)
        self.assertGreater(there["bus_kb_per_step"], 0)
        self.assertGreater(there["device_memory_peak_mb"], 0)
        self.assertGreater(there["phases_ms"]["device fine grains"], 0)
        self.assertTrue(there["driver"] and there["device_name"])

    @needs(len(DEVICES) > 1, "no OpenCL device")
    def test_pbd(self):
        words = ["--set", "bodies=[]"]
        said, there = self.run_on("opencl:0", *words)
        _, here = self.run_on("cpu", *words)
        self.assertIn("note: pbd and fine grains on opencl:0", said.stderr)
        for key in ("grains_hash", "state_hash"):
            self.assertEqual(here[key], there[key])
        for phase in ("device bins", "device contacts", "device solve", "device commit", "device fine grains"):
            self.assertGreater(there["phases_ms"][phase], 0)

    @needs(len(DEVICES) > 1, "no OpenCL device")
    def test_resume_elsewhere(self):
        words = ["run", SCENE, "-o", "a", "--frames-format", "none"]
        self.good(*words, "--frames", "2", "--device", "opencl")
        self.good(*words, "--frames", "4", "--resume")
        self.assertEqual(self.report("a")["grains_hash"], self.run_on("cpu")[1]["grains_hash"])


if __name__ == "__main__":
    unittest.main()
