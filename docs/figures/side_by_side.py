#!/usr/bin/python3
"""Lets the column of side_by_side/collapse go with every method, prints how far and how flat each comes to lie beside
what experiments found, and draws docs/figures/side_by_side.png: front and centre of mass against time. Runs build/scree
(or the program named first); takes a minute.

    python3 docs/figures/side_by_side.py [build/scree]
"""
import csv
import json
import os
import subprocess
import sys
import tempfile

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCREE = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.join(ROOT, "build", "scree")
RADIUS, HEIGHT, GRAVITY = 0.15, 0.45, 9.81
# Round spheres roll; sand does not. 0.3 stands for its corners.
CASES = [("pbd", "pbd", []), ("p2", "p2", []), ("dem", "dem", []),
         ("dem, rolling 0.3", "dem", ["materials.sand.rolling_friction=0.3"]), ("sph", "sph", []), ("flip", "flip", [])]


def experiment():
    """Where the front and the top of a column end: Lube and others 2004, aspect ratios above 1.7. The centre of mass is
    that of a cone of this height."""
    aspect = HEIGHT / RADIUS
    top = 0.88 * RADIUS * aspect ** (1 / 6)
    return RADIUS * (1 + 1.6 * aspect ** 0.5), top, top / 4


def run(folder, method, sets):
    out = os.path.join(folder, "out")
    command = [SCREE, "run", "side_by_side/collapse", "-o", out, "--quiet", "--frames-format", "none", "--method", method]
    for value in sets:
        command += ["--set", value]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    with open(os.path.join(out, "probes.csv")) as file:
        rows = list(csv.DictReader(file))
    with open(os.path.join(out, "report.json")) as file:
        report = json.load(file)
    columns = {key: [float(row[key]) for row in rows] for key in rows[0]}
    start = columns["energy_potential"][0]
    centre = [HEIGHT / 2 * value / start for value in columns["energy_potential"]]
    return columns, centre, 1000 * report["wall_s"] / report["frames"]


def main():
    front, top, middle = experiment()
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6))
    print(f"| method | front, m | centre of mass, m | angle, degrees | ms a frame |\n|---|---|---|---|---|\n"
          f"| experiments | {front:.2f} | {middle:.3f} | | |")
    with tempfile.TemporaryDirectory() as folder:
        for label, method, sets in CASES:
            columns, centre, cost = run(folder, method, sets)
            print(f"| {label} | {columns['spread'][-1]:.2f} | {centre[-1]:.3f} | {columns['angle'][-1]:.0f} | {cost:.0f} |",
                  flush=True)
            left.plot(columns["time"], columns["spread"], label=label)
            right.plot(columns["time"], centre, label=label)
    left.axhline(front, color="grey", linestyle="--", label="experiments, at the end")
    right.axhline(middle, color="grey", linestyle="--", label="experiments, at the end")
    left.set(xlabel="s", ylabel="m", title="front: 95 % of the sand lies within")
    right.set(xlabel="s", ylabel="m", title="height of the centre of mass", ylim=(0, HEIGHT / 2))
    right.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(os.path.join(ROOT, "docs", "figures", "side_by_side.png"), dpi=110)


if __name__ == "__main__":
    main()
