#!/usr/bin/env python3
"""Draws docs/figures/flip_round.png: the heap of narain2010/pile_03 from above, with the cone, with planes and with the
paper's box bounds. Runs build/scree (or the program named first).

    python3 docs/figures/flip_round.py [build/scree]
"""
import glob
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
SECTORS = 32


def positions(path):
    with open(path, "rb") as file:
        data = file.read()
    start = data.index(b"end_header\n") + 11
    kinds = {"float": "<f4", "uint": "<u4", "uchar": "u1"}
    fields = [line.split()[1:] for line in data[:start].decode().split("\n") if line.startswith("property")]
    rows = np.frombuffer(data[start:], dtype=[(name, kinds[kind]) for kind, name in fields])
    return np.stack([rows[axis].astype(float) for axis in "xyz"])


def front(x, y):
    """Directions, and the radius within which 97 of 100 particles of each sector lie."""
    turn = 2 * np.pi * (np.arange(SECTORS) + 0.5) / SECTORS - np.pi
    sector = ((np.arctan2(y, x) + np.pi) / (2 * np.pi) * SECTORS).astype(int) % SECTORS
    return turn, np.array([np.percentile(np.hypot(x, y)[sector == k], 97) for k in range(SECTORS)])


def main():
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.6), constrained_layout=True, sharey=True)
    for panel, surface in zip(axes, ("cone", "planes", "box")):
        with tempfile.TemporaryDirectory() as out:
            scene = os.path.join(ROOT, "scenes", "narain2010", "pile_03.yaml")
            subprocess.run([SCREE, "run", scene, "-o", out, "--quiet", "--set", "method.yield_surface=" + surface],
                           check=True)
            x, y, z = positions(sorted(glob.glob(os.path.join(out, "coarse_*.ply")))[-1])
        x, y = x - x.mean(), y - y.mean()
        turn, radius = front(x, y)
        part = 2 * abs((radius * np.exp(-4j * turn)).mean()) / radius.mean()
        order = np.argsort(z)
        panel.scatter(x[order], y[order], c=z[order], s=1.5, linewidths=0)
        panel.plot(*(np.append(radius, radius[0]) * f(np.append(turn, turn[0])) for f in (np.cos, np.sin)), "r-", lw=1)
        panel.set_title(f"{surface}: fourfold part {100 * part:.1f} %", fontsize=10)
        panel.set_aspect("equal")
        panel.set_xlabel("m")
        print(surface, part)
    figure.savefig(os.path.join(ROOT, "docs", "figures", "flip_round.png"), dpi=110)


if __name__ == "__main__":
    main()
