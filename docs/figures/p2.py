#!/usr/bin/python3
"""Draws the plots of docs/methods/p2.md: p2_spring_damper, p2_load, p2_drift, p2_repose, p2_heaps and p2_slope.png.

usage: docs/figures/p2.py [path of the scree program]   (a few minutes; prints the numbers too)
"""
import csv
import glob
import json
import os
import subprocess
import sys
import tempfile

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import pbd

FIGURES = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(FIGURES))
SCREE = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build", "scree")
PAPER = {"method.averaging": "true"}
FORGETFUL = {"method.memory": "false"}
REDUCED = {"method.averaging": "true", "method.error_reduction": 0.5}
# Ends with the list of boundaries, so that scenes can go on with it.
SAND = """
scree: 1
frame_rate: 60
method: {name: p2, radius: 0.01, time_step: 0.005, iterations: 10}
materials:
  sand: {density: 1600, friction_static: 0.577, friction_kinetic: 0.577}
boundaries:
  - {plane: {point: [0, 0, 0], normal: [0, 0, 1]}, name: floor}
"""
COLUMN = SAND + """
  - {box: {min: [-0.05, -0.05, -1], max: [0.05, 0.05, 3]}, inside: true, friction_static: 0, friction_kinetic: 0}
duration: 2
grains:
  - {material: sand, fill: {box: {min: [-0.05, -0.05, 0], max: [0.05, 0.05, 0.3]}}}
probes:
  - {name: load, kind: force_on, target: floor}
"""

# Two clouds that meet in the air, the upper one faster by 2 m/s; the floor is far below.
FALL = SAND + """
duration: 0.5
grains:
  - {material: sand, fill: {box: {min: [-0.05, -0.05, 10], max: [0.05, 0.05, 10.1]}}}
  - {material: sand, fill: {box: {min: [-0.05, -0.05, 10.15], max: [0.05, 0.05, 10.25]}}, velocity: [0, 0, -2]}
probes:
  - {name: energy, kind: energy}
"""


def run(scene, sets, frames_format="none"):
    """Runs a scene; returns its probes (columns of numbers), its report and the heights of grain 1 by frame."""
    with tempfile.TemporaryDirectory() as folder:
        if "\n" in scene:
            with open(os.path.join(folder, "scene.yaml"), "w") as file:
                file.write(scene)
            scene = file.name
        out = os.path.join(folder, "out")
        options = [word for key, value in sets.items() for word in ("--set", f"{key}={value}")]
        command = [SCREE, "run", scene, "-o", out, "--quiet", "--frames-format", frames_format, *options]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        with open(os.path.join(out, "probes.csv")) as file:
            rows = list(csv.DictReader(file))
        with open(os.path.join(out, "report.json")) as file:
            report = json.load(file)
        heights = []
        for path in sorted(glob.glob(os.path.join(out, "coarse_*.ply"))):
            with open(path, "rb") as file:
                heights.append(float(np.frombuffer(file.read().split(b"end_header\n", 1)[1], "<f4", 3)[2]))
    return {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}, report, heights


def scene_path(name):
    return os.path.join(ROOT, "scenes", "holz2014", name + ".yaml")


def implicit_euler(start, stiffness, damping, step, count):
    """Heights of a 1 kg grain of radius 0.05 over a spring-damper that acts where the free step would overlap."""
    x, v, heights = start - 0.05, 0.0, [start]
    for _ in range(count):
        v -= 9.81 * step
        if x + step * v <= 0:
            v = max(v, (v - step * stiffness * x) / (1 + step * damping + step * step * stiffness))
        x += step * v
        heights.append(x + 0.05)
    return np.array(heights)


