"""Shipped scenes of pbd and p2 on a device, with the bits of the CPU: half a second of each."""
import unittest

from support.case import Case, needs
from support.devices import DEVICES, same_bits, scenes_of


@needs(len(DEVICES) > 1, "no OpenCL device")
class Scenes(Case):
    def test_pbd(self):
        for name, method in scenes_of("pbd"):
            same_bits(self, name, method, 30)

    def test_p2(self):
        for name, method in scenes_of("p2"):
            same_bits(self, name, method, 30)


if __name__ == "__main__":
    unittest.main()
