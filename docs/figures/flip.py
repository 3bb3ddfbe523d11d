#!/usr/bin/env python3
"""Measures flip and draws docs/figures/flip.png: slopes of wedges that were built and of heaps that columns leave, against
alpha; discharge of the hourglass; the column with a pressure that only pushes and one that also pulls (Fig. 11); steps of
the solves in the shipped scenes. Runs build/scree (or the program named first) and the test of the solves beside it.

    python3 docs/figures/flip.py [build/scree]
"""
import csv
import glob
import math
import os
import re
import struct
import subprocess
import sys
import tempfile

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCREE = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.join(ROOT, "build", "scree")
ALPHAS = (0.3, 0.5, 0.7)
CELL, WIDTH, HEIGHT = 0.04, 0.16, 0.32

WEDGE = """scree: 1
title: Wedge
duration: 2
frame_rate: 30
method: {name: flip, radius: %g}
materials:
  sand: {density: 1600, friction_angle_deg: %g}
grains:
  - {material: sand, fill: {mesh: wedge.obj}}
boundaries:
  - {plane: {point: [0, 0, 0], normal: [0, 0, 1]}, friction_static: 2, friction_kinetic: 2, name: floor}
  - {plane: {point: [0, 0, 0], normal: [0, 1, 0]}, friction_static: 0, friction_kinetic: 0, name: front}
  - {plane: {point: [0, %g, 0], normal: [0, -1, 0]}, friction_static: 0, friction_kinetic: 0, name: back}
"""


def run(folder, scene, *options, frames="none"):
    out = os.path.join(folder, "out")
    command = [SCREE, "run", scene if scene.endswith(".yaml") else os.path.join(ROOT, "scenes", "narain2010",
               scene + ".yaml"), "-o", out, "--quiet", "--frames-format", frames]
    subprocess.run(command + list(options), check=True)
    path = os.path.join(out, "probes.csv")
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return list(csv.DictReader(file))


def particles(path):
    with open(path, "rb") as file:
        data = file.read()
    start = data.index(b"end_header\n") + 11
    kinds = {"float": "f", "uint": "I", "uchar": "B"}
    form = "<" + "".join(kinds[line.split()[1]] for line in data[:start].decode().split("\n")
                         if line.startswith("property"))
    return list(struct.iter_unpack(form, data[start:]))


def slope(points):
    """Angle of a line through the height that the sand of each column has, 15 to 85 % of the largest."""
    column = {}
    for point in points:
        k = int(abs(point[0]) / CELL)
        column[k] = column.get(k, 0) + 8 * point[6] ** 3 / (2 * CELL * WIDTH)
    top = max(column.values())
    some = [((k + 0.5) * CELL, h) for k, h in column.items() if 0.15 * top < h < 0.85 * top]
    x, y = sum(p[0] for p in some) / len(some), sum(p[1] for p in some) / len(some)
    rise = sum((p[0] - x) * (p[1] - y) for p in some) / sum((p[0] - x) ** 2 for p in some)
    return math.degrees(math.atan(-rise))


def wedge(folder, alpha, angle):
    half = HEIGHT / math.tan(math.radians(angle))
    corners = [(x, y, z) for y in (0, WIDTH) for x, z in ((-half, 0), (half, 0), (0, HEIGHT))]
    sides = [(1, 2, 3), (4, 6, 5), (1, 4, 5), (1, 5, 2), (2, 5, 6), (2, 6, 3), (3, 6, 4), (3, 4, 1)]
    with open(os.path.join(folder, "wedge.obj"), "w") as file:
        file.write("".join("v %g %g %g\n" % c for c in corners) + "".join("f %d %d %d\n" % s for s in sides))
    scene = os.path.join(folder, "wedge.yaml")
    with open(scene, "w") as file:
        file.write(WEDGE % (CELL / 4, math.degrees(math.atan(alpha * math.sqrt(1.5))), WIDTH))
    for old in glob.glob(os.path.join(folder, "out", "*")):
        os.remove(old)
    run(folder, scene, frames="ply")
    return slope(particles(sorted(glob.glob(os.path.join(folder, "out", "coarse_*.ply")))[-1]))