def spring_damper():
    figure, axes = plt.subplots(2, 1, figsize=(7, 6), sharex=True)
    for ax, (k, c) in zip(axes, [(1000, 100), (100, 0)]):
        for name, sets in [("splitting", {}), ("averaging", PAPER)]:
            for iterations, mark in [(1, "o"), (5, "s"), (20, "^")]:
                changes = {"materials.mass.stiffness": k, "materials.mass.damping": c, "method.iterations": iterations}
                _, _, heights = run(scene_path("spring_damper"), {**changes, **sets}, "ply")
                time = np.arange(len(heights)) * 0.01
                substeps = iterations if name == "splitting" else 1
                exact = implicit_euler(heights[0], k, c, 0.01 / substeps, (len(heights) - 1) * substeps)[::substeps]
                worst = np.abs(exact - heights).max()
                print(f"fig. 2: k {k} c {c} {name} {iterations} iterations: {worst:.2e} m from implicit Euler in as many substeps")
                ax.plot(time[::5], heights[::5], mark, ms=9 if iterations == 1 else 5 if iterations == 5 else 3,
                        mfc="none", label=f"{name}, {iterations} iterations")
        for substeps, line in [(1, "k-"), (20, "k:")]:
            exact = implicit_euler(heights[0], k, c, 0.01 / substeps, (len(heights) - 1) * substeps)[::substeps]
            ax.plot(time, exact, line, lw=1, label=f"implicit Euler, {10 / substeps:g} ms")
        ax.set_title(f"k = {k} N/m, c = {c} N s/m, step 10 ms")
        ax.set_ylabel("height (m)")
    axes[0].legend(fontsize=7, ncol=2)
    axes[1].set_xlabel("time (s)")
    save(figure, "p2_spring_damper.png")


