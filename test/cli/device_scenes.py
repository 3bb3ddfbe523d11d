"""Shipped scenes of pbd and p2 run wholly on a device, with the bits of the CPU: their first frames."""
import unittest

from support.case import Case, needs
from support.devices import DEVICES, same_bits, scenes_of


@needs(len(DEVICES) > 1, "no OpenCL device")
class Scenes(Case):
    def test_position_based(self):
        scenes = list(scenes_of("pbd", "p2"))
        self.assertGreater(len(scenes), 18)
        for name, method in scenes:
            same_bits(self, name, method, 2)


if __name__ == "__main__":
    unittest.main()