def draw_angles(axes, folder):
    limit = [math.degrees(math.atan(math.sqrt(1.5) * a)) for a in ALPHAS]
    below = [wedge(folder, a, angle - 1.5) for a, angle in zip(ALPHAS, limit)]
    above = [wedge(folder, a, angle + 10) for a, angle in zip(ALPHAS, limit)]
    print("limits", limit, "wedges from below", below, "from above", above)
    held = [math.degrees(math.atan(math.sqrt(1.5) * a / math.sqrt(1 - 2 * a * a))) for a in ALPHAS]
    axes.plot(ALPHAS, limit, "k-", lw=1, label="angle of flow")
    axes.plot(ALPHAS, held, "k:", lw=1, label="angle of yield")
    axes.plot(ALPHAS, below, "o", label="wedge built 1.5° below it, after 2 s")
    axes.plot(ALPHAS, above, "v", label="wedge built 10° above it, after 2 s")
    for surface, mark in (("cone", "s--"), ("planes", "d--"), ("box", "^:")):
        angles = [float(run(folder, "pile_0%d" % (10 * a), "--set", "method.radius=0.0125", "--seconds", "2", "--set",
                            "method.yield_surface=" + surface)[-1]["pile"]) for a in ALPHAS]
        print("column,", surface, angles)
        axes.plot(ALPHAS, angles, mark, lw=0.8, label="column let go, " + surface)
    axes.set_xlabel("alpha")
    axes.set_ylabel("angle, degrees")
    axes.set_ylim(0, 55)
    axes.legend(frameon=False, fontsize=7, loc="lower right")


def draw_discharge(axes, folder):
    rows = run(folder, "hourglass", "--frames", "50")
    time, flow = [float(r["time"]) for r in rows], [float(r["discharge"]) for r in rows]
    axes.plot(time, flow, color="C3")
    axes.set_xlabel("time, s")
    axes.set_ylabel("discharge of the hourglass, kg/s")
    axes.set_ylim(bottom=0)


def draw_columns(axes, folder):
    for scene, label in (("column", "only pushes"), ("column_pulling", "also pulls")):
        rows = run(folder, scene, "--set", "method.radius=0.01", "--seconds", "1.2")
        key = [k for k in rows[0] if k in ("spread", "runout")][0]
        axes.plot([float(r["time"]) for r in rows], [float(r[key]) for r in rows], label="pressure " + label)
        print(scene, rows[-1][key])
    axes.set_xlabel("time, s")
    axes.set_ylabel("radius that holds 99 % of the column, m")
    axes.legend(frameon=False, fontsize=8)


def draw_solves(axes):
    test = os.path.join(os.path.dirname(SCREE), "test_physics_flip_solvers")
    text = subprocess.run([test], check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout
    rows = re.findall(r"(\w+)\s+(pressure|density|friction)\s+\d+ solves,\s+([\d.]+) steps each", text)
    names = list(dict.fromkeys(r[0] for r in rows))
    for k, kind in enumerate(("pressure", "density", "friction")):
        steps = [float(next(r[2] for r in rows if r[:2] == (name, kind))) for name in names]
        axes.barh([n + 0.26 * (k - 1) for n in range(len(names))], steps, height=0.24, label=kind)
    axes.set_yticks(range(len(names)))
    axes.set_yticklabels(names, fontsize=7)
    axes.set_xlabel("steps of a solve to 1e-3 (friction: 10, then 20 at most)")
    axes.set_xlim(right=20)
    axes.legend(frameon=False, fontsize=8)


def main():
    figure, axes = plt.subplots(2, 2, figsize=(9.5, 7.2), constrained_layout=True)
    with tempfile.TemporaryDirectory() as folder:
        draw_angles(axes[0][0], folder)
        draw_discharge(axes[0][1], folder)
        draw_columns(axes[1][0], folder)
    draw_solves(axes[1][1])
    figure.savefig(os.path.join(ROOT, "docs", "figures", "flip.png"), dpi=110)


if __name__ == "__main__":
    main()
