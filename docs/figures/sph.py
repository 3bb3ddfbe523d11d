#!/usr/bin/python3
"""Draws docs/figures/sph.png: what sph does, measured with the program itself.

usage: docs/figures/sph.py [path of the scree program [folder for the runs]]

Runs whose folder is there already are not repeated. A few minutes on two cores. What the solver did, and what faults of
the draft do, is told by test_physics_validate_sph_measure and test_physics_validate_sph_faults beside the program.
"""
import csv
import math
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
FOLDER = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()

# What the shipped piles read at their end: scree run neder2023/pile_30 and so on.
FULL_SIZE = [25.8, 35.9, 42.3]

SLUMP = """scree: 1
duration: {seconds}
frame_rate: 30
method: {{name: sph, radius: 0.02{method}}}
materials:
  sand: {{density: 1600, friction_angle_deg: {angle}}}
grains:
  - {{material: sand, fill: {{cylinder: {{base: [0, 0, 0], radius: 0.36, height: 0.3}}}}}}
boundaries:
  - {{plane: {{point: [0, 0, 0], normal: [0, 0, 1]}}, friction_static: 2, friction_kinetic: 2, name: floor}}
probes:
  - {{name: angle, kind: repose_angle}}
  - {{name: energy, kind: energy}}
"""
POUR = """scree: 1
duration: 7
frame_rate: 30
method: {{name: sph, radius: 0.02}}
materials:
  sand: {{density: 1600, friction_angle_deg: {angle}}}
emitters:
  - {{material: sand, disc: {{center: [0, 0, 0.45], radius: 0.16, direction: [0, 0, -1]}}, rate: 40, speed: 1, until: 5}}
boundaries:
  - {{plane: {{point: [0, 0, 0], normal: [0, 0, 1]}}, friction_static: 2, friction_kinetic: 2, name: floor}}
probes:
  - {{name: angle, kind: repose_angle}}
"""
FALL = """scree: 1
duration: 4
frame_rate: 30
method: {{name: sph, radius: 0.02, drag: {drag}}}
materials:
  sand: {{density: 1600}}
grains:
  - {{material: sand, fill: {{box: {{min: [-0.02, -0.02, 0], max: [0.02, 0.02, 0.04]}}}}}}
probes:
  - {{name: energy, kind: energy}}
"""
def run(name, scene):
    out = os.path.join(FOLDER, name)
    if not os.path.exists(os.path.join(out, "report.json")):
        path = os.path.join(FOLDER, name + ".yaml")
        with open(path, "w") as file:
            file.write(scene)
        subprocess.run([SCREE, "run", path, "-o", out, "--frames-format", "none", "--quiet"], check=True)
    with open(os.path.join(out, "probes.csv")) as file:
        rows = list(csv.reader(file))
    return {key: np.array([float(r[k]) for r in rows[1:]]) for k, key in enumerate(rows[0])}


