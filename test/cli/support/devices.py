"""Shipped scenes on a device and on the CPU."""
import glob
import os
import re
import subprocess

from support.case import PROGRAM

SCENES = os.path.join(os.environ["SCREE_SOURCE"], "scenes")
DEVICES = subprocess.run([PROGRAM, "list", "devices"], capture_output=True, text=True).stdout.splitlines()


def scenes_of(*methods):
    """Names of those whose method is one of these, and its name."""
    for path in sorted(glob.glob(os.path.join(SCENES, "*", "*.yaml"))):
        with open(path) as file:
            found = re.search(r"^method: *\{name: (\w+)", file.read(), re.M)
        if found and found.group(1) in methods:
            yield os.path.relpath(path, SCENES)[:-len(".yaml")], found.group(1)


def same_bits(case, name, method, frames, *words):
    """The method runs on the device, and both end with the same hashes."""
    words = ["run", name, "--frames", str(frames), "--frames-format", "none", *words]
    with case.subTest(name):
        here = case.good(*words, "-o", "here", "--quiet", "--device", "cpu")
        there = case.good(*words, "-o", "there", "--device", "opencl:0")
        case.assertRegex(there.stderr, rf"note: {method} (runs on|and fine grains on) opencl:0", here.stderr)
        for key in ("grains_hash", "state_hash"):
            case.assertEqual(case.report("here")[key], case.report("there")[key], key)
