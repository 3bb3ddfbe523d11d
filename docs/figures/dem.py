#!/usr/bin/python3
"""Draws docs/figures/dem_*.png: what dem does, measured with the program itself.

usage: docs/figures/dem.py [path of the scree program [folder for the runs]]

Runs whose folder is there already are not repeated. A few minutes on one core.
"""
import csv
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
SCENES = os.path.join(ROOT, "scenes", "papadimitriou2012")
GRAVITY = 9.81
RECORD = np.dtype([("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("vx", "<f4"), ("vy", "<f4"), ("vz", "<f4"),
                   ("radius", "<f4"), ("id", "<u4"), ("material", "u1")])

# One grain beside a plane.
SINGLE = """scree: 1
gravity: [{gx}, 0, {gz}]
duration: {duration}
frame_rate: 100
method: {{name: dem, radius: 0.01, step_safety: 0.05}}
materials:
  sand: {{density: 1600, friction_static: {mu}, friction_kinetic: {mu}, rolling_friction: 0, stiffness_n: 1e6, {damping}}}
grains:
  - {{material: sand, fill: {{sphere: {{center: [0, 0, 0.0125], radius: 0.0122}}}}, velocity: [0, 0, {speed}]}}
boundaries:
  - {{plane: {{point: [0, 0, 0], normal: [0, 0, 1]}}, friction_static: {mu}, friction_kinetic: {mu}}}
"""
MASS = 4 / 3 * np.pi * 0.01**3 * 1600 / 0.6


def run(folder, name, scene, *options):
    out = os.path.join(folder, name)
    if not os.path.exists(os.path.join(out, "report.json")):
        subprocess.run([SCREE, "run", scene, "-o", out, "--quiet", *options], check=True)
    return out


def probes(out):
    with open(os.path.join(out, "probes.csv"), encoding="utf-8") as file:
        return list(csv.DictReader(file))


def grains(path):
    with open(path, "rb") as file:
        data = file.read()
    body = data.index(b"end_header\n") + len(b"end_header\n")
    table = np.frombuffer(data[body:], dtype=RECORD)
    return table[np.argsort(table["id"])]


def frames(out):
    return [grains(path) for path in sorted(glob.glob(os.path.join(out, "coarse_*.ply")))]


def single(folder, name, **values):
    scene = os.path.join(folder, name + ".yaml")
    with open(scene, "w", encoding="utf-8") as file:
        file.write(SINGLE.format(**{"gx": 0, "gz": 0, "duration": 0.1, "mu": 0, "damping": "restitution: 1", "speed": 0, **values}))
    return frames(run(folder, name, scene))


def save(figure, name):
    figure.savefig(os.path.join(ROOT, "docs", "figures", name), dpi=110)
    plt.close(figure)


def printed_restitution(speed, gamma):
    """Solves m x'' = -k x^1.5 - gamma m x', the force cut at zero."""
    x, v, dt = 0.0, speed, 2e-7
    while True:
        force = -max(1e6 * max(x, 0) ** 1.5 / MASS + gamma * v, 0)
        v += force * dt
        x += v * dt
        if x <= 0 and v < 0:
            return -v / speed


def restitution(folder):
    figure, axes = plt.subplots(figsize=(5.4, 3.4), constrained_layout=True)
    speeds = np.array([0.05, 0.1, 0.2, 0.5, 1, 2])
    for damping, label, mark in (("restitution: 0.6", "default, restitution: 0.6", "o"),
                                 ("damping_n: 400", "as printed, damping_n: 400", "s")):
        found = []
        for speed in speeds:
            name = f"hit_{damping.split(':')[0]}_{speed}"
            last = single(folder, name, damping=damping, speed=-speed, duration=0.0041 / speed + 0.02)[-1]
            found.append(last["vz"][0] / speed)
        axes.semilogx(speeds, found, mark, label=label)
        print(label, " ".join(f"{value:.4f}" for value in found))
    axes.semilogx([0.05, 2], [0.6, 0.6], "C0-", lw=0.8)
    axes.semilogx(speeds, [printed_restitution(speed, 400) for speed in speeds], "C1-", lw=0.8)
    axes.set(xlabel="speed of the hit, m/s", ylabel="speed after / before", ylim=(0, 1))
    axes.legend(frameon=False)
    save(figure, "dem_restitution.png")


def incline(folder):
    figure, axes = plt.subplots(figsize=(5.4, 3.4), constrained_layout=True)
    mu, angles, found = 0.15, np.array([5, 10, 15, 20, 25, 30, 35, 40, 45, 50]), []
    for angle in angles:
        turn = np.radians(angle)
        shots = single(folder, f"incline_{angle}", gx=GRAVITY * np.sin(turn), gz=-GRAVITY * np.cos(turn), mu=mu,
                       damping="restitution: 0.1", duration=0.6)
        found.append((shots[60]["vx"][0] - shots[30]["vx"][0]) / 0.3)
    fine = np.radians(np.linspace(0, 52, 200))
    rolling, sliding = 5 / 7 * GRAVITY * np.sin(fine), GRAVITY * (np.sin(fine) - mu * np.cos(fine))
    rolls = np.tan(fine) <= 3.5 * mu
    axes.plot(np.degrees(fine[rolls]), rolling[rolls], "C0-", lw=0.8, label="rolls: 5/7 g sin")
    axes.plot(np.degrees(fine[~rolls]), sliding[~rolls], "C1-", lw=0.8, label="slides: g (sin - mu cos)")
    axes.plot(angles, found, "k.", label="measured, mu = 0.15")
    turn = np.radians(angles)
    expected = np.where(np.tan(turn) <= 3.5 * mu, 5 / 7 * np.sin(turn), np.sin(turn) - mu * np.cos(turn)) * GRAVITY
    print("incline, largest deviation:", f"{np.max(np.abs(np.array(found) / expected - 1)):.2%}")
    axes.set(xlabel="slope, degrees", ylabel="acceleration, m/s$^2$")
    axes.legend(frameon=False)
    save(figure, "dem_incline.png")


def pile(folder, mu, rolling, seed):
    """Slope of the pile of the scene `pour` with larger, softer grains, so that it is quick."""
    sets = {"method.radius": 0.006, "materials.sand.young": 2e6, "materials.sand.friction_static": mu,
            "materials.sand.friction_kinetic": mu, "materials.sand.rolling_friction": rolling,
            "emitters.0.speed": 0.1}
    options = [word for key, value in sets.items() for word in ("--set", f"{key}={value}")]
    out = run(folder, f"pile_{mu}_{rolling}_{seed}", os.path.join(SCENES, "pour.yaml"), "--frames-format", "none",
              "--seconds", "2.2", "--seed", str(seed), *options)
    return np.mean([float(row["slope"]) for row in probes(out)[-20:]])


def repose(folder):
    figure, axes = plt.subplots(figsize=(5.4, 3.4), constrained_layout=True)
    friction, seeds = (0.1, 0.3, 0.5, 0.8), range(1, 6)
    for rolling in (0, 0.1, 0.3):
        slopes = np.array([[pile(folder, mu, rolling, seed) for seed in seeds] for mu in friction])
        mean, error = slopes.mean(axis=1), slopes.std(axis=1, ddof=1) / np.sqrt(len(seeds))
        print(f"slope, rolling_friction {rolling}:",
              " ".join(f"{value:.1f}+-{off:.1f}" for value, off in zip(mean, error)), flush=True)
        axes.errorbar(friction, mean, error, fmt="o-", capsize=2, label=f"rolling_friction {rolling}")
    axes.set(xlabel="friction", ylabel="slope of the pile, degrees", ylim=(0, None))
    axes.legend(frameon=False)
    save(figure, "dem_repose.png")


def brazil_nut(folder):
    out = run(folder, "brazil_nut", os.path.join(SCENES, "brazil_nut.yaml"))
    rows, shots = probes(out), frames(out)
    time = np.array([float(row["time"]) for row in rows])
    nut = np.array([float(row["nut_z"]) for row in rows])
    middle = np.array([np.median(shot["z"]) for shot in shots])
    top = np.array([np.percentile(shot["z"], 98) for shot in shots])
    figure, axes = plt.subplots(figsize=(5.4, 3.4), constrained_layout=True)
    axes.fill_between(time, 0, 1e3 * top, color="0.92", label="the bed, up to 98 % of its grains")
    axes.plot(time, 1e3 * middle, "0.6", lw=0.8, label="median grain")
    axes.plot(time, 1e3 * nut, "C3-", lw=1, label="centre of the nut")
    axes.set(xlabel="time, s", ylabel="height, mm", xlim=(0, time[-1]), ylim=(0, None))
    axes.legend(loc="lower right", framealpha=1)
    print(f"nut from {1e3 * nut[0]:.0f} mm to {1e3 * np.mean(nut[-60:]):.0f} mm, mean of the last second")
    save(figure, "dem_brazil_nut.png")


def convection(folder):
    """Mean displacement over one period (10 Hz, six frames), after the first second, away from the walls that one looks
    through."""
    shots = frames(run(folder, "convection", os.path.join(SCENES, "convection.yaml")))
    cells_x, cells_z, period = 12, 8, 6
    sums = np.zeros((3, cells_x, cells_z))
    for k in range(60, len(shots) - period, period):
        a, b = shots[k], shots[k + period]
        i = np.clip(((a["x"] + b["x"]) / 2 + 0.06) / 0.01, 0, cells_x - 1).astype(int)
        j = np.clip((a["z"] + b["z"]) / 2 / 0.01, 0, cells_z - 1).astype(int)
        inner = np.abs(a["y"] + b["y"]) / 2 < 0.012
        for part, value in enumerate((np.ones(len(a)), b["x"] - a["x"], b["z"] - a["z"])):
            np.add.at(sums[part], (i[inner], j[inner]), value[inner])
    seen = sums[0] > 60
    x, z = np.meshgrid(-55 + 10 * np.arange(cells_x), 5 + 10 * np.arange(cells_z), indexing="ij")
    u, w = sums[1:] / np.maximum(sums[0], 1) * 1e3
    figure, axes = plt.subplots(figsize=(6.2, 4.2), constrained_layout=True)
    shrink = 8 / np.sqrt(np.maximum(np.hypot(u, w), 1e-3))  # arrows as long as the root of the speed
    arrows = axes.quiver(x[seen], z[seen], (u * shrink)[seen], (w * shrink)[seen], w[seen], cmap="coolwarm",
                         clim=(-1, 1), angles="xy", scale=1, scale_units="xy", width=0.005)
    figure.colorbar(arrows, label="upward, mm per period")
    axes.plot([-60, -60, 60, 60], [80, 0, 0, 80], "k-", lw=1)
    axes.set(xlabel="x, mm", ylabel="height, mm", aspect="equal", xlim=(-70, 70), ylim=(-5, 85))
    edge = np.sum(sums[2, [0, -1]]) / np.sum(sums[0, [0, -1]])
    middle = np.sum(sums[2, 3:-3]) / np.sum(sums[0, 3:-3])
    print(f"beside the walls {1e3 * edge:.2f} mm per period, in the middle {1e3 * middle:+.2f} mm")
    save(figure, "dem_convection.png")


def main():
    with tempfile.TemporaryDirectory() as folder:
        if len(sys.argv) > 2:
            folder = sys.argv[2]
            os.makedirs(folder, exist_ok=True)
        for draw in (restitution, incline, brazil_nut, convection, repose):
            draw(folder)


if __name__ == "__main__":
    main()
