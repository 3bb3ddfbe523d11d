#!/usr/bin/python3
"""Draws docs/figures/dem.png: slope of a poured pile against friction and rolling resistance.

usage: docs/figures/dem.py [path of the scree program]
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
SCREE = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build", "scree")
SCENE = os.path.join(ROOT, "scenes", "papadimitriou2012", "pour.yaml")
FRICTION = (0.1, 0.3, 0.5, 0.8)
ROLLING = (0, 0.1, 0.3)


def slope(friction, rolling):
    """Angle of the pile of the scene `pour`, with softer grains so that it is quick."""
    sets = {
        "method.radius": 0.006,
        "materials.sand.young": 2e6,
        "materials.sand.friction_static": friction,
        "materials.sand.friction_kinetic": friction,
        "materials.sand.rolling_friction": rolling,
        "emitters.0.speed": 0.1,
    }
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        command = [SCREE, "run", SCENE, "-o", out, "--quiet", "--frames-format", "none", "--seconds", "2.2"]
        for key, value in sets.items():
            command += ["--set", f"{key}={value}"]
        subprocess.run(command, check=True)
        with open(os.path.join(out, "probes.csv"), encoding="utf-8") as file:
            return float(list(csv.DictReader(file))[-1]["slope"])


def main():
    figure, axes = plt.subplots(figsize=(6, 3.6), constrained_layout=True)
    for rolling in ROLLING:
        slopes = [slope(friction, rolling) for friction in FRICTION]
        print(f"rolling_friction {rolling}:", " ".join(f"{value:.1f}" for value in slopes), flush=True)
        axes.plot(FRICTION, slopes, "o-", label=f"rolling_friction {rolling}")
    axes.set_xlabel("friction")
    axes.set_ylabel("slope of the pile, degrees")
    axes.set_ylim(0, None)
    axes.legend(frameon=False)
    figure.savefig(os.path.join(ROOT, "docs", "figures", "dem.png"), dpi=120)


if __name__ == "__main__":
    main()
