#!/usr/bin/env python3
"""Measures flip and draws docs/figures/flip.png: angle of the heaps that low columns leave against alpha, for each yield
surface; discharge of the hourglass and the mass that is left above. Runs build/scree (or the program named first).

    python3 docs/figures/flip.py [build/scree]
"""
import csv
import os
import subprocess
import sys
import tempfile

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCREE = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.join(ROOT, "build", "scree")


def run(folder, scene, *options):
    out = os.path.join(folder, "out")
    command = [SCREE, "run", os.path.join(ROOT, "scenes", "narain2010", scene + ".yaml"), "-o", out, "--quiet",
               "--frames-format", "none"]
    subprocess.run(command + list(options), check=True)
    with open(os.path.join(out, "probes.csv")) as file:
        return list(csv.DictReader(file))


def main():
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), constrained_layout=True)
    with tempfile.TemporaryDirectory() as folder:
        for surface, mark in (("cone", "o-"), ("planes", "s--"), ("box", "^:")):
            angles = [float(run(folder, "pile_0%d" % k, "--set", "method.radius=0.0125", "--frames", "40", "--set",
                                "method.yield_surface=" + surface)[-1]["pile"]) for k in (3, 5, 7)]
            left.plot([0.3, 0.5, 0.7], angles, mark, label=surface)
            print(surface, angles)
        rows = run(folder, "hourglass", "--set", "method.radius=0.0125", "--frames", "40")
    left.set_xlabel("alpha")
    left.set_ylabel("angle of the heap, degrees")
    left.legend(frameon=False)
    time = [float(row["time"]) for row in rows]
    right.plot(time, [float(row["discharge"]) for row in rows], color="C3")
    right.set_xlabel("time, s")
    right.set_ylabel("discharge of the hourglass, kg/s")
    right.set_ylim(bottom=0)
    figure.savefig(os.path.join(ROOT, "docs", "figures", "flip.png"), dpi=110)


if __name__ == "__main__":
    main()
