#!/usr/bin/python3
"""Draws docs/figures/sampling.png: a castle sampled at random, densely and on its surface, and pair distances.

usage: docs/figures/sampling.py [path of the scree program]
"""
import os
import subprocess
import sys
import tempfile

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCREE = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build", "scree")
CASTLE = os.path.join(ROOT, "assets", "sandcastle.obj")


def sample(*options):
    """Positions of the samples of the castle."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "points.ply")
        subprocess.run([SCREE, "sample", CASTLE, "--quiet", "-o", path, *options], check=True)
        with open(path, "rb") as file:
            header, sizes = [], {"float": "<f4", "uint": "<u4", "uchar": "u1"}
            while not header or header[-1] != "end_header":
                header.append(file.readline().decode().strip())
            columns = [(line.split()[2], sizes[line.split()[1]]) for line in header if line.startswith("property")]
            data = np.frombuffer(file.read(), dtype=columns)
    return np.stack([data["x"], data["y"], data["z"]], axis=1)


def draw_slice(axes, points, radius, title):
    """Circles in which a vertical plane cuts the spheres."""
    middle = (points[:, 1].min() + points[:, 1].max()) / 2
    for x, y, z in points[abs(points[:, 1] - middle) < radius]:
        cut = (radius**2 - (y - middle) ** 2) ** 0.5
        axes.add_patch(plt.Circle((x, z), cut, color="#c9a15a", ec="#7d5f2b", lw=0.3))
    axes.set_title(title)
    axes.set_aspect("equal")
    axes.set_xlim(-0.35, 0.35)  # the keep
    axes.set_ylim(-0.02, 0.7)


def pair_distances(points, radius, bins):
    """g(r) round spheres of the lower half of the castle, away from its bounds."""
    inner = points[points[:, 2] < np.median(points[:, 2])]
    low, high = inner.min(0) + 8 * radius, inner.max(0) - 8 * radius
    centers = inner[((inner > low) & (inner < high)).all(1)][:600]
    counts = np.zeros(len(bins) - 1)
    for center in centers:
        counts += np.histogram(np.linalg.norm(points - center, axis=1) / (2 * radius), bins)[0]
    shells = 4 / 3 * np.pi * (bins[1:] ** 3 - bins[:-1] ** 3)
    density = counts / shells / len(centers)
    return density / density[-10:].mean()


radius = 0.02
random, dense = sample("--radius", str(radius)), sample("--radius", str(radius), "--dense")
surface = sample("--radius", str(radius), "--surface")
figure, rows = plt.subplots(2, 2, figsize=(9, 8), dpi=80, gridspec_kw={"height_ratios": (5, 4)})
draw_slice(rows[0][0], random, radius, f"random: {len(random)} grains")
draw_slice(rows[0][1], dense, radius, f"dense: {len(dense)} grains")
front = surface[surface[:, 1] < np.median(surface[:, 1])]
rows[1][0].scatter(front[:, 0], front[:, 2], s=3, c=front[:, 1], cmap="copper_r")
rows[1][0].set_title(f"surface: {len(surface)} points")
rows[1][0].set_aspect("equal")
bins = np.arange(0.9, 3.0, 0.03)
fine = 0.012
for name in ("random", "dense"):
    points = sample("--radius", str(fine), *(["--dense"] if name == "dense" else []))
    rows[1][1].plot((bins[1:] + bins[:-1]) / 2, pair_distances(points, fine, bins), label=name)
rows[1][1].axhline(1, color="grey", lw=0.5)
rows[1][1].axvline(2**0.5, color="grey", lw=0.5, ls=":")
rows[1][1].annotate("a crystal would\npeak here", (2**0.5, 2.2), fontsize=8, ha="center")
rows[1][1].set_ylim(0, 4)
rows[1][1].set_xlabel("distance / diameter")
rows[1][1].set_title("pair distances g(r)")
rows[1][1].legend()
figure.tight_layout()
figure.savefig(os.path.join(os.path.dirname(os.path.abspath(__file__)), "sampling.png"))
