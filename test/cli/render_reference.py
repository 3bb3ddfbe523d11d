"""Pictures against reference pictures in test/cli/reference, block by block: another driver rounds differently and noise
falls elsewhere, but blocks of 12 x 12 pixels have the same mean colour.

    SCREE=build/scree python3 test/cli/render_reference.py make

draws the references again; look at them before they are kept."""
import os
import sys
import unittest

from support.case import HERE, Case
from support.pictures import block_means, read_png

SCENE = os.path.join(HERE, "render_scene.yaml")
FOLDER = os.path.join(HERE, "reference")
SIZE, BLOCK = "192x144", 12
PICTURES = {
    "heap": ["--quality", "fine"],
    "draft": ["--quality", "draft", "--title"],
    "height": ["--quality", "normal", "--color", "height"],
    "depth": ["--quality", "draft", "--color", "depth", "--range", "0:0.5"],
}
# Of 255: how far a block's mean may be off, and all of them on average. Without shadows the heap is 79 and 3.8 off, with
# edges smoothed instead of four samples a pixel 10 and 1.0, with the camera 10 cm to the side 9.7 and 1.0. A line of glass
# that falls into the next block is 5 off.
BLOCK_MOST, MEAN_MOST = 8, 0.8


def draw(case, name, folder, *words):
    target = os.path.join(folder, name + ".png")
    case.good("render", SCENE, "--frame", "0", "--size", SIZE, "-o", target, *PICTURES[name], *words)
    return read_png(target)


def differences(one, other):
    """Largest and mean difference of the blocks' means."""
    off = [abs(a - b) for a, b in zip(block_means(one, BLOCK), block_means(other, BLOCK))]
    return max(off), sum(off) / len(off)


class Reference(Case):
    def test_pictures(self):
        for name in PICTURES:
            with self.subTest(name):
                reference = read_png(os.path.join(FOLDER, name + ".png"))
                most, mean = differences(draw(self, name, self.folder), reference)
                self.assertLess(most, BLOCK_MOST)
                self.assertLess(mean, MEAN_MOST)

    def test_the_tolerance_tells_pictures_apart(self):
        heap = read_png(os.path.join(FOLDER, "heap.png"))
        for words in (["--quality", "draft"], ["--quality", "normal"], ["--set", "camera.eye=[1.7, -2.0, 1.4]"],
                      ["--color", "id"], ["--set", "bodies[0].position=[0.1, 0, 0.8]"]):
            most, mean = differences(draw(self, "heap", self.folder, *words), heap)
            self.assertTrue(most > BLOCK_MOST or mean > MEAN_MOST, (words, most, mean))


if __name__ == "__main__":
    if sys.argv[1:] == ["make"]:
        maker = Reference()
        maker.setUp()
        os.makedirs(FOLDER, exist_ok=True)
        for picture in PICTURES:
            draw(maker, picture, FOLDER)
        maker.doCleanups()
    else:
        unittest.main()
