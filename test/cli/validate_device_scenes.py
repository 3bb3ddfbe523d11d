"""Shipped scenes of pbd and p2 on a device, with the bits of the CPU: half a second of each."""
import unittest

from support.case import Case, needs
from support.devices import DEVICES, same_bits, scenes_of


@needs(len(DEVICES) > 1, "no OpenCL device")
class Scenes(Case):
    def look(self, *methods):
        scenes = list(scenes_of(*methods))
        for name, method in scenes:
            same_bits(self, name, method, 30)
        return len(scenes)

    def test_pbd(self):
        self.assertGreater(self.look("pbd"), 7)

    def test_p2(self):
        self.assertGreater(self.look("p2"), 9)


if __name__ == "__main__":
    unittest.main()
