#!/usr/bin/env python3
"""Measures pbd and draws docs/figures/pbd.png: angle of a poured heap against friction, iterations and time step; creep;
discharge of the hourglass. Runs build/scree (or the program named first); takes some minutes.

    python3 docs/figures/pbd.py [build/scree]
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

POUR = """
scree: 1
duration: 5
method: {name: pbd, radius: 0.02, time_step: 0.005, iterations: 5}
materials: {sand: {density: 1600, friction_static: 0.35, friction_kinetic: 0.30}}
emitters:
  - {material: sand, disc: {center: [0, 0, 0.7], radius: 0.15, direction: [0, 0, -1]}, rate: 45, speed: 1.5, until: 4}
boundaries:
  - {plane: {point: [0, 0, 0], normal: [0, 0, 1]}, name: floor}
probes:
  - {name: angle, kind: repose_angle}
  - {name: creep, kind: creep, from: 6}
"""


def run(folder, scene, **sets):
    """Runs a scene (a path or a text) and answers the columns of probes.csv and the folder."""
    if "\n" in scene:
        path = os.path.join(folder, "scene.yaml")
        with open(path, "w") as file:
            file.write(scene)
        scene = path
    out = os.path.join(folder, "out")
    command = [SCREE, "run", scene, "-o", out, "--quiet", "--frames-format", "none"]
    for key, value in sets.items():
        command += ["--set", f"{key.replace('__', '.')}={value}"]
    subprocess.run(command, check=True)
    with open(os.path.join(out, "probes.csv")) as file:
        rows = list(csv.DictReader(file))
    return {key: [float(row[key]) for row in rows] for key in rows[0]}, out


def angle(folder, seeds=3, **sets):
    return sum(run(folder, POUR, seed=k + 1, **sets)[0]["angle"][-1] for k in range(seeds)) / seeds


def main():
    figure, axes = plt.subplots(2, 2, figsize=(10, 7))
    with tempfile.TemporaryDirectory() as folder:
        friction = [0.05, 0.1, 0.2, 0.35, 0.5, 0.8]
        for dt, count in ((0.005, 5), (0.001, 3)):
            values = [
                angle(folder, method__time_step=dt, method__iterations=count, materials__sand__friction_static=mu,
                      materials__sand__friction_kinetic=mu * 0.3 / 0.35) for mu in friction]
            axes[0][0].plot(friction, values, "o-", label=f"{1e3 * dt:g} ms x {count}")
        iterations = [1, 3, 5, 10, 20]
        for dt in (0.005, 0.001):
            values = [angle(folder, method__time_step=dt, method__iterations=count) for count in iterations]
            axes[0][1].plot(iterations, values, "o-", label=f"{1e3 * dt:g} ms")
        for dt, count in ((0.005, 5), (0.001, 3)):
            probes, _ = run(folder, POUR, duration=66, method__time_step=dt, method__iterations=count)
            axes[1][0].plot(probes["time"], [c / 0.04 for c in probes["creep"]], label=f"{1e3 * dt:g} ms x {count}")
        scene = os.path.join(ROOT, "scenes", "sommer2022", "hourglass.yaml")
        probes, _ = run(folder, scene)
        smooth = [sum(probes["discharge"][max(0, k - 30):k + 1]) / len(probes["discharge"][max(0, k - 30):k + 1])
                  for k in range(len(probes["time"]))]
        axes[1][1].plot(probes["time"], smooth)
    labels = (("friction coefficient", "angle of the heap (deg)"), ("iterations", "angle of the heap (deg)"),
              ("time (s)", "creep, 99th percentile (diameters)"), ("time (s)", "hourglass discharge (kg/s), mean of 0.5 s"))
    for axis, (x, y) in zip(axes.flat, labels):
        axis.set_xlabel(x)
        axis.set_ylabel(y)
        axis.grid(alpha=0.3)
        if axis.get_legend_handles_labels()[0]:
            axis.legend()
    figure.tight_layout()
    figure.savefig(os.path.join(os.path.dirname(os.path.abspath(__file__)), "pbd.png"), dpi=110)


if __name__ == "__main__":
    main()
