"""Every kernel of fine grains, pbd, p2, sph and dem in a simulator of devices that looks at each access to memory: none outside of a buffer, no
races; and the bits of the CPU. It counts as a graphics card, so that items look for coarse grains by groups."""
import os
import shutil
import subprocess
import unittest

from support.case import HERE, PROGRAM, Case, needs

SCENE, DEM, FAR, PBD, P2, SPH = (os.path.join(HERE, name) for name in (
    "device.yaml", "device_dem.yaml", "device_far.yaml", "device_pbd.yaml", "device_p2.yaml", "device_sph.yaml"))
# The simulator knows nothing of what optimisers write.
GRIND = ["oclgrind", "--data-races", "--build-options", "-cl-opt-disable"]


@needs(shutil.which("oclgrind"), "oclgrind is not installed")
class Oclgrind(Case):
    def look(self, scene, frames, *words):
        words = ["run", scene, "--frames", str(frames), "--frames-format", "none", *words]
        here = self.good(*words, "-o", "cpu").stderr.splitlines()
        done = subprocess.run([*GRIND, PROGRAM, *words, "-o", "there", "--device", "opencl"], cwd=self.folder,
                              capture_output=True, text=True, timeout=1500)
        self.assertEqual(done.returncode, 0, done.stderr)
        # It has no option for exact division, though it divides exactly; and what the program says of itself.
        said = [line for line in done.stderr.splitlines()
                if line.strip() and line not in here and not line.startswith(("warning: opencl:0 (Oclgrind", "note: "))]
        self.assertEqual(said, [])
        for key in ("grains_hash", "state_hash"):
            self.assertEqual(self.report("cpu")[key], self.report("there")[key])
        return done

    def fine(self, mode, *words, frames=4):
        self.look(SCENE, frames, "--set", f"upsample.mode={mode}", *words)
        self.assertGreater(self.report("there")["particles"]["grains"], 500)

    def dem(self, *words, scene=DEM, frames=15):
        self.assertIn("note: dem runs on opencl:0", self.look(scene, frames, *words).stderr)

    def test_pbd(self):
        self.assertIn("note: pbd runs on opencl:0", self.look(PBD, 1).stderr)

    def test_pbd_averaged(self):
        self.look(PBD, 1, "--set", "method.averaging=true", "--set", "method.mass_scaling=2")

    def test_p2(self):
        self.assertIn("note: p2 runs on opencl:0", self.look(P2, 1).stderr)

    def test_p2_averaged(self):
        self.look(P2, 1, "--set", "method.averaging=true", "--set", "method.error_reduction_by=ground")

    def test_better(self):
        self.fine("better")

    def test_paper(self):
        self.fine("paper")

    def test_sph(self):
        self.fine("better", "--method", "sph", frames=2)

    def test_fill_of_a_tile(self):
        self.fine("better", "--set", "upsample.radius=0.0034", frames=1)
        self.assertGreater(self.report("there")["particles"]["grains"], 16000)

    def test_sph_walls(self):
        self.assertIn("note: sph runs on opencl:0", self.look(SPH, 1).stderr)

    def test_paper_without_rule(self):
        self.fine("paper", "--set", "upsample.body_rule=false")

    def test_dem(self):
        self.dem()

    def test_dem_far_apart(self):
        self.dem(scene=FAR, frames=6)

    def test_dem_printed(self):
        self.dem("--set", "method.integrator=euler", "--set", "method.rotation=false", "--set", "method.shear_cap=spring",
                 "--set", "materials.loam.cohesion=0")


if __name__ == "__main__":
    unittest.main()
