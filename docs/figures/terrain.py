#!/usr/bin/python3
"""Draws docs/figures/terrain.png: the ground's force on a plate, craters, and a pour with and without exchange.

usage: docs/figures/terrain.py [path of the scree program]
"""
import csv
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
SCREE = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build", "scree")

PLATE = """scree: 1
duration: 2
frame_rate: 60
method: {name: pbd, radius: 0.01}
materials: {sand: {density: 1600, friction_angle_deg: %g}}
terrain: {size: [2, 2], cell: 0.02, height: 0.6, compaction: 1, exchange: false}
bodies:
  - {name: plate, box: {size: [0.4, 0.4, 0.4]}, friction_static: 0, friction_kinetic: 0, motion: keyframes,
     keys: [{t: 0, position: [1, 1, 0.801]}, {t: 2, position: [1, 1, 0.75]}]}
probes: [{name: force, kind: force_on, target: plate}, {name: plate, kind: pose_of, target: plate}]
"""


def run(scene, folder, *words):
    subprocess.run([SCREE, "run", scene, "-o", folder, "--quiet", "--threads", "1", *words], check=True,
                   stderr=subprocess.DEVNULL)
    with open(os.path.join(folder, "probes.csv")) as file:
        return list(csv.DictReader(file))


def vertices(path, floats):
    """Leading floats of the vertices of a binary PLY; floats: those per vertex, and bytes behind them."""
    with open(path, "rb") as file:
        data = file.read()
    begin = data.index(b"end_header\n") + 11
    count = int(re.search(rb"element vertex (\d+)", data).group(1))
    size = 4 * floats[0] + floats[1]
    return [struct.unpack_from("<%df" % floats[0], data, begin + size * k) for k in range(count)]


def plates(axis, folder):
    for angle, color in ((25, "C0"), (30, "C1"), (35, "C2")):
        scene = os.path.join(folder, "plate.yaml")
        with open(scene, "w") as file:
            file.write(PLATE % angle)
        rows = run(scene, os.path.join(folder, "plate"), "--frames-format", "none")
        depth = [0.6 - (float(row["plate_z"]) - 0.2) - 0.0255 / 60 / 2 for row in rows]
        phi = math.radians(angle)
        factor = math.exp(math.pi * math.tan(phi)) * math.tan(math.pi / 4 + phi / 2) ** 2
        axis.plot([1e3 * d for d in depth], [factor * 1600 * 9.81 * max(d, 0) * 0.16 for d in depth], color, lw=1)
        axis.plot([1e3 * d for d in depth[::6]], [float(row["force_z"]) for row in rows[::6]], color + ".",
                  label="%d degrees" % angle)
    axis.set(xlabel="depth of a plate of 0.4 x 0.4 m (mm)", ylabel="force (N)", title="Bearing: dots measured, lines the law",
             xlim=(0, None), ylim=(0, None))
    axis.legend()


def craters(axis, folder):
    scene = os.path.join(ROOT, "scenes", "papadimitriou2012", "sphere_into_terrain.yaml")
    for height in (0.3, 0.6, 1.2):
        out = os.path.join(folder, "crater")
        run(scene, out, "--set", "bodies[0].position=[0, 0, %g]" % (0.28 + height), "--seconds", "1.5",
            "--set", "bodies[0].density=5000", "--set", "bodies[0].velocity=[0, 0, -2]")
        frame = sorted(name for name in os.listdir(out) if name.startswith("terrain"))[-1]
        rings = {}
        for x, y, z in vertices(os.path.join(out, frame), (3, 0)):
            rings.setdefault(round(math.hypot(x, y) / 0.01), []).append(z)
        radii = sorted(ring for ring in rings if ring <= 30)
        axis.plot([ring / 100 for ring in radii], [sum(rings[ring]) / len(rings[ring]) for ring in radii],
                  label="%.1f m" % height)
    axis.set(xlabel="distance from the middle (m)", ylabel="height (m)", title="Craters of a ball at 2 m/s from above")
    axis.legend()


def pour(axis, folder):
    scene = os.path.join(ROOT, "scenes", "papadimitriou2012", "pour_onto_terrain.yaml")
    for exchange, color in (("true", "C0"), ("false", "C3")):
        out = os.path.join(folder, "pour")
        run(scene, out, "--method", "pbd", "--set", "method.radius=0.007", "--set", "terrain.exchange=" + exchange)
        counts, tops = [], []
        for k in range(0, 361, 12):
            grains = vertices(os.path.join(out, "coarse_%06d.ply" % k), (7, 5))
            near = [g[2] + g[6] for g in grains if math.hypot(g[0], g[1]) < 0.03 and abs(g[5]) < 0.5]
            counts.append(len(grains))
            tops.append(max(near, default=0.03))
        times = [k / 60 for k in range(0, 361, 12)]
        axis.plot(times, counts, color, label="grains, exchange " + ("on" if exchange == "true" else "off"))
        print("exchange", exchange, "grains at the end", counts[-1], "top", tops[-1])
    axis.set(xlabel="time (s)", ylabel="simulated grains", title="A pour (pbd)")
    axis.legend()


def main():
    figure, axes = plt.subplots(1, 3, figsize=(15, 4.2))
    with tempfile.TemporaryDirectory() as folder:
        plates(axes[0], folder)
        craters(axes[1], folder)
        pour(axes[2], folder)
    for axis in axes:
        axis.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(os.path.join(ROOT, "docs", "figures", "terrain.png"), dpi=90)


if __name__ == "__main__":
    main()