def slope():
    """The rows of `scree bench holz` that are Fig. 5."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "holz.json")
        subprocess.run([SCREE, "bench", "holz", "--report", path], check=True, stdout=subprocess.DEVNULL)
        with open(path) as file:
            rows = json.load(file)["rows"]
    for row in rows:
        print(f"{row['name']}: {row['ours']:.3g} {row['unit']} ({row['note']})")
    rows = [row for row in rows if row["name"].startswith("fig. 5")]
    figure, ax = plt.subplots(figsize=(7, 3))
    ax.barh([row["name"][8:] for row in rows][::-1], [row["ours"] for row in rows][::-1], color="tab:olive")
    ax.axvline(rows[0]["ours"], color="k", lw=1)
    ax.set_xlabel("slope after 2 s (degrees)")
    save(figure, "p2_slope.png")


def repose():
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
    ours = {"method.averaging": "false", "method.error_reduction": 0, "method.sleep_speed": 0}  # scenes have the paper's
    solvers = [("splitting with memory", ours), ("averaging, eps 0.5, sleeping", {**REDUCED, "method.sleep_speed": 0.06})]

    def told(scene, what, sets):
        probes, report, _ = run(scene_path(scene), sets)
        share = -probes["load_z"][-1] / (report["mass"]["final"] * 9.81)
        print(f"repose: {what}: {probes['pile'][-1]:.1f} deg, load/weight {share:.4f}, "
              f"creep in the last second {probes['creep'][-1] / 0.02:.5f} diameters")
        return probes["pile"][-1]

    for name, sets in solvers:
        frictions, counts = [0.05, 0.087, 0.2, 0.35, 0.577], [3, 5, 10, 20]
        angles = []
        for mu in frictions:
            changes = {"materials.sand.friction_static": mu, "materials.sand.friction_kinetic": mu}
            angles.append(told("repose_1", f"{name}, friction {mu}", {**changes, **sets}))
        told("repose_3", f"{name}, friction 0.087, 1000 Pa", sets)
        axes[0].plot(frictions, angles, "o-", label=name)
        angles = []
        for iterations in counts:
            angles.append(told("repose_2", f"{name}, friction 0.577, {iterations} iterations",
                               {"method.iterations": iterations, **sets}))
        axes[1].plot(counts, angles, "o-", label=name)
    axes[0].set_xlabel("friction between grains (10 iterations)")
    axes[1].set_xlabel("iterations (friction 0.577)")
    axes[0].set_ylabel("angle of repose (degrees)")
    axes[1].legend(fontsize=8)
    save(figure, "p2_repose.png")


def share_of_weight(sets):
    probes, report, _ = run(COLUMN, sets)
    return -probes["load_z"][-15:].mean() / (report["mass"]["final"] * 9.81)


def load():
    figure, ax = plt.subplots(figsize=(5, 3.6))
    counts = [3, 5, 10, 20, 40]
    for name, sets in [("splitting with memory", {}), ("splitting", FORGETFUL), ("averaging", PAPER)]:
        shares = [share_of_weight({"method.iterations": n, **sets}) for n in counts]
        print(f"load/weight of a column: {name}:", ", ".join(f"{n}: {s:.4f}" for n, s in zip(counts, shares)))
        ax.plot(counts, shares, "o-", label=name)
    ax.axhline(1, color="k", lw=1)
    pbd.finish(ax, "iterations", "load of the floor / weight")
    save(figure, "p2_load.png")


def drift():
    """What error reduction costs: load of a floor, the fall of what nothing holds, and how far a heap drifts."""
    figure, axes = plt.subplots(1, 3, figsize=(14, 3.8))
    reductions = [0, 0.1, 0.25, 0.5, 0.75, 1]
    for name, sets in [("splitting", FORGETFUL), ("averaging", PAPER)]:
        for by, mark in [("tilt", "o-"), ("ground", "s--")]:
            shares = [share_of_weight({"method.error_reduction": e, "method.error_reduction_by": by, **sets})
                      for e in reductions]
            print(f"load/weight of a column: {name}, by {by}:",
                  ", ".join(f"eps {e}: {s:.4f}" for e, s in zip(reductions, shares)))
            axes[0].plot(reductions, shares, mark, label=f"{name}, by {by}")
    axes[0].axhline(1, color="k", lw=1)
    pbd.finish(axes[0], "eps", "load of the floor / weight")
    cases = [("eps 0.5 by tilt", {"method.error_reduction": 0.5}),
             ("eps 0.5 by the ground", {"method.error_reduction": 0.5, "method.error_reduction_by": "ground"})]
    height = {}
    for name, sets in [("no error reduction", {}), *cases]:
        probes, report, _ = run(FALL, {**FORGETFUL, **sets})
        height[name] = probes["energy_potential"] / (report["mass"]["final"] * 9.81)
        drifted = height[name] - height["no error reduction"]
        print(f"fall: {name}: {drifted[-1]:.1e} m after {probes['time'][-1]:.2f} s")
        axes[1].plot(probes["time"], drifted, label=name)
    pbd.finish(axes[1], "time (s)", "centre of mass over free fall (m)")
    heaps = [("averaging", PAPER)] + [(f"averaging, {name}", {**PAPER, **sets}) for name, sets in cases]
    heaps += [("averaging, eps 0.5 by tilt, sleeping", {**REDUCED, "method.sleep_speed": 0.06}),
              ("splitting with memory", {})]
    for name, sets in heaps:
        probes, _, _ = run(pbd.POUR, {"method.name": "p2", "method.iterations": 10, "duration": 16, **sets})
        print(f"heap: {name}: {probes['angle'][-1]:.1f} deg, drift {probes['creep'][-1] / 0.04:.4f} diameters in 10 s")
        axes[2].semilogy(probes["time"][362:] - 6, probes["creep"][362:] / 0.04, label=name)
    pbd.finish(axes[2], "time (s)", "drift of a heap, 99th percentile (diameters)")
    save(figure, "p2_drift.png")


def heaps():
    figure, axes = plt.subplots(2, 2, figsize=(10, 7))
    with tempfile.TemporaryDirectory() as folder:
        pbd.heaps(folder, "p2", axes.flat)
    save(figure, "p2_heaps.png")


def save(figure, name):
    figure.tight_layout()
    figure.savefig(os.path.join(FIGURES, name), dpi=110)
    print("wrote", name)


if __name__ == "__main__":
    spring_damper()
    load()
    drift()
    repose()
    slope()
    heaps()
