#!/usr/bin/python3
"""Lets the column of side_by_side/collapse go with every method, prints how far and how flat each comes to lie beside
what experiments found, and draws docs/figures/side_by_side.png: front and centre of mass against time. Runs build/scree
(or the program named first); takes a minute.

    python3 docs/figures/side_by_side.py [build/scree]
"""
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCREE = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.join(ROOT, "build", "scree")
RADIUS, HEIGHT = 0.15, 0.45
METHODS = ["pbd", "p2", "dem", "sph", "flip"]


def experiment():
    """Where the front and the top of a column end: Lube and others 2004, aspect ratios above 1.7. The centre of mass is
    that of a cone of this height."""
    aspect = HEIGHT / RADIUS
    top = 0.88 * RADIUS * aspect ** (1 / 6)
    return RADIUS * (1 + 1.6 * aspect ** 0.5), top, top / 4


def processor_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(folder, method):
    """Columns of the probes, height of the centre of mass, ms of one processor a frame without the start."""
    out = os.path.join(folder, method)
    command = [SCREE, "run", "side_by_side/collapse", "-o", out, "--quiet", "--frames-format", "none", "--method", method,
               "--threads", "1"]
    began = processor_time()
    subprocess.run([*command, "--frames", "0"], check=True, stderr=subprocess.DEVNULL)
    started = processor_time()
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    used = (processor_time() - started) - (started - began)
    with open(os.path.join(out, "probes.csv")) as file:
        rows = list(csv.DictReader(file))
    with open(os.path.join(out, "report.json")) as file:
        report = json.load(file)
    columns = {key: [float(row[key]) for row in rows] for key in rows[0]}
    start = columns["energy_potential"][0]
    centre = [HEIGHT / 2 * value / start for value in columns["energy_potential"]]
    return columns, centre, 1000 * used / report["frames"]


def main():
    front, top, middle = experiment()
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6))
    print(f"| method | front, m | centre of mass, m | angle, degrees | ms a frame |\n|---|---|---|---|---|\n"
          f"| experiments | {front:.2f} | {middle:.3f} | | |")
    with tempfile.TemporaryDirectory() as folder:
        for method in METHODS:
            columns, centre, cost = run(folder, method)
            print(f"| {method} | {columns['spread'][-1]:.2f} | {centre[-1]:.3f} | {columns['angle'][-1]:.0f} | {cost:.1f} |",
                  flush=True)
            left.plot(columns["time"], columns["spread"], label=method)
            right.plot(columns["time"], centre, label=method)
    left.axhline(front, color="grey", linestyle="--", label="experiments, at the end")
    right.axhline(middle, color="grey", linestyle="--", label="experiments, at the end")
    left.set(xlabel="s", ylabel="m", title="front: 95 % of the sand lies within")
    right.set(xlabel="s", ylabel="m", title="height of the centre of mass", ylim=(0, HEIGHT / 2))
    right.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(os.path.join(ROOT, "docs", "figures", "side_by_side.png"), dpi=110)


if __name__ == "__main__":
    main()
