#!/usr/bin/python3
"""Measures pbd and draws docs/figures/pbd.png: angle of a poured heap against friction, iterations and time step; creep
over a minute; overlap against depth; discharge of the hourglass. Runs build/scree (or the program named first) and
prints the numbers; takes some minutes.

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
import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCREE = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.join(ROOT, "build", "scree")

POUR = """
scree: 1
duration: 5
method: {name: pbd, radius: 0.02}
materials: {sand: {density: 1600, friction_static: 0.35, friction_kinetic: 0.30}}
emitters:
  - {material: sand, disc: {center: [0, 0, 0.7], radius: 0.15, direction: [0, 0, -1]}, rate: 45, speed: 1.5, until: 4}
boundaries:
  - {plane: {point: [0, 0, 0], normal: [0, 0, 1]}, name: floor}
probes:
  - {name: angle, kind: repose_angle}
  - {name: creep, kind: creep, from: 6}
"""

BED = """
scree: 1
duration: 3
method: {name: pbd, radius: 0.02, time_step: 0.005, iterations: 5}
materials: {sand: {density: 1600, friction_static: 0.35, friction_kinetic: 0.30}}
grains:
  - {material: sand, fill: {box: {min: [-0.25, -0.25, 0], max: [0.25, 0.25, 1.1]}}, start: dense}
boundaries:
  - {box: {min: [-0.25, -0.25, 0], max: [0.25, 0.25, 3]}, inside: true, name: tank}
probes:
  - {name: energy, kind: energy}
"""


def run(folder, scene, frames="none", **sets):
    """Runs a scene (a path or a text) and returns the columns of probes.csv and the folder."""
    if "\n" in scene:
        path = os.path.join(folder, "scene.yaml")
        with open(path, "w") as file:
            file.write(scene)
        scene = path
    out = os.path.join(folder, "out")
    command = [SCREE, "run", scene, "-o", out, "--quiet", "--frames-format", frames]
    for key, value in sets.items():
        command += ["--set", f"{key.replace('__', '.')}={value}"]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    with open(os.path.join(out, "probes.csv")) as file:
        rows = list(csv.DictReader(file))
    return {key: [float(row[key]) for row in rows] for key in rows[0]}, out


def angle(folder, seeds=2, **sets):
    mean = sum(run(folder, POUR, seed=k + 1, **sets)[0]["angle"][-1] for k in range(seeds)) / seeds
    print(f"angle {mean:.1f} deg", sets, flush=True)
    return mean


def overlaps(folder, layers=10, **sets):
    """Largest overlap of two grains in each layer of a bed a metre deep, as a share of the radius."""
    _, out = run(folder, BED, frames="ply", **sets)
    path = sorted(name for name in os.listdir(out) if name.startswith("coarse_"))[-1]
    with open(os.path.join(out, path), "rb") as file:
        body = file.read().split(b"end_header\n", 1)[1]
    row = np.dtype([("at", "<f4", 3), ("v", "<f4", 3), ("radius", "<f4"), ("id", "<u4"), ("material", "u1")])
    grains = np.frombuffer(body, row)
    at, radius = grains["at"].astype(float), float(grains["radius"][0])
    top = at[:, 2].max() + radius
    deepest = np.zeros(layers)
    for k in range(layers):
        low, high = top * k / layers, top * (k + 1) / layers
        near = at[(at[:, 2] > low - 2 * radius) & (at[:, 2] < high + 2 * radius)]
        apart = np.linalg.norm(near[:, None, :] - near[None, :, :], axis=2)
        np.fill_diagonal(apart, 9)
        deepest[k] = max(0, (2 * radius - apart.min()) / radius)
    depth = top * (1 - (np.arange(layers) + 0.5) / layers)
    print("overlap / r from the bottom up:", np.round(deepest, 3), sets, flush=True)
    return depth, deepest


def heaps(folder, method, axes):
    """Angle against friction, iterations and time step, and creep, of heaps of one of the two methods."""
    use = {"method__name": method}
    modes = [{"method__time_step": dt, "method__iterations": count, **use} for dt, count in ((0.005, 5), (0.001, 3))]
    names = ["5 ms x 5", "1 ms x 3"]
    friction = [0.05, 0.1, 0.2, 0.35, 0.5, 0.8]

    def against_friction(**sets):
        return [angle(folder, materials__sand__friction_static=mu, materials__sand__friction_kinetic=mu * 0.3 / 0.35,
                      **sets) for mu in friction]

    for mode, name in zip(modes, names):
        axes[0].plot(friction, against_friction(**mode), "o-", label=name)
        probes, _ = run(folder, POUR, duration=66, **mode)
        print(f"{method}: creep {probes['creep'][-1] / 0.04:.4f} diameters in 60 s, {name}", flush=True)
        axes[3].plot(probes["time"], [c / 0.04 for c in probes["creep"]], label=name)
    axes[3].axhline(0.1, color="k", lw=0.8, ls=":")
    still = {"method__name": "dem", "method__rotation": "false", "materials__sand__restitution": 0.05}
    axes[0].plot(friction, against_friction(**still), "kx:", label="dem, grains that do not turn")
    iterations = [1, 3, 5, 10, 20]
    for dt in (0.005, 0.001):
        values = [angle(folder, method__time_step=dt, method__iterations=count, **use) for count in iterations]
        axes[1].plot(iterations, values, "o-", label=f"{1e3 * dt:g} ms")
    steps = [0.001, 0.002, 0.003, 0.005]
    for count in (3, 5):
        values = [angle(folder, method__time_step=dt, method__iterations=count, **use) for dt in steps]
        axes[2].plot([1e3 * dt for dt in steps], values, "o-", label=f"{count} iterations")
    degrees = "angle of the heap (deg)"
    labels = (("friction coefficient", degrees), ("iterations", degrees), ("time step (ms)", degrees),
              ("time (s)", "creep, 99th percentile (diameters)"))
    for axis, (x, y) in zip(axes, labels):
        finish(axis, x, y)


def finish(axis, x, y):
    axis.set_xlabel(x)
    axis.set_ylabel(y)
    axis.grid(alpha=0.3)
    if axis.get_legend_handles_labels()[0]:
        axis.legend()


def main():
    figure, axes = plt.subplots(2, 3, figsize=(14, 7))
    with tempfile.TemporaryDirectory() as folder:
        heaps(folder, "pbd", [axes[0][0], axes[0][1], axes[0][2], axes[1][0]])
        for dt, count in ((0.005, 5), (0.001, 3)):
            depths = overlaps(folder, method__time_step=dt, method__iterations=count)
            axes[1][1].plot(*depths, "o-", label=f"{1e3 * dt:g} ms x {count}")
        scene = os.path.join(ROOT, "scenes", "sommer2022", "hourglass.yaml")
        probes, _ = run(folder, scene, upsample__radius=0.0279)
        smooth = [sum(probes["discharge"][max(0, k - 30):k + 1]) / len(probes["discharge"][max(0, k - 30):k + 1])
                  for k in range(len(probes["time"]))]
        axes[1][2].plot(probes["time"], smooth)
    finish(axes[1][1], "depth (m)", "largest overlap / radius")
    finish(axes[1][2], "time (s)", "discharge (kg/s), mean of 0.5 s")
    figure.tight_layout()
    figure.savefig(os.path.join(os.path.dirname(os.path.abspath(__file__)), "pbd.png"), dpi=110)


if __name__ == "__main__":
    main()