def measured(test):
    """{what: (x, y)} of the lines that a test program prints."""
    path = os.path.join(FOLDER, test + ".txt")
    if not os.path.exists(path):
        program = os.path.join(os.path.dirname(SCREE), "test_physics_validate_sph_" + test)
        done = subprocess.run([program], check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        with open(path, "w") as file:
            file.write(done.stdout)
    out = {}
    with open(path) as file:
        for line in file:
            if line.startswith("measure,"):
                _, what, x, y = line.split(",")
                out.setdefault(what, []).append((float(x), float(y)))
    return {what: np.array(rows).T for what, rows in out.items()}


def rest_angles(axis):
    asked = [20, 30, 45, 60]
    axis.plot([10, 60], [10, 60], "k:", lw=1, label="the angle itself")
    poured = [run(f"pour_{a}", POUR.format(angle=a))["angle"][-1] for a in asked]
    axis.plot(asked, poured, "o-", label="poured, 2,000 parcels")
    axis.plot([26.57, 35.26, 40.89], FULL_SIZE, "s", label="shipped piles, 8,080 parcels")
    axis.set(xlabel="friction_angle_deg", ylabel="angle of the pile, degrees", title="Resting angle")
    axis.legend(fontsize=8)


def minute(axis):
    cases = [("default", "", 60), ("no memory of friction", ", memory: false", 6),
             ("tolerance 10 times as large", ", compression: 0.01, strain: 0.00005", 6)]
    for name, method, seconds in cases:
        key = "minute_" + "".join(c if c.isalnum() else "_" for c in name)
        data = run(key, SLUMP.format(seconds=seconds, angle=30, method=method))
        axis.plot(data["time"], data["angle"], label=name, lw=2 if name == "default" else 1, zorder=3 if name == "default" else 2)
    for name, line in measured("faults").items():
        if name != "default":
            axis.plot(*line, label=name, lw=1, zorder=2)
    axis.set(xlabel="time, s", ylabel="angle of the pile, degrees", title="Angle against time, 30 degrees", ylim=(0, 32))
    axis.legend(fontsize=8)


def calm(axis):
    data = run("minute_default", SLUMP.format(seconds=60, angle=30, method=""))
    axis.semilogy(data["time"], np.maximum(data["energy_kinetic"], 1e-13))
    axis.set(xlabel="time, s", ylabel="kinetic energy, J", title="The same pile comes to rest")


def terminal(axis):
    mass, area = 1600 * 0.04**3, math.pi * 0.02**2
    for drag in (20, 40, 80):
        data = run(f"fall_{drag}", FALL.format(drag=drag))
        speed = np.sqrt(2 * data["energy_kinetic"] / mass)
        limit = math.sqrt(2 * mass * 9.81 / (1.2 * drag * area))
        line, = axis.plot(data["time"], speed, label=f"drag {drag}")
        t = data["time"]
        axis.plot(t, limit * np.tanh(9.81 * t / limit), "--", color=line.get_color(), lw=1)
    axis.set(xlabel="time, s", ylabel="speed, m/s", title="A falling parcel (dashed: exact)")
    axis.legend(fontsize=8)


def rates(axis):
    """Sand that falls has to stop: the faster a pile is poured, the lower it is."""
    for angle in (30, 45):
        rate = [20, 40, 80]
        piles = [run(f"rate_{angle}_{r}", POUR.format(angle=angle).replace("rate: 40", f"rate: {r}")
                     .replace("until: 5", f"until: {200 / r}").replace("duration: 7", f"duration: {200 / r + 1.5}"))
                 for r in rate]
        line, = axis.plot(rate, [p["angle"][-1] for p in piles], "o-", label=f"{angle} degrees")
        axis.axhline(angle, color=line.get_color(), ls="--", lw=1)
    axis.set(xlabel="rate of pouring, kg/s", ylabel="angle of the pile, degrees", title="Rest angle against rate (dashed: the angle itself)")
    axis.legend(fontsize=8)


def main():
    os.makedirs(FOLDER, exist_ok=True)
    figure, axes = plt.subplots(3, 3, figsize=(15, 12.5))
    rest_angles(axes[0, 0])
    minute(axes[0, 1])
    calm(axes[0, 2])
    terminal(axes[1, 0])
    data = measured("measure")
    for angle in ("30", "45"):
        axes[1, 1].semilogy(*data["compression " + angle], label=f"poured, {angle} degrees")
        axes[1, 2].plot(*data["iterations " + angle], label=f"poured, {angle} degrees")
    axes[1, 1].axhline(1e-3, color="k", ls=":", lw=1, label="tolerance")
    axes[1, 1].set(xlabel="time, s", ylabel="mean over all parcels", title="Compression", ylim=(1e-7, 2e-3))
    axes[1, 2].set(xlabel="time, s", ylabel="per step", title="Iterations")
    for angle, mark in (("0", "o"), ("30", "s")):
        axes[2, 0].plot(*data["stress " + angle], mark, label=f"{angle} degrees")
    depth = np.linspace(0, 0.4, 2)
    axes[2, 0].plot(depth, 1600 * 9.81 * depth, "k--", lw=1, label="weight above")
    axes[2, 0].set(xlabel="depth, m", ylabel="vertical stress, Pa", title="Smooth tank: stress against depth")
    for axis in (axes[1, 1], axes[1, 2], axes[2, 0]):
        axis.legend(fontsize=8)
    rates(axes[2, 1])
    axes[2, 2].axis("off")
    figure.tight_layout()
    figure.savefig(os.path.join(ROOT, "docs", "figures", "sph.png"), dpi=80)


main()
